// A proof as a text that stands for itself: the entry's index, its inclusion proof and the checkpoint that it leads to.
// Source: https://c2sp.org/tlog-proof.

export interface ProofParts {
  /** What the entry is made of; not trusted by itself. */
  readonly extra: Uint8Array
  readonly index: number
  readonly path: readonly Uint8Array[]
  /** Signed. */
  readonly checkpoint: string
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

export const encodeProof = ({ extra, index, path, checkpoint }: ProofParts): string =>
  ['c2sp.org/tlog-proof@v1', `extra ${base64(extra)}`, `index ${index}`, ...path.map(base64), '', checkpoint].join('\n')

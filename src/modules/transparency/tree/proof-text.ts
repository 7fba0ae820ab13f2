// Text of a self-contained proof: index of the entry, inclusion proof and checkpoint. Source:
// https://c2sp.org/tlog-proof.

interface ProofParts {
  /** Content from which the entry is computed; untrusted by itself. */
  readonly extra: Uint8Array
  readonly index: number
  readonly path: readonly Uint8Array[]
  /** Signed checkpoint. */
  readonly checkpoint: string
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

export const encodeProof = ({ extra, index, path, checkpoint }: ProofParts): string =>
  ['c2sp.org/tlog-proof@v1', `extra ${base64(extra)}`, `index ${index}`, ...path.map(base64), '', checkpoint].join('\n')

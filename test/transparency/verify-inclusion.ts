// Verification of inclusion proofs (RFC 9162, 2.1.3.2). Clients have separate implementations: src/client/decision-proof.ts and
// clients/.
import { hashNode } from '../../src/modules/transparency/tree/hash.ts'

interface InclusionProof {
  readonly index: number
  readonly size: number
  readonly leafHash: Uint8Array
  readonly root: Uint8Array
  readonly path: readonly Uint8Array[]
}

const half = (number: number): number => Math.floor(number / 2)

export const verifyInclusion = ({ index, size, leafHash, root, path }: InclusionProof): boolean => {
  if (!(index >= 0 && index < size)) return false
  let node = index
  let last = size - 1
  let hash = leafHash
  for (const sibling of path) {
    if (last === 0) return false
    if (node % 2 === 1 || node === last) {
      hash = hashNode(sibling, hash)
      while (node % 2 === 0 && node !== 0) {
        node = half(node)
        last = half(last)
      }
    } else {
      hash = hashNode(hash, sibling)
    }
    node = half(node)
    last = half(last)
  }
  return last === 0 && Buffer.compare(hash, root) === 0
}

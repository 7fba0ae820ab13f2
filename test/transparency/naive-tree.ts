// The Merkle tree as RFC 6962, 2.1 defines it, by recursion over all leaves, without code from the service.
import { createHash } from 'node:crypto'

const sha256 = (...parts: readonly Uint8Array[]): Buffer => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

export const naiveLeaf = (entry: Uint8Array): Buffer => sha256(Uint8Array.of(0), entry)

const split = (count: number): number => 2 ** Math.ceil(Math.log2(count) - 1)

/** MTH over hashes of leaves. */
export const naiveRoot = (leaves: readonly Uint8Array[]): Uint8Array => {
  if (leaves.length === 0) return sha256()
  if (leaves.length === 1) return leaves[0] as Uint8Array
  const k = split(leaves.length)
  return sha256(Uint8Array.of(1), naiveRoot(leaves.slice(0, k)), naiveRoot(leaves.slice(k)))
}

/** PATH(m, D[n]). */
export const naivePath = (index: number, leaves: readonly Uint8Array[]): Uint8Array[] => {
  if (leaves.length === 1) return []
  const k = split(leaves.length)
  return index < k
    ? [...naivePath(index, leaves.slice(0, k)), naiveRoot(leaves.slice(k))]
    : [...naivePath(index - k, leaves.slice(k)), naiveRoot(leaves.slice(0, k))]
}

const subproof = (size: number, leaves: readonly Uint8Array[], whole: boolean): Uint8Array[] => {
  if (size === leaves.length) return whole ? [] : [naiveRoot(leaves)]
  const k = split(leaves.length)
  return size <= k
    ? [...subproof(size, leaves.slice(0, k), whole), naiveRoot(leaves.slice(k))]
    : [...subproof(size - k, leaves.slice(k), false), naiveRoot(leaves.slice(0, k))]
}

/** PROOF(m, D[n]) for 0 < m <= n. */
export const naiveConsistency = (size: number, leaves: readonly Uint8Array[]): Uint8Array[] =>
  subproof(size, leaves, true)

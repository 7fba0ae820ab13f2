// The Merkle tree as RFC 6962, 2.1 defines it, by recursion over ranges of leaves, which remembers the hashes of complete subtrees
// so that a million leaves take seconds. It knows no tiles, and hashes by node:crypto: nothing is shared with what it measures.
import { createHash } from 'node:crypto'

const hashPair = (left: Uint8Array, right: Uint8Array): Buffer =>
  createHash('sha256').update(Uint8Array.of(1)).update(left).update(right).digest()

/** The largest power of two below the count. */
const split = (count: number): number => 2 ** Math.ceil(Math.log2(count) - 1)

export const createRememberingTree = () => {
  /** By height: hashes of complete subtrees, from left to right. */
  const heights: Uint8Array[][] = [[]]

  const append = (leaf: Uint8Array): void => {
    let hash = leaf
    for (let height = 0; ; height++) {
      const row = heights[height] ?? []
      heights[height] = row
      row.push(hash)
      const left = row.at(-2)
      if (row.length % 2 === 1 || left === undefined) return
      hash = hashPair(left, hash)
    }
  }

  /** MTH over the leaves from `start` up to but without `end`. */
  const rootOf = (start: number, end: number): Uint8Array => {
    const count = end - start
    if (count === 0) return createHash('sha256').digest()
    const height = Math.log2(count)
    const known = Number.isInteger(height) && start % count === 0 ? heights[height]?.[start / count] : undefined
    if (known !== undefined) return known
    const middle = start + split(count)
    return hashPair(rootOf(start, middle), rootOf(middle, end))
  }

  /** PATH. */
  const pathOf = (index: number, end: number, start = 0): Uint8Array[] => {
    if (end - start === 1) return []
    const middle = start + split(end - start)
    return index < middle
      ? [...pathOf(index, middle, start), rootOf(middle, end)]
      : [...pathOf(index, end, middle), rootOf(start, middle)]
  }

  /** SUBPROOF; PROOF where `start` is 0. */
  const consistencyOf = (size: number, end: number, start = 0, whole = true): Uint8Array[] => {
    if (size === end) return whole ? [] : [rootOf(start, end)]
    const middle = start + split(end - start)
    return size <= middle
      ? [...consistencyOf(size, middle, start, whole), rootOf(middle, end)]
      : [...consistencyOf(size, end, middle, false), rootOf(start, middle)]
  }

  return {
    append,
    size: (): number => heights[0]?.length ?? 0,
    leaf: (index: number): Uint8Array => heights[0]?.[index] ?? new Uint8Array(0),
    root: (size: number): Uint8Array => rootOf(0, size),
    path: (index: number, size: number): Uint8Array[] => pathOf(index, size),
    consistency: (oldSize: number, size: number): Uint8Array[] => consistencyOf(oldSize, size),
  }
}

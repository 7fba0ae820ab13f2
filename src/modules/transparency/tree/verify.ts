// Verifies a consistency proof with only the two roots. Source: RFC 9162, 2.1.4.2.
import { hashNode } from './hash.ts'

const isEven = (number: number): boolean => number % 2 === 0
const half = (number: number): number => Math.floor(number / 2)
const same = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0

interface ConsistencyProof {
  readonly oldSize: number
  readonly oldRoot: Uint8Array
  readonly size: number
  readonly root: Uint8Array
  readonly path: readonly Uint8Array[]
}

export const verifyConsistency = ({ oldSize, oldRoot, size, root, path }: ConsistencyProof): boolean => {
  if (oldSize > size || oldSize < 0) return false
  if (oldSize === size) return path.length === 0 && same(oldRoot, root)
  // Every tree extends the empty tree.
  if (oldSize === 0) return path.length === 0
  const [first, ...others] = Number.isInteger(Math.log2(oldSize)) ? [oldRoot, ...path] : path
  if (first === undefined) return false
  let node = oldSize - 1
  let last = size - 1
  while (!isEven(node)) {
    node = half(node)
    last = half(last)
  }
  let oldHash = first
  let hash = first
  for (const sibling of others) {
    if (last === 0) return false
    if (!isEven(node) || node === last) {
      oldHash = hashNode(sibling, oldHash)
      hash = hashNode(sibling, hash)
      while (isEven(node) && node !== 0) {
        node = half(node)
        last = half(last)
      }
    } else {
      hash = hashNode(hash, sibling)
    }
    node = half(node)
    last = half(last)
  }
  return last === 0 && same(oldHash, oldRoot) && same(hash, root)
}

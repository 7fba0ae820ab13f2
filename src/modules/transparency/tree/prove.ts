// Roots and proofs from tiles, for the current or an earlier size. Source: RFC 6962, 2.1.1 and 2.1.2.
import { foldSubtrees, HASH_BYTES, hashNode, hashSubtree } from './hash.ts'
import { TILE_HEIGHT, TILE_WIDTH, type TileName } from './tiles.ts'

/** Returns tiles in the requested order. A tile may contain more hashes than the tree size requires. */
export type ReadTiles = (tiles: readonly TileName[]) => Promise<readonly Uint8Array[]>

/** A tile has too few hashes: the stored tree is damaged. */
export class TileTooShortError extends Error {
  override readonly name = 'TileTooShortError'
}

interface Range {
  readonly start: number
  readonly end: number
}

const powerWithin = (count: number): number => {
  let power = 1
  while (power * 2 <= count) power *= 2
  return power
}

/** Splits the range as in the RFC: the left subtree is larger. */
const splitRange = ({ start, end }: Range): readonly [left: Range, right: Range] => {
  const middle = start + powerWithin(end - start - 1)
  return [
    { start, end: middle },
    { start: middle, end },
  ]
}

const inclusionRanges = (index: number, range: Range): readonly Range[] => {
  if (range.end - range.start === 1) return []
  const [left, right] = splitRange(range)
  return index < left.end ? [...inclusionRanges(index, left), right] : [...inclusionRanges(index, right), left]
}

const consistencyRanges = (oldSize: number, range: Range, isWhole: boolean): readonly Range[] => {
  if (oldSize === range.end) return isWhole ? [] : [range]
  const [left, right] = splitRange(range)
  return oldSize <= left.end
    ? [...consistencyRanges(oldSize, left, isWhole), right]
    : [...consistencyRanges(oldSize, right, false), left]
}

interface Subtree {
  readonly tile: TileName
  readonly first: number
  readonly count: number
}

const subtreesOf = ({ start, end }: Range): readonly Subtree[] => {
  const subtrees: Subtree[] = []
  for (let from = start; from < end; ) {
    const leaves = powerWithin(end - from)
    const level = Math.floor(Math.log2(leaves) / TILE_HEIGHT)
    const leavesOfHash = TILE_WIDTH ** level
    const hash = from / leavesOfHash
    const tile = { level, number: Math.floor(hash / TILE_WIDTH) }
    subtrees.push({ tile, first: hash % TILE_WIDTH, count: leaves / leavesOfHash })
    from += leaves
  }
  return subtrees
}

const keyOf = ({ level, number }: TileName): string => `${level}/${number}`

const hashRanges = async (readTiles: ReadTiles, ranges: readonly Range[]): Promise<readonly Uint8Array[]> => {
  const planned = ranges.map(subtreesOf)
  const names = new Map(planned.flat().map(({ tile }) => [keyOf(tile), tile]))
  const tiles = await readTiles([...names.values()])
  const hashesOf = new Map([...names.keys()].map((key, index) => [key, tiles[index] ?? new Uint8Array(0)]))
  return planned.map((subtrees) =>
    foldSubtrees(
      subtrees.map(({ tile, first, count }) => {
        const hashes = hashesOf.get(keyOf(tile)) ?? new Uint8Array(0)
        if (hashes.length < (first + count) * HASH_BYTES) throw new TileTooShortError(`tile ${keyOf(tile)}`)
        return hashSubtree(hashes, first, count)
      }),
    ),
  )
}

/** @throws TileTooShortError; errors of `readTiles` */
export const readRoot = async (readTiles: ReadTiles, size: number): Promise<Uint8Array> =>
  (await hashRanges(readTiles, [{ start: 0, end: size }]))[0] as Uint8Array

/**
 * Returns hashes from the leaf's sibling to the child of the root. @throws RangeError outside the tree; errors of
 * `readRoot`
 */
export const proveInclusion = async (
  readTiles: ReadTiles,
  index: number,
  size: number,
): Promise<readonly Uint8Array[]> => {
  if (!(index >= 0 && index < size)) throw new RangeError('the leaf is not in a tree of this size')
  return hashRanges(readTiles, inclusionRanges(index, { start: 0, end: size }))
}

/** Proves that a tree extends the tree of `oldSize`. @throws RangeError for a larger old size; errors of `readRoot` */
export const proveConsistency = async (
  readTiles: ReadTiles,
  oldSize: number,
  size: number,
): Promise<readonly Uint8Array[]> => {
  if (!(oldSize >= 0 && oldSize <= size)) throw new RangeError('a tree cannot extend a larger tree')
  if (oldSize === 0) return []
  return hashRanges(readTiles, consistencyRanges(oldSize, { start: 0, end: size }, true))
}

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

/** Verifies a consistency proof from the two roots alone. Source: RFC 9162, 2.1.4.2. */
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

// Reads leaves from the stored tiles, and computes the root from them.
import { EMPTY_TREE, growTree, rootOf } from '../tree/grow.ts'
import { HASH_BYTES } from '../tree/hash.ts'
import { type ReadTiles, TileTooShortError } from '../tree/prove.ts'
import { TILE_BYTES, TILE_WIDTH } from '../tree/tiles.ts'

const TILES_AT_ONCE = 64

/** Caches the last tile, because leaves of a segment are close together. */
export const createLeafReader = (readTiles: ReadTiles) => {
  let held = { number: -1, hashes: new Uint8Array(0) as Uint8Array }
  return async (leaf: number): Promise<Uint8Array> => {
    const number = Math.floor(leaf / TILE_WIDTH)
    if (held.number !== number) {
      const [hashes = new Uint8Array(0)] = await readTiles([{ level: 0, number }])
      held = { number, hashes }
    }
    const start = (leaf % TILE_WIDTH) * HASH_BYTES
    return held.hashes.subarray(start, start + HASH_BYTES)
  }
}

/** Returns the root, independent of higher levels. @throws TileTooShortError */
export const rootOfLeaves = async (readTiles: ReadTiles, size: number): Promise<Uint8Array> => {
  let edge = EMPTY_TREE
  const tiles = Math.ceil(size / TILE_WIDTH)
  for (let first = 0; first < tiles; first += TILES_AT_ONCE) {
    const numbers = Array.from({ length: Math.min(TILES_AT_ONCE, tiles - first) }, (_, index) => first + index)
    const hashes = await readTiles(numbers.map((number) => ({ level: 0, number })))
    const leaves = Buffer.concat(
      hashes.map((tile, index) =>
        tile.subarray(0, Math.min(TILE_BYTES, (size - (first + index) * TILE_WIDTH) * HASH_BYTES)),
      ),
    )
    edge = growTree(edge, leaves).edge
    if (edge.size < Math.min((first + TILES_AT_ONCE) * TILE_WIDTH, size)) throw new TileTooShortError('a level-0 tile')
  }
  return rootOf(edge)
}

// A tree in memory, with the tiles of the store.
import { EMPTY_TREE, growTree, rootOf } from '../../src/modules/transparency/tree/grow.ts'
import type { ReadTiles } from '../../src/modules/transparency/tree/prove.ts'

export const createGrownTree = () => {
  let edge = EMPTY_TREE
  /** Hashes, by `level/number`. */
  const tiles = new Map<string, Uint8Array>()
  const readTiles: ReadTiles = async (names) =>
    names.map(({ level, number }) => tiles.get(`${level}/${number}`) ?? new Uint8Array(0))
  return {
    root: (): Uint8Array => rootOf(edge),
    append: (leaves: readonly Uint8Array[]): void => {
      const grown = growTree(edge, Buffer.concat(leaves))
      for (const { level, number, hashes } of grown.tiles) tiles.set(`${level}/${number}`, hashes)
      edge = grown.edge
    },
    readTiles,
    tiles,
  }
}

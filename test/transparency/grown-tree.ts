// A tree in memory, with the tiles of the store.
import { EMPTY_TREE, growTree, rootOf, type TreeEdge } from '../../src/modules/transparency/tree/grow.ts'
import type { ReadTiles } from '../../src/modules/transparency/tree/prove.ts'

export interface GrownTree {
  edge(): TreeEdge
  root(): Uint8Array
  append(leaves: readonly Uint8Array[]): void
  readonly readTiles: ReadTiles
  /** Hashes, by `level/number`. */
  readonly tiles: ReadonlyMap<string, Uint8Array>
}

export const createGrownTree = (): GrownTree => {
  let edge = EMPTY_TREE
  const tiles = new Map<string, Uint8Array>()
  return {
    edge: () => edge,
    root: () => rootOf(edge),
    append: (leaves) => {
      const grown = growTree(edge, Buffer.concat(leaves))
      for (const { level, number, hashes } of grown.tiles) tiles.set(`${level}/${number}`, hashes)
      edge = grown.edge
    },
    readTiles: async (names) => names.map(({ level, number }) => tiles.get(`${level}/${number}`) ?? new Uint8Array(0)),
    tiles,
  }
}

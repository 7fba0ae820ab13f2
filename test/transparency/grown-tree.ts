// A tree that is grown in memory, tile by tile, as the store keeps it.
import { EMPTY_TREE, growTree, rootOf, type TreeEdge } from '../../src/modules/transparency/tree/grow.ts'
import type { ReadTiles } from '../../src/modules/transparency/tree/prove.ts'

export interface GrownTree {
  edge(): TreeEdge
  root(): Uint8Array
  append(leaves: readonly Uint8Array[]): void
  readonly readTiles: ReadTiles
  /** `level/number` → hashes. */
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

// Changed tiles and new root for appended leaves, from the incomplete tile of each level.
import { foldSubtrees, HASH_BYTES, hashSubtree } from './hash.ts'
import { levelWidth, TILE_BYTES, TILE_WIDTH, type Tile, type TileName } from './tiles.ts'

export interface TreeEdge {
  readonly size: number
  /** Incomplete tile of each level; empty if all its tiles are full. */
  readonly partial: readonly Uint8Array[]
}

export const EMPTY_TREE: TreeEdge = { size: 0, partial: [] }

export const edgeTiles = (size: number): readonly TileName[] => {
  const tiles: TileName[] = []
  for (let level = 0; levelWidth(level, size) > 0; level++) {
    tiles.push({ level, number: Math.floor(levelWidth(level, size) / TILE_WIDTH) })
  }
  return tiles
}

/** @param tiles in the order of `edgeTiles`; hashes beyond `size` are ignored */
export const edgeOf = (size: number, tiles: readonly Uint8Array[]): TreeEdge => ({
  size,
  partial: tiles.map((hashes, level) => hashes.subarray(0, (levelWidth(level, size) % TILE_WIDTH) * HASH_BYTES)),
})

/** @param leaves concatenated hashes */
export const growTree = (
  edge: TreeEdge,
  leaves: Uint8Array,
): { readonly edge: TreeEdge; readonly tiles: readonly Tile[] } => {
  const partial: Uint8Array[] = [...edge.partial]
  const tiles: Tile[] = []
  let arriving = leaves
  for (let level = 0; arriving.length > 0; level++) {
    const row = Buffer.concat([partial[level] ?? new Uint8Array(0), arriving])
    let number = Math.floor(levelWidth(level, edge.size) / TILE_WIDTH)
    const parents: Uint8Array[] = []
    let from = 0
    for (; row.length - from >= TILE_BYTES; from += TILE_BYTES, number++) {
      const hashes = row.subarray(from, from + TILE_BYTES)
      tiles.push({ level, number, hashes })
      parents.push(hashSubtree(hashes, 0, TILE_WIDTH))
    }
    const rest = row.subarray(from)
    if (rest.length > 0) tiles.push({ level, number, hashes: rest })
    partial[level] = rest
    arriving = Buffer.concat(parents)
  }
  return { edge: { size: edge.size + leaves.length / HASH_BYTES, partial }, tiles }
}

export const rootOf = ({ partial }: TreeEdge): Uint8Array => {
  const subtrees: Uint8Array[] = []
  for (const hashes of [...partial].reverse()) {
    const width = hashes.length / HASH_BYTES
    let first = 0
    for (let count = TILE_WIDTH / 2; count >= 1; count /= 2) {
      if (width - first < count) continue
      subtrees.push(hashSubtree(hashes, first, count))
      first += count
    }
  }
  return foldSubtrees(subtrees)
}

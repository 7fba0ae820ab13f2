// `countersign decisions publish`: writes the tree as static files (tlog-tiles). The checkpoint is last, so that no
// published head lacks its tiles.

import { CommandFailedError } from '../../../command-line/output.ts'
import type { ShipTarget } from '../../../object-store/ship-target.ts'
import type { TreeAccess } from '../service/tree-access.ts'
import { readCheckpoint } from '../tree/checkpoint.ts'
import { HASH_BYTES } from '../tree/hash.ts'
import { TileTooShortError } from '../tree/prove.ts'
import { levelWidth, TILE_WIDTH, tilePath } from '../tree/tiles.ts'
import { widthIn } from '../tree/witness.ts'
import { headProblem, readHeadObject } from '../verify/tree-heads.ts'

const CHECKPOINT = 'checkpoint'

/** Returns the size of the published head. @throws CommandFailedError if the target contains another log */
export const publishTree = async (
  { tree, key }: Pick<TreeAccess, 'tree' | 'key'>,
  target: ShipTarget,
): Promise<number> => {
  const checkpoint = (await tree?.published()) ?? null
  const head = (await tree?.head()) ?? null
  if (tree === null || head === null || checkpoint === null)
    throw new CommandFailedError('the log has no signed head yet; retry in a second')
  const { size } = readCheckpoint(checkpoint)
  const published = await readHeadObject(target, CHECKPOINT)
  let from = 0
  if (published !== null) {
    const problem = await headProblem(published, key, head, tree.readTiles)
    if (problem !== null)
      throw new CommandFailedError(`the files at ${target.description} belong to another tree: ${problem}`)
    from = readCheckpoint(published).size
  }
  for (let level = 0; levelWidth(level, size) > 0; level++) {
    const last = Math.floor((levelWidth(level, size) - 1) / TILE_WIDTH)
    for (let number = Math.floor(levelWidth(level, from) / TILE_WIDTH); number <= last; number++) {
      const width = widthIn({ level, number }, size)
      const [hashes = new Uint8Array(0)] = await tree.readTiles([{ level, number }])
      if (hashes.length < width * HASH_BYTES) throw new TileTooShortError(`tile ${level}/${number}`)
      const content = new Blob([Uint8Array.from(hashes.subarray(0, width * HASH_BYTES))])
      await target.put(tilePath({ level, number }, width), content)
    }
  }
  // Replacing a newer head would look like a rollback of the log.
  const newest = await readHeadObject(target, CHECKPOINT)
  const newestSize = newest === null ? 0 : readCheckpoint(newest).size
  if (newestSize > size) return newestSize
  await target.put(CHECKPOINT, new Blob([checkpoint]))
  return size
}

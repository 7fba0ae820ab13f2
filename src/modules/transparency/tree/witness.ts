// Checks that a head extends the previous head. The tiles come from the log, so the proof is verified against both
// roots.
import { type Checkpoint, openCheckpoint } from './checkpoint.ts'
import { NoteInvalidError, type VerifierKey } from './note.ts'
import { proveConsistency, type ReadTiles, TileTooShortError, verifyConsistency } from './prove.ts'
import { levelWidth, TILE_WIDTH, type TileName } from './tiles.ts'

type Judgement =
  | { readonly kind: 'unchanged' | 'continued'; readonly head: Checkpoint }
  /** `evidence`: the log signed two contradictory heads. */
  | { readonly kind: 'refused'; readonly reason: string; readonly evidence: boolean }

export const widthIn = ({ level, number }: TileName, size: number): number =>
  Math.max(0, Math.min(TILE_WIDTH, levelWidth(level, size) - number * TILE_WIDTH))

/** Tiles of a head aren't available yet, which isn't a violation. */
class TilesMissingError extends Error {
  override readonly name = 'TilesMissingError'
  override readonly message = 'tiles of its head are not available yet'
}

/**
 * @param before last cosigned head; null if there is none @param readTiles returns a tile reader for a tree size
 * @throws TilesMissingError; errors of `readTiles`
 */
export const judgeHead = async (
  before: string | null,
  offered: string,
  key: VerifierKey,
  readTiles: (size: number) => ReadTiles,
): Promise<Judgement> => {
  let head: Checkpoint
  try {
    head = openCheckpoint(offered, key)
  } catch (error) {
    if (error instanceof NoteInvalidError) return { kind: 'refused', reason: error.message, evidence: false }
    throw error
  }
  if (before === null) return { kind: 'continued', head }
  const known = openCheckpoint(before, key)
  if (head.size < known.size) {
    const reason = `the log was rolled back: from ${known.size} lines to ${head.size}`
    return { kind: 'refused', reason, evidence: true }
  }
  if (head.size === known.size) {
    return Buffer.compare(head.root, known.root) === 0
      ? { kind: 'unchanged', head }
      : { kind: 'refused', reason: `the log has two different histories with ${head.size} lines`, evidence: true }
  }
  const path = await proveConsistency(readTiles(head.size), known.size, head.size).catch((error: unknown) => {
    throw error instanceof TileTooShortError ? new TilesMissingError() : error
  })
  const { size: oldSize, root: oldRoot } = known
  if (verifyConsistency({ oldSize, oldRoot, size: head.size, root: head.root, path }))
    return { kind: 'continued', head }
  const reason = `the head of ${head.size} lines does not extend the head of ${known.size}: the log forked, or its tiles are wrong`
  return { kind: 'refused', reason, evidence: true }
}

// Reads the decision log's newest head, and the published head with its cosignatures, for the dashboard and `doctor`.
import type { LogHead } from '../../../admin/services.ts'
import type { DecisionTreeReader } from '../store/reader.ts'
import { parseCheckpoint } from '../tree/checkpoint.ts'
import { openCosignature } from '../tree/cosignature.ts'
import { encodeVerifierKey, NoteInvalidError, parseNote, type VerifierKey } from '../tree/note.ts'
import type { LogKey } from './log-key.ts'
import type { WitnessSettings } from './tree-service.ts'

const cosignedAt = (checkpoint: string, key: VerifierKey): number | null => {
  try {
    return openCosignature(checkpoint, key)
  } catch (error) {
    if (error instanceof NoteInvalidError) return null
    throw error
  }
}

const sizeOf = (checkpoint: string): number => parseCheckpoint(parseNote(checkpoint).text).size

/** @returns null before the first head */
export const readLogHead = async (
  tree: Pick<DecisionTreeReader, 'head' | 'published'>,
  { key }: Pick<LogKey, 'key'>,
  { witnesses, witnessesRequired, witnessesWithinSeconds }: WitnessSettings,
  nowSeconds: number,
): Promise<LogHead | null> => {
  const published = await tree.published()
  const head = await tree.head()
  if (published === null || head === null) return null
  const cosigned = witnesses.map((witness) => ({
    name: witness.key.name,
    atSeconds: cosignedAt(published, witness.key),
  }))
  const inTime = cosigned.filter(({ atSeconds }) => nowSeconds - (atSeconds ?? 0) <= witnessesWithinSeconds)
  return {
    logKey: encodeVerifierKey(key),
    size: head.signedSize,
    published,
    publishedSize: sizeOf(published),
    required: witnesses.length === 0 ? 0 : witnessesRequired,
    withinSeconds: witnessesWithinSeconds,
    isLate: witnesses.length > 0 && inTime.length < witnessesRequired,
    witnesses: cosigned,
  }
}

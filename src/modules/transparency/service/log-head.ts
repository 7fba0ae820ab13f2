// Latest and published head of the decision log, for the dashboard and `doctor`.

import { serviceKey } from '../../../lib/service-key.ts'
import type { WitnessSettings } from '../settings.ts'
import type { DecisionTreeReader } from '../store/reader.ts'
import { readCheckpoint } from '../tree/checkpoint.ts'
import { openCosignature } from '../tree/cosignature.ts'
import { encodeVerifierKey, NoteInvalidError, type VerifierKey } from '../tree/note.ts'
import type { LogKey } from './log-key.ts'

export interface LogHead {
  /** Verifier key of the log. */
  readonly logKey: string
  /** Lines covered by the latest signed head. */
  readonly size: number
  readonly published: string
  readonly publishedSize: number
  readonly required: number
  readonly withinSeconds: number
  /** Whether fewer than `required` witnesses cosigned within `withinSeconds`. */
  readonly isLate: boolean
  readonly witnesses: readonly { readonly name: string; readonly atSeconds: number | null }[]
}

/** Null before the first head. @throws DependencyUnavailableError without a tree */
export const LOG_HEAD = serviceKey<() => Promise<LogHead | null>>('the head of the log')

const cosignedAt = (checkpoint: string, key: VerifierKey): number | null => {
  try {
    return openCosignature(checkpoint, key)
  } catch (error) {
    if (error instanceof NoteInvalidError) return null
    throw error
  }
}

export const readLogHead = async (
  tree: Pick<DecisionTreeReader, 'head' | 'published'>,
  { key }: Pick<LogKey, 'key'>,
  { witnesses, required, withinSeconds }: WitnessSettings,
  nowSeconds: number,
): Promise<LogHead | null> => {
  const published = await tree.published()
  const head = await tree.head()
  if (published === null || head === null) return null
  const cosigned = witnesses.map((witness) => ({
    name: witness.key.name,
    atSeconds: cosignedAt(published, witness.key),
  }))
  const inTime = cosigned.filter(({ atSeconds }) => nowSeconds - (atSeconds ?? 0) <= withinSeconds)
  return {
    logKey: encodeVerifierKey(key),
    size: head.signedSize,
    published,
    publishedSize: readCheckpoint(published).size,
    required: witnesses.length === 0 ? 0 : required,
    withinSeconds,
    isLate: witnesses.length > 0 && inTime.length < required,
    witnesses: cosigned,
  }
}

// `countersign backup --into PLACE`: makes backups side by side in a folder or a bucket, each named by its time. Removes the
// oldest beyond --keep only when the new one is complete. With --every it continues until it is stopped. Names in the
// future, of a clock that was wrong, are neither counted nor removed.

import { CommandFailedError, type CommandOutput } from '../../../command-line/output.ts'
import { CountersignError } from '../../../domain/errors.ts'
import { StoreUnusableError } from '../../../store/errors.ts'
import type { BackupManifest } from './backup-manifest.ts'
import { type BackupPlace, nameAt, timeOf } from './backup-place.ts'

const DAY_MS = 86_400_000
const RETRY_MS = 900_000
/** Sleeps no longer than this at once, so that it notices a changed clock or a suspended machine. */
const LONGEST_SLEEP_MS = 3_600_000

export interface BackupSeries {
  /** Holds backups of one deployment. */
  readonly place: BackupPlace
  /** Null: one backup, immediately. */
  readonly everyMs: number | null
  /** How many backups are kept; null: all. */
  readonly keep: number | null
  readonly output: CommandOutput
  readonly now: () => Date
  /** Resolves early when the signal is aborted. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>
  readonly signal: AbortSignal
  /** Called for each complete backup. */
  readonly tell: (where: string, manifest: BackupManifest) => Promise<void>
}

const reasonOf = (error: unknown): string => {
  if (error instanceof StoreUnusableError || error instanceof CountersignError) return error.detail
  if (error instanceof CommandFailedError) return error.message
  const { code, path } = (error ?? {}) as { code?: unknown; path?: unknown }
  return typeof code === 'string' ? `${code}${typeof path === 'string' ? ` at ${path}` : ''}` : 'it failed'
}

const makeNext = async ({ place, keep, output, now, tell }: BackupSeries): Promise<void> => {
  // Remove what killed commands left behind, but only after a day: another command may still be working on it.
  await place.sweep(now().getTime() - DAY_MS)
  const made = nameAt(now())
  const manifest = await place.make(made)
  await tell(place.whereIs(made), manifest)
  if (keep === null) return
  // The place may also hold backups of another deployment: leave them.
  const own = (await place.list()).filter(({ deploymentId }) => deploymentId === manifest.deploymentId)
  const nowMs = now().getTime()
  for (const { name } of own.filter(({ name }) => timeOf(name) > nowMs)) {
    output.stderr(`${place.whereIs(name)}: not counted for --keep, because its time is in the future\n`)
  }
  const past = own.filter(({ name }) => timeOf(name) <= nowMs)
  // Another command may have finished a later backup in the meantime.
  for (const { name } of past.slice(0, -keep).filter(({ name }) => name !== made)) {
    await place.remove(name)
    output.stderr(`${place.whereIs(name)}: removed, since --keep is ${keep}\n`)
  }
}

/** When the next backup is due. Now, if there is none, or if the newest one's time is in the future (wrong clock). */
const dueAfterNewest = async (place: BackupPlace, everyMs: number, nowMs: number): Promise<number> => {
  const newestMs = timeOf((await place.list()).at(-1)?.name ?? '')
  return newestMs <= nowMs ? newestMs + everyMs : nowMs
}

/** Returns the exit code. @throws what the one backup without --every throws */
export const runSeries = async (series: BackupSeries): Promise<number> => {
  const { place, everyMs, output, now, sleep, signal } = series
  if (everyMs === null) {
    await makeNext(series)
    return 0
  }
  let dueMs = await dueAfterNewest(place, everyMs, now().getTime())
  while (!signal.aborted) {
    const waitMs = dueMs - now().getTime()
    if (waitMs > 0) {
      await sleep(Math.min(waitMs, LONGEST_SLEEP_MS), signal)
      continue
    }
    const begunMs = now().getTime()
    try {
      await makeNext(series)
      dueMs = begunMs + everyMs
    } catch (error) {
      dueMs = now().getTime() + Math.min(everyMs, RETRY_MS)
      output.stderr(`no backup was made: ${reasonOf(error)}; tried again within 15 minutes\n`)
    }
  }
  return 0
}

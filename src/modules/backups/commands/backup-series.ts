// `countersign backup --into PLACE`. Backups dated in the future (wrong clock) are neither counted nor removed.

import { CommandFailedError, type CommandOutput } from '../../../command-line/output.ts'
import { CountersignError } from '../../../domain/errors.ts'
import { StoreUnusableError } from '../../../store/errors.ts'
import type { BackupManifest } from './backup-manifest.ts'
import { type BackupPlace, nameAt, timeOf } from './backup-place.ts'

const DAY_MS = 86_400_000
const RETRY_MS = 900_000
/** Limited, so that a changed clock or a suspended machine is noticed. */
const LONGEST_SLEEP_MS = 3_600_000

interface BackupSeries {
  readonly place: BackupPlace
  /** Interval in milliseconds; null for a single immediate backup. */
  readonly everyMs: number | null
  readonly keep: number | null
  readonly output: CommandOutput
  readonly now: () => Date
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>
  readonly signal: AbortSignal
  readonly report: (where: string, manifest: BackupManifest) => Promise<void>
}

const reasonOf = (error: unknown): string => {
  if (error instanceof StoreUnusableError || error instanceof CountersignError) return error.detail
  if (error instanceof CommandFailedError) return error.message
  const { code, path } = (error ?? {}) as { code?: unknown; path?: unknown }
  return typeof code === 'string' ? `${code}${typeof path === 'string' ? ` at ${path}` : ''}` : 'it failed'
}

const makeNext = async ({ place, keep, output, now, report }: BackupSeries): Promise<void> => {
  // Leftovers of killed commands; newer leftovers may belong to running commands.
  await place.sweep(now().getTime() - DAY_MS)
  const made = nameAt(now())
  const manifest = await place.make(made)
  await report(place.whereIs(made), manifest)
  if (keep === null) return
  // Backups of other deployments are kept.
  const all = (await place.list()).filter(({ deploymentId }) => deploymentId === manifest.deploymentId)
  for (const { name, problem } of all) {
    if (problem !== null) output.stderr(`${place.whereIs(name)}: not counted for --keep, because ${problem}\n`)
  }
  const own = all.filter(({ problem }) => problem === null)
  const nowMs = now().getTime()
  for (const { name } of own.filter(({ name }) => timeOf(name) > nowMs)) {
    output.stderr(`${place.whereIs(name)}: not counted for --keep, because its time is in the future\n`)
  }
  const past = own.filter(({ name }) => timeOf(name) <= nowMs)
  // This backup is kept even if other processes have finished later backups.
  for (const { name } of past.slice(0, -keep).filter(({ name }) => name !== made)) {
    await place.remove(name)
    output.stderr(`${place.whereIs(name)}: deleted, because --keep is ${keep}\n`)
  }
}

/** Returns the due time: now if there is no backup, or the newest is dated in the future (wrong clock). */
const dueAfterNewest = async (place: BackupPlace, everyMs: number, nowMs: number): Promise<number> => {
  const counted = (await place.list()).filter(({ problem }) => problem === null)
  const newestMs = timeOf(counted.at(-1)?.name ?? '')
  return newestMs <= nowMs ? newestMs + everyMs : nowMs
}

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
      output.stderr(`backup failed: ${reasonOf(error)}; will retry within 15 minutes\n`)
    }
  }
  return 0
}

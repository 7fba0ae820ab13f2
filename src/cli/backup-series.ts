// `countersign backup --into FOLDER`: backups side by side, each named by its time. Those beyond --keep are removed once a
// newer one is whole, so that there is never less than before. With --every it goes on until it is told to stop.
import { existsSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CountersignError } from '../domain/errors.ts'
import { StoreUnusableError } from '../store/errors.ts'
import { type BackupManifest, isManifest, MANIFEST } from './backup-manifest.ts'
import { CommandFailedError, type CommandOutput } from './output.ts'

const NAME = /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z$/
/** What a backup is called while it is made: `backup.ts` renames it. */
const PARTIAL = /^\.(\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z)\.[0-9a-f]{12}\.partial$/
const DAY_MS = 86_400_000
const RETRY_MS = 900_000
/** A clock that is set, or a machine that slept, is noticed after this. */
const LONGEST_SLEEP_MS = 3_600_000

export interface BackupSeries {
  /** Of one deployment. */
  readonly folder: string
  /** Null: one backup, now. */
  readonly everyMs: number | null
  /** How many are left in the folder; null: all. */
  readonly keep: number | null
  readonly output: CommandOutput
  readonly now: () => Date
  /** Resolves early when the signal is aborted. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>
  readonly signal: AbortSignal
  /** Makes one in this folder, which is new, and tells of it. */
  readonly make: (to: string) => Promise<BackupManifest>
}

/** Two of the same second would have the same name: the second is refused, as any folder that is there. */
const nameAt = (date: Date): string =>
  date
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '-')
const timeOf = (name: string): number =>
  Date.parse(
    name.replace(/T(\d{2})-(\d{2})-(\d{2})Z$/, (_, hours, minutes, seconds) => `T${hours}:${minutes}:${seconds}Z`),
  )

const readManifest = async (folder: string): Promise<BackupManifest | null> => {
  try {
    const manifest: unknown = JSON.parse(await readFile(join(folder, MANIFEST), 'utf8'))
    return isManifest(manifest) ? manifest : null
  } catch {
    // A folder without one is no backup: it neither counts nor is it removed.
    return null
  }
}

/** Names and manifests of the whole backups, oldest first. */
const listBackups = async (folder: string): Promise<{ name: string; manifest: BackupManifest }[]> => {
  if (!existsSync(folder)) return []
  const names = (await readdir(folder)).filter((name) => NAME.test(name)).sort()
  const manifests = await Promise.all(names.map((name) => readManifest(join(folder, name))))
  return names.flatMap((name, index) => {
    const manifest = manifests[index] ?? null
    return manifest === null ? [] : [{ name, manifest }]
  })
}

/** What a killed command left half made, a day after it was begun: another command may still be making one. */
const sweepPartials = async (folder: string, nowMs: number): Promise<void> => {
  if (!existsSync(folder)) return
  for (const entry of await readdir(folder)) {
    const name = PARTIAL.exec(entry)?.[1]
    if (name !== undefined && timeOf(name) < nowMs - DAY_MS) await rm(join(folder, entry), { recursive: true })
  }
}

const reasonOf = (error: unknown): string => {
  if (error instanceof StoreUnusableError || error instanceof CountersignError) return error.detail
  if (error instanceof CommandFailedError) return error.message
  const { code, path } = (error ?? {}) as { code?: unknown; path?: unknown }
  return typeof code === 'string' ? `${code}${typeof path === 'string' ? ` at ${path}` : ''}` : 'it failed'
}

const makeNext = async ({ folder, keep, output, now, make }: BackupSeries): Promise<void> => {
  await sweepPartials(folder, now().getTime())
  const { deploymentId } = await make(join(folder, nameAt(now())))
  if (keep === null) return
  // Another deployment's, which somebody put here, are not ours to remove.
  const own = (await listBackups(folder)).filter(({ manifest }) => manifest.deploymentId === deploymentId)
  for (const { name } of own.slice(0, -keep)) {
    await rm(join(folder, name), { recursive: true })
    output.stderr(`${join(folder, name)}: removed, since --keep is ${keep}\n`)
  }
}

/** When the next is due, after the newest that is there; at once without one, or when it is of a clock that was wrong. */
const dueAfterNewest = async (folder: string, everyMs: number, nowMs: number): Promise<number> => {
  const newestMs = timeOf((await listBackups(folder)).at(-1)?.name ?? '')
  return newestMs <= nowMs ? newestMs + everyMs : nowMs
}

/** Returns the exit code. @throws what the one backup without --every throws */
export const runSeries = async (series: BackupSeries): Promise<number> => {
  const { folder, everyMs, output, now, sleep, signal } = series
  if (everyMs === null) {
    await makeNext(series)
    return 0
  }
  let dueMs = await dueAfterNewest(folder, everyMs, now().getTime())
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

// Reports every change by any process or machine. Polls, so that no change is lost; announcements only trigger polls.
import type { Clock } from '../lib/time.ts'
import { type Change, type ChangePosition, readChanges, readNewest } from './changes.ts'
import { reservedReads } from './copy/table-scope.ts'
import type { ChangeWatch, Database } from './database.ts'

export interface ChangeFeedOptions {
  readonly clock: Clock
  onChange(change: Change): void
  /** Called when changes were missed: clear all caches. */
  onResync(): void
  /** Called after each successful read. Caches are recent enough until `healthyUntilMs` (monotonic). */
  onRead?(healthyUntilMs: number): void
  onError?(error: unknown): void
  readonly intervalMs?: number
  /** Polling interval if the database announces commits. Bounds the delay after a lost announcement. */
  readonly watchedIntervalMs?: number
  /** Time without a successful read after which the feed is unhealthy. Revocations must take effect within 1 s. */
  readonly unhealthyAfterMs?: number
}

const BATCH = 500

export const createChangeFeed = (database: Database, options: ChangeFeedOptions) => {
  const { clock, onChange, onResync, onRead, onError, intervalMs = 200, unhealthyAfterMs = 2_000 } = options
  const watchedIntervalMs = options.watchedIntervalMs ?? Math.max(intervalMs, 500)
  const statements = reservedReads(database)
  let last: ChangePosition = { sequence: 0, mark: null }
  let seenMark: number | null = null
  let lastReadMs = Number.NEGATIVE_INFINITY
  let timer: ReturnType<typeof setTimeout> | undefined
  let running = false
  let polling: Promise<void> | undefined
  let watch: ChangeWatch | undefined
  /** True after a `wake` during a read, which may have missed the commit. */
  let wokenAgain = false

  const resync = (newest: ChangePosition): void => {
    onResync()
    last = newest
  }

  const readUnread = async (): Promise<void> => {
    const newest = await readNewest(statements)
    if (newest.sequence === last.sequence && newest.mark === last.mark) return
    // The database lost changes that were read, and may have reused their numbers.
    if (newest.sequence <= last.sequence) return resync(newest)
    while (last.sequence < newest.sequence) {
      const changes = await readChanges(statements, last, BATCH)
      // Sequences have no gaps, so a missing row was deleted before it was read.
      if (changes?.[0]?.sequence !== last.sequence + 1) return resync(newest)
      for (const change of changes) {
        onChange(change)
        // Advance after the call, so that a change is reported again if its handler fails.
        last = change
      }
    }
  }

  const readOnce = async (): Promise<void> => {
    const startedMs = clock.monotonicMs()
    // Read the mark before the rows, so that a commit in between changes the next mark.
    const mark = await database.commitMark()
    if (mark === null || mark !== seenMark) {
      await readUnread()
      seenMark = mark
    }
    lastReadMs = startedMs
    onRead?.(startedMs + unhealthyAfterMs)
  }

  const poll = (): Promise<void> => {
    polling ??= readOnce().finally(() => {
      polling = undefined
    })
    return polling
  }

  /** Resolves after reporting all changes committed before the call. Rejects if the store cannot be read. */
  const catchUp = async (): Promise<void> => {
    // A poll in progress may have read its rows before the caller's commit.
    const underWay = polling
    if (underWay !== undefined) await underWay.catch(() => undefined)
    await poll()
  }

  const pollAndSchedule = (): void => {
    clearTimeout(timer)
    wokenAgain = false
    poll()
      .catch((error: unknown) => onError?.(error))
      .finally(() => {
        if (running) schedule()
      })
  }

  const schedule = (): void => {
    clearTimeout(timer)
    if (wokenAgain) {
      pollAndSchedule()
      return
    }
    timer = setTimeout(pollAndSchedule, watch?.listening() === true ? watchedIntervalMs : intervalMs)
    timer.unref()
  }

  const wake = (): void => {
    if (!running) return
    if (polling === undefined) pollAndSchedule()
    else wokenAgain = true
  }

  return {
    /** Starts at the newest change: call before filling caches. Rejects if the store cannot be read. */
    start: async (): Promise<void> => {
      if (running) return
      running = true
      try {
        lastReadMs = clock.monotonicMs()
        seenMark = await database.commitMark()
        last = await readNewest(statements)
        onRead?.(lastReadMs + unhealthyAfterMs)
      } catch (error) {
        running = false
        throw error
      }
      watch = database.watchChanges?.(wake)
      schedule()
    },
    poll,
    catchUp,
    /** Returns false if caches may be outdated, and before startup. */
    healthy: (): boolean => running && clock.monotonicMs() - lastReadMs <= unhealthyAfterMs,
    /** Returns the age of the last successful read; infinite before startup. */
    ageSeconds: (): number => (clock.monotonicMs() - lastReadMs) / 1000,
    stop: async (): Promise<void> => {
      running = false
      clearTimeout(timer)
      await watch?.stop()
      watch = undefined
      await polling?.catch(() => undefined)
    },
  }
}

export type ChangeFeed = ReturnType<typeof createChangeFeed>

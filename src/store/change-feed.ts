// Tells this process what anyone changed: another thread, another process, another machine, or itself. Polls, since
// nothing can be lost between two polls; what could not be read is known to be unread (`healthy`). Where the database
// tells of commits, that wakes it earlier, and it polls less often by itself.
import type { Clock } from '../domain/time.ts'
import { type Change, readChanges, readLastSequence } from './changes.ts'
import type { ChangeWatch, Database } from './database.ts'

export interface ChangeFeedOptions {
  readonly clock: Clock
  /** Called for each change, in order, once its transaction has committed. */
  onChange(change: Change): void
  /** Changes were missed (the feed was suspended, or the database replaced): forget everything cached. */
  onResync(): void
  /** A poll failed; the feed goes on. */
  onError?(error: unknown): void
  readonly intervalMs?: number
  /** The interval while the database tells of commits: what is lost on the way is read after it. */
  readonly watchedIntervalMs?: number
  /** Unhealthy once nothing could be read for this long. Revocations are due within 1 s. */
  readonly unhealthyAfterMs?: number
}

export interface ChangeFeed {
  /** Starts at the newest change: call it before filling caches. Rejects when the store can't be read. */
  start(): Promise<void>
  /** Reads now, without waiting for the interval. Rejects when it can't. */
  poll(): Promise<void>
  /** Resolves once everything that was committed before the call has been told here. Rejects when it can't be read. */
  catchUp(): Promise<void>
  /** False when caches may be older than they should be. Also false before the start. */
  healthy(): boolean
  /** How long ago the changes were last read, seconds; infinite before the start. */
  ageSeconds(): number
  stop(): Promise<void>
}

const BATCH = 500

export const createChangeFeed = (database: Database, options: ChangeFeedOptions): ChangeFeed => {
  const { clock, onChange, onResync, onError, intervalMs = 200, unhealthyAfterMs = 2_000 } = options
  const watchedIntervalMs = options.watchedIntervalMs ?? Math.max(intervalMs, 500)
  let sequence = 0
  let seenMark: number | null = null
  let lastReadMs = Number.NEGATIVE_INFINITY
  let timer: ReturnType<typeof setTimeout> | undefined
  let running = false
  let polling: Promise<void> | undefined
  let watch: ChangeWatch | undefined
  /** Woken while it was reading: what woke it may have been committed after the rows were read. */
  let wokenAgain = false

  const readUnread = async (): Promise<void> => {
    const newest = await readLastSequence(database)
    // Lower: the database was replaced by an older copy.
    if (newest < sequence) {
      onResync()
      sequence = newest
    }
    while (sequence < newest) {
      const changes = await readChanges(database, sequence, BATCH)
      // Sequences have no gaps, so a missing one was trimmed before it was read here.
      if (changes[0]?.sequence !== sequence + 1) {
        onResync()
        sequence = newest
        return
      }
      for (const change of changes) {
        onChange(change)
        // After the call: a change that could not be handled is handed over again.
        sequence = change.sequence
      }
    }
  }

  const readOnce = async (): Promise<void> => {
    const startedMs = clock.monotonicMs()
    // The mark before the rows: a commit in between shows as a new mark next time.
    const mark = await database.commitMark()
    if (mark === null || mark !== seenMark) {
      await readUnread()
      seenMark = mark
    }
    lastReadMs = startedMs
  }

  const poll = (): Promise<void> => {
    polling ??= readOnce().finally(() => {
      polling = undefined
    })
    return polling
  }

  const catchUp = async (): Promise<void> => {
    // A poll under way may have read its rows before the commit that the caller has in mind.
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
    start: async () => {
      if (running) return
      running = true
      try {
        lastReadMs = clock.monotonicMs()
        seenMark = await database.commitMark()
        sequence = await readLastSequence(database)
      } catch (error) {
        running = false
        throw error
      }
      watch = database.watchChanges?.(wake)
      schedule()
    },
    poll,
    catchUp,
    healthy: () => running && clock.monotonicMs() - lastReadMs <= unhealthyAfterMs,
    ageSeconds: () => (clock.monotonicMs() - lastReadMs) / 1000,
    stop: async () => {
      running = false
      clearTimeout(timer)
      await watch?.stop()
      watch = undefined
      // The error of a poll under way was the poll's; stopping only waits for it.
      await polling?.catch(() => undefined)
    },
  }
}

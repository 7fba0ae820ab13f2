// Schedules updates of changed lists; organizations take turns. If an update is late, decisions with that list stop.
import { createFairSlots } from '../../lib/fair-slots.ts'
import type { Clock, Timers } from '../../lib/time.ts'

export interface ListUpdatesDependencies {
  /** Reads and publishes a list; false if the update must be repeated. */
  readonly update: (listId: string, reportedMs: number) => Promise<boolean>
  /** Called if a change isn't published within GIVE_UP_AFTER_MS. */
  readonly giveUp: (listId: string) => Promise<void>
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly after: Timers['after']
  readonly wait: (milliseconds: number) => Promise<void>
}

interface PendingUpdate {
  reportedMs: number
  isRead: boolean
  changedMs: number | null
}

interface Lane {
  readonly pending: Map<string, PendingUpdate>
  working: Promise<void> | null
  /** Whether a list has changed since the round started. */
  woken: boolean
  nudge: () => void
}

/** Time after which the publication of a change is abandoned. Changes must be published within a second. */
export const GIVE_UP_AFTER_MS = 2_000
const FIRST_RETRY_MS = 100
const LONGEST_RETRY_MS = 5_000
const READERS = 4
/** Pause relative to the update's duration, which merges an owner's rapid changes. */
const PAUSE_FACTOR = 1

export const createListUpdates = ({ update, giveUp, clock, after, wait }: ListUpdatesDependencies) => {
  const slots = createFairSlots(READERS, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 1)
  const lanes = new Map<string, Lane>()
  let held: Promise<void> | null = null
  let stopped = false
  let cancelTimer: (() => void) | null = null

  const allPending = (): [string, PendingUpdate][] => [...lanes.values()].flatMap(({ pending }) => [...pending])

  const checkTimes = async (): Promise<void> => {
    cancelTimer = null
    const overdueMs = clock.monotonicMs() - GIVE_UP_AFTER_MS
    for (const [listId, { reportedMs }] of allPending()) if (reportedMs <= overdueMs) await giveUp(listId)
    startTimer()
  }

  const startTimer = (): void => {
    if (stopped || held !== null || cancelTimer !== null) return
    const pending = allPending()
    if (pending.length === 0) return
    const nowMs = clock.monotonicMs()
    // Overdue lists are checked again, because reading one may never end.
    const delays = pending.map(([, { reportedMs }]) => reportedMs + GIVE_UP_AFTER_MS - nowMs)
    const next = Math.min(...delays.map((delayMs) => (delayMs > 0 ? delayMs : GIVE_UP_AFTER_MS)))
    cancelTimer = after(next, () => void checkTimes())
  }

  const readOne = async (owner: string, lane: Lane, listId: string, entry: PendingUpdate): Promise<boolean> => {
    const release = await slots.acquire(owner)
    if (release === null) return false
    const startMs = clock.monotonicMs()
    try {
      if (stopped) return true
      entry.isRead = true
      const isUpdated = await update(listId, entry.reportedMs)
      if (isUpdated) {
        lane.pending.delete(listId)
        if (entry.changedMs !== null) {
          lane.pending.set(listId, { reportedMs: entry.changedMs, isRead: false, changedMs: null })
        }
        return true
      }
      // Keeps the earlier time, because that change isn't published either.
      entry.changedMs = null
      if (clock.monotonicMs() - entry.reportedMs > GIVE_UP_AFTER_MS) await giveUp(listId)
      return false
    } finally {
      entry.isRead = false
      release()
      const pauseMs = PAUSE_FACTOR * (clock.monotonicMs() - startMs)
      if (!stopped && pauseMs > 0) await wait(pauseMs)
    }
  }

  const work = async (owner: string, lane: Lane): Promise<void> => {
    let delayMs = FIRST_RETRY_MS
    await held
    while (!stopped && lane.pending.size > 0) {
      lane.woken = false
      let failed = false
      for (const [listId, entry] of [...lane.pending]) {
        if (stopped) return
        if (!(await readOne(owner, lane, listId, entry))) failed = true
      }
      if (!failed || lane.woken) continue
      // A changed list must not wait for an unreadable list.
      const nudged = new Promise<void>((resolve) => {
        lane.nudge = resolve
      })
      await Promise.race([wait(delayMs), nudged])
      delayMs = Math.min(2 * delayMs, LONGEST_RETRY_MS)
    }
  }

  const wake = (owner: string, lane: Lane): void => {
    if (stopped) return
    lane.woken = true
    lane.nudge()
    lane.working ??= work(owner, lane).finally(() => {
      lane.working = null
      if (lane.pending.size > 0) wake(owner, lane)
      else lanes.delete(owner)
    })
    startTimer()
  }

  return {
    /** Call after each change to a list. @param reportedMs monotonic time of the report */
    add: (owner: string, listId: string, reportedMs: number) => {
      const lane = lanes.get(owner) ?? { pending: new Map(), working: null, woken: false, nudge: () => undefined }
      lanes.set(owner, lane)
      const known = lane.pending.get(listId)
      if (known === undefined) lane.pending.set(listId, { reportedMs, isRead: false, changedMs: null })
      else if (known.isRead) known.changedMs ??= reportedMs
      wake(owner, lane)
    },
    /** Delays all updates until `loaded` settles. */
    holdUntil: (loaded: Promise<void>) => {
      const done = loaded
        .catch(() => undefined)
        .then(() => {
          held = null
          startTimer()
        })
      held = done
    },
    waiting: (): Iterable<readonly [listId: string, reportedMs: number]> =>
      allPending().map(([listId, { reportedMs }]) => [listId, reportedMs] as const),
    settled: async (): Promise<void> => {
      for (;;) {
        const working = [held, ...[...lanes.values()].map((lane) => lane.working)].filter((one) => one !== null)
        if (working.length === 0) return
        await Promise.all(working)
      }
    },
    stop: () => {
      stopped = true
      cancelTimer?.()
      for (const lane of lanes.values()) lane.nudge()
    },
  }
}

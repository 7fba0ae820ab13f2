// Every unsettled job, ordered by its absolute deadline, under one shared timer (invariant 4). All deadlines have the
// same length, so jobs arrive almost in order: an insertion steps back past the few later ones, and a removal is two
// assignments.
import type { Clock, Timers } from '../lib/time.ts'
import type { Entry } from './entry.ts'

export interface DeadlineList {
  /** Number of unsettled jobs, wherever they are. */
  readonly size: number
  add(entry: Entry): void
  remove(entry: Entry): void
  /** Removes and returns every job, earliest deadline first. */
  takeAll(): Entry[]
  stop(): void
}

/** @param expire called for each job at its deadline, after the job was removed */
export const createDeadlineList = (clock: Clock, timers: Timers, expire: (entry: Entry) => void): DeadlineList => {
  let first: Entry | null = null
  let last: Entry | null = null
  let size = 0
  let armedForMs = Number.POSITIVE_INFINITY
  let cancel: (() => void) | null = null

  const arm = (): void => {
    if (first === null || first.job.deadlineMs >= armedForMs) return
    cancel?.()
    armedForMs = first.job.deadlineMs
    cancel = timers.after(armedForMs - clock.monotonicMs(), fire)
  }

  const remove = (entry: Entry): void => {
    if (entry.earlier === null && first !== entry) return
    if (entry.earlier === null) first = entry.later
    else entry.earlier.later = entry.later
    if (entry.later === null) last = entry.earlier
    else entry.later.earlier = entry.earlier
    entry.earlier = null
    entry.later = null
    size -= 1
  }

  const fire = (): void => {
    cancel = null
    armedForMs = Number.POSITIVE_INFINITY
    const nowMs = clock.monotonicMs()
    while (first !== null && first.job.deadlineMs <= nowMs) {
      const entry = first
      remove(entry)
      expire(entry)
    }
    arm()
  }

  return {
    get size() {
      return size
    },
    add: (entry) => {
      let before = last
      while (before !== null && before.job.deadlineMs > entry.job.deadlineMs) before = before.earlier
      const after = before === null ? first : before.later
      entry.earlier = before
      entry.later = after
      if (before === null) first = entry
      else before.later = entry
      if (after === null) last = entry
      else after.earlier = entry
      size += 1
      // The timer stays set for the earliest deadline so far; a removal does not change it, so it may fire without a
      // job.
      arm()
    },
    remove,
    takeAll: () => {
      const entries: Entry[] = []
      while (first !== null) {
        entries.push(first)
        remove(first)
      }
      return entries
    },
    stop: () => {
      cancel?.()
      cancel = null
      armedForMs = Number.POSITIVE_INFINITY
    },
  }
}

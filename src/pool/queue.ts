// Jobs that wait for a worker, oldest first, in a ring. A job that is settled while it waits (its deadline passed) is
// only subtracted from the count and skipped later. Settled jobs at the head are removed, so that they don't pile up
// while no worker takes jobs.
import type { Entry } from './entry.ts'

export interface JobQueue {
  /** Number of waiting jobs that are not settled. */
  readonly size: number
  pushTail(entry: Entry): void
  /** Adds a job that has waited before. */
  pushHead(entry: Entry): void
  /** Removes and returns the oldest job that is not settled. */
  shift(): Entry | null
  /** Removes and returns the newest job that is not settled. */
  takeTail(): Entry | null
  /** Call when a queued entry was settled: subtracts it from the count. */
  drop(entry: Entry): void
}

/** The part of the queue for callers that only hand jobs out or settle them. */
export type WaitingJobs = Omit<JobQueue, 'takeTail'>

export const createJobQueue = (): JobQueue => {
  let slots: (Entry | null)[] = new Array(64).fill(null)
  let mask = slots.length - 1
  let head = 0
  let used = 0
  let size = 0

  const grow = (): void => {
    const larger: (Entry | null)[] = new Array(slots.length * 2).fill(null)
    for (let index = 0; index < used; index++) larger[index] = slots[(head + index) & mask] ?? null
    slots = larger
    mask = slots.length - 1
    head = 0
  }

  const takeHead = (): Entry | null => {
    const entry = slots[head] ?? null
    slots[head] = null
    head = (head + 1) & mask
    used -= 1
    return entry
  }

  const enter = (entry: Entry): void => {
    used += 1
    size += 1
    entry.queued = true
  }

  return {
    get size() {
      return size
    },
    pushTail: (entry) => {
      if (used === slots.length) grow()
      slots[(head + used) & mask] = entry
      enter(entry)
    },
    pushHead: (entry) => {
      if (used === slots.length) grow()
      head = (head - 1) & mask
      slots[head] = entry
      enter(entry)
    },
    shift: () => {
      while (used > 0) {
        const entry = takeHead()
        if (entry?.queued) {
          entry.queued = false
          size -= 1
          return entry
        }
      }
      return null
    },
    takeTail: () => {
      while (used > 0) {
        const index = (head + used - 1) & mask
        const entry = slots[index]
        slots[index] = null
        used -= 1
        if (entry?.queued) {
          entry.queued = false
          size -= 1
          return entry
        }
      }
      return null
    },
    drop: (entry) => {
      if (!entry.queued) return
      entry.queued = false
      size -= 1
      while (used > 0 && slots[head]?.queued !== true) takeHead()
    },
  }
}

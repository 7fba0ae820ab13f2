// Settles jobs: each is answered, fails or expires exactly once, whichever comes first. It holds every unsettled job,
// so it also knows when none is left.
import { type CountersignError, DeadlineExceededError } from '../domain/errors.ts'
import { createDeadlineList } from '../lib/deadline-list.ts'
import type { Clock, Timers } from '../lib/time.ts'
import type { Entry, PoolAnswer } from './entry.ts'
import type { WaitingJobs } from './queue.ts'
import type { PoolStatistics } from './statistics.ts'

export interface Settlement {
  /** Number of unsettled jobs, wherever they are. */
  readonly pending: number
  /** From now on the job is answered 408 at its deadline, whatever hangs. */
  open(entry: Entry): void
  /** False when the job was settled before, or it is too late: the answer must then be withheld (invariant 4). */
  answer(entry: Entry, answer: PoolAnswer): boolean
  fail(entry: Entry, error: CountersignError): void
  expire(entry: Entry): void
  /** Fails every remaining job. */
  failAll(errorOf: (entry: Entry) => CountersignError): void
  /** Resolves once no job is left. */
  drained(): Promise<void>
  stop(): void
}

export interface SettlementOptions {
  readonly clock: Clock
  readonly timers: Timers
  readonly queue: WaitingJobs
  readonly statistics: PoolStatistics
}

export const createSettlement = ({ clock, timers, queue, statistics }: SettlementOptions): Settlement => {
  const waiters: (() => void)[] = []

  const settle = (entry: Entry): void => {
    entry.settled = true
    deadlines.remove(entry)
    queue.drop(entry)
    if (deadlines.size === 0) for (const resolve of waiters.splice(0)) resolve()
  }

  const noteOverrun = ({ enqueuedMs, forecastMs }: Entry, nowMs: number): void =>
    statistics.recordOverrun(nowMs - enqueuedMs - forecastMs, nowMs)

  const fail = (entry: Entry, error: CountersignError): void => {
    if (entry.settled) return
    statistics.failed += 1
    settle(entry)
    entry.reject(error)
  }

  const expire = (entry: Entry, nowMs = clock.monotonicMs()): void => {
    if (entry.settled) return
    statistics.expired += 1
    noteOverrun(entry, nowMs)
    settle(entry)
    entry.reject(new DeadlineExceededError({ nothingSigned: !entry.mayBeSigned }))
  }

  const deadlines = createDeadlineList<Entry>(clock, timers.after, expire)

  return {
    get pending() {
      return deadlines.size
    },
    open: deadlines.add,
    answer: (entry, answer) => {
      if (entry.settled) return false
      const nowMs = clock.monotonicMs()
      if (entry.job.deadlineMs <= nowMs) {
        expire(entry, nowMs)
        return false
      }
      statistics.answered += 1
      noteOverrun(entry, nowMs)
      settle(entry)
      entry.resolve(answer)
      return true
    },
    fail,
    expire,
    failAll: (errorOf) => {
      for (const entry of deadlines.takeAll()) fail(entry, errorOf(entry))
    },
    drained: () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      if (deadlines.size === 0) resolve()
      else waiters.push(resolve)
      return promise
    },
    stop: deadlines.stop,
  }
}

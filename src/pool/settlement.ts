// Settles a submitted job: it is answered, fails or expires exactly once. An answer after the deadline is never sent,
// and a worker records it as withheld (invariant 4).
import { type CountersignError, DeadlineExceededError, fixedError } from '../domain/errors.ts'
import type { Target } from '../domain/target.ts'
import { createDeadlineList, type Expiring } from '../lib/deadline-list.ts'
import type { FairQueue } from './fair-queue.ts'
import type { PoolParts } from './pool-options.ts'
import type { Job } from './protocol.ts'
import type { WorkerHandle } from './worker-handle.ts'

/** The job's key, target or facts changed before dispatch. The job was not dispatched. */
export class JobOutdatedError extends fixedError(
  'DEPENDENCY_UNAVAILABLE',
  'the policy, the API key or the identity changed during the request; retry',
  { retryAfterSeconds: 1, nothingSigned: true },
) {}

export interface PoolAnswer {
  readonly compliant: boolean
  /** Rule that decided, for metrics and logs. Null if the policy's default decided. */
  readonly ruleId: string | null
  /** JSON response body. Empty if the verdict needs a signature but the job has no expiration. */
  readonly body: string
}

export interface PendingJob extends Expiring<PendingJob> {
  readonly job: Job
  readonly target: Target
  readonly sequence: number
  readonly promise: Promise<PoolAnswer>
  readonly resolve: (answer: PoolAnswer) => void
  readonly reject: (error: Error) => void
  /** Returns true if the job's key, target and facts are still current. Synchronous: reads caches only. */
  readonly isCurrent: () => boolean
  /** Change count before the job's key and target were looked up. If -1, `isCurrent` decides. */
  readonly changes: number
  readonly enqueuedMs: number
  readonly forecastMs: number
  dispatchedMs: number
  /** True once the job was answered, failed or expired. A worker may still be processing it. */
  settled: boolean
  /** True while the job is in the queue and included in its size. */
  queued: boolean
  /** True if a worker may sign the job, or if a lost worker may have recorded it. */
  mayBeSigned: boolean
  losses: number
  kills: number
  redefinitions: number
}

const ALWAYS = (): boolean => true

export const createPendingJob = (
  job: Job,
  target: Target,
  sequence: number,
  nowMs: number,
  forecastMs = 0,
  isCurrent: PendingJob['isCurrent'] = ALWAYS,
  changes = -1,
): PendingJob => {
  const { promise, resolve, reject } = Promise.withResolvers<PoolAnswer>()
  return {
    job,
    deadlineMs: job.deadlineMs,
    target,
    sequence,
    promise,
    resolve,
    reject,
    isCurrent,
    changes,
    enqueuedMs: nowMs,
    forecastMs,
    dispatchedMs: 0,
    settled: false,
    queued: false,
    mayBeSigned: false,
    losses: 0,
    kills: 0,
    redefinitions: 0,
    earlier: null,
    later: null,
  }
}

type SettlementParts = Pick<PoolParts, 'clock' | 'timers' | 'statistics'> & { readonly queue: Pick<FairQueue, 'drop'> }

export const createSettlement = ({ clock, timers, queue, statistics }: SettlementParts) => {
  const waiters: (() => void)[] = []

  const settle = (pending: PendingJob): void => {
    pending.settled = true
    deadlines.remove(pending)
    queue.drop(pending)
    if (deadlines.size === 0) for (const resolve of waiters.splice(0)) resolve()
  }

  const noteOverrun = ({ enqueuedMs, forecastMs }: PendingJob, nowMs: number): void =>
    statistics.recordOverrun(nowMs - enqueuedMs - forecastMs, nowMs)

  const fail = (pending: PendingJob, error: CountersignError): void => {
    if (pending.settled) return
    statistics.failed += 1
    settle(pending)
    pending.reject(error)
  }

  const expire = (pending: PendingJob, nowMs = clock.monotonicMs()): void => {
    if (pending.settled) return
    statistics.expired += 1
    noteOverrun(pending, nowMs)
    settle(pending)
    pending.reject(new DeadlineExceededError({ nothingSigned: !pending.mayBeSigned }))
  }

  const deadlines = createDeadlineList<PendingJob>(clock, timers.after, expire)

  return {
    get pending(): number {
      return deadlines.size
    },
    /** Starts the job's deadline, at which it is answered 408, even if its worker hangs. */
    open: deadlines.add,
    /** Returns false if the job is settled or past its deadline, so that the answer must be withheld (invariant 4). */
    answer: (pending: PendingJob, answer: PoolAnswer): boolean => {
      if (pending.settled) return false
      const nowMs = clock.monotonicMs()
      if (pending.job.deadlineMs <= nowMs) {
        expire(pending, nowMs)
        return false
      }
      statistics.answered += 1
      noteOverrun(pending, nowMs)
      settle(pending)
      pending.resolve(answer)
      return true
    },
    fail,
    expire,
    failAll: (errorOf: (pending: PendingJob) => CountersignError) => {
      for (const pending of deadlines.takeAll()) fail(pending, errorOf(pending))
    },
    drained: (): Promise<void> => {
      const { promise, resolve } = Promise.withResolvers<void>()
      if (deadlines.size === 0) resolve()
      else waiters.push(resolve)
      return promise
    },
    stop: deadlines.stop,
  }
}

export type Settlement = ReturnType<typeof createSettlement>

export const createWithheldLedger = ({ handles, onEvent }: Pick<PoolParts, 'handles' | 'onEvent'>) => {
  let waiting: string[] = []
  let count = 0

  const flush = (): void => {
    if (waiting.length === 0) return
    const handle = handles.find(({ state }) => state === 'live') ?? handles.find(({ state }) => state === 'draining')
    if (handle === undefined) return
    for (const uuid of waiting) handle.withheld.add(uuid)
    handle.control({ type: 'withheld', uuids: waiting })
    waiting = []
  }

  return {
    get count(): number {
      return count
    },
    withhold: (uuids: readonly string[]) => {
      onEvent({ type: 'withheld', uuids })
      count += uuids.length
      waiting.push(...uuids)
      flush()
    },
    confirm: (handle: WorkerHandle, uuids: readonly string[]) => {
      for (const uuid of uuids) handle.withheld.delete(uuid)
    },
    /** Takes back the uuids that a lost worker has not confirmed. */
    reclaim: (handle: WorkerHandle) => {
      waiting.push(...handle.withheld)
      handle.withheld.clear()
      flush()
    },
    flush,
  }
}

export type WithheldLedger = ReturnType<typeof createWithheldLedger>

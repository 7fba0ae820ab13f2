// Settles jobs: each job is answered, fails or expires exactly once. An answer after the deadline is never sent, and
// its uuid goes to a worker, which records it as withheld (invariant 4).
import { CountersignError, DeadlineExceededError, DependencyUnavailableError, ERROR_STATUS } from '../domain/errors.ts'
import { createDeadlineList } from '../lib/deadline-list.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { FairQueue } from './fair-queue.ts'
import type { PendingJob, PoolAnswer } from './pending-job.ts'
import type { PoolParts } from './pool-options.ts'
import type { Outcome } from './protocol.ts'
import type { OutcomeBatch } from './wire.ts'
import type { WorkerHandle } from './worker-handle.ts'

export interface Settlement {
  /** Number of unsettled jobs, in the queue or at a worker. */
  readonly pending: number
  /** Starts the job's deadline: it is answered 408 at that time, even if its worker hangs. */
  open(pending: PendingJob): void
  /**
   * Returns false if the job is already settled or past its deadline; the answer must then be withheld (invariant 4).
   */
  answer(pending: PendingJob, answer: PoolAnswer): boolean
  fail(pending: PendingJob, error: CountersignError): void
  expire(pending: PendingJob): void
  failAll(errorOf: (pending: PendingJob) => CountersignError): void
  drained(): Promise<void>
  stop(): void
}

type SettlementParts = Pick<PoolParts, 'clock' | 'timers' | 'statistics'> & { readonly queue: Pick<FairQueue, 'drop'> }

export const createSettlement = ({ clock, timers, queue, statistics }: SettlementParts): Settlement => {
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
    get pending() {
      return deadlines.size
    },
    open: deadlines.add,
    answer: (pending, answer) => {
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
    failAll: (errorOf) => {
      for (const pending of deadlines.takeAll()) fail(pending, errorOf(pending))
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

export interface WithheldLedger {
  /** Number of answers withheld since the start. */
  readonly count: number
  withhold(uuids: readonly string[]): void
  confirm(handle: WorkerHandle, uuids: readonly string[]): void
  /** Takes back the uuids that a lost worker has not confirmed. */
  reclaim(handle: WorkerHandle): void
  flush(): void
}

export const createWithheldLedger = ({ handles, onEvent }: Pick<PoolParts, 'handles' | 'onEvent'>): WithheldLedger => {
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
    get count() {
      return count
    },
    withhold: (uuids) => {
      onEvent({ type: 'withheld', uuids })
      count += uuids.length
      waiting.push(...uuids)
      flush()
    },
    confirm: (handle, uuids) => {
      for (const uuid of uuids) handle.withheld.delete(uuid)
    },
    reclaim: (handle) => {
      waiting.push(...handle.withheld)
      handle.withheld.clear()
      flush()
    },
    flush,
  }
}

export const createTakeOutcomes = (
  parts: PoolParts,
  settlement: Settlement,
  withheld: WithheldLedger,
  dispatcher: Dispatcher,
): ((handle: WorkerHandle, batch: OutcomeBatch) => void) => {
  const { clock, queue, statistics, limits, onEvent } = parts

  const takeOutcome = (handle: WorkerHandle, pending: PendingJob, outcome: Outcome): boolean => {
    if (outcome.status === 'answered') return settlement.answer(pending, outcome)
    if (pending.settled) return true
    pending.mayBeSigned = outcome.status === 'failed' && !outcome.nothingSigned
    if (outcome.status === 'unsigned') {
      settlement.answer(pending, { compliant: true, ruleId: null, body: '' })
    } else if (outcome.status === 'target-not-cached') {
      handle.forgetTarget(pending)
      pending.redefinitions += 1
      if (pending.redefinitions <= limits.maxRedefinitions) queue.pushHead(pending)
      else
        settlement.fail(
          pending,
          new DependencyUnavailableError('the policy could not be loaded', { nothingSigned: true }),
        )
    } else if (outcome.status === 'lease-ended') {
      queue.pushHead(pending)
    } else if (outcome.code !== 'DEADLINE_EXCEEDED') {
      // DEADLINE_EXCEEDED is ignored: the worker's clock may be ahead by the handshake's error. The deadline timer
      // answers 408.
      const { requestId, uuid } = pending.job
      const { code, detail, errorClass, rule, nothingSigned } = outcome
      if (rule !== undefined) onEvent({ type: 'rule-failed', requestId, uuid, ...rule })
      else if (errorClass !== null) onEvent({ type: 'job-failed', requestId, uuid, errorClass })
      const retryAfter = ERROR_STATUS[code] === 503 ? { retryAfterSeconds: 1 } : {}
      settlement.fail(pending, new CountersignError(code, detail, { ...retryAfter, nothingSigned }))
    }
    return true
  }

  return (handle, batch) => {
    const nowMs = clock.monotonicMs()
    statistics.recordBatch(batch.busyMs, batch.outcomes.length)
    const late: string[] = []
    for (const outcome of batch.outcomes) {
      const pending = handle.inFlight.get(outcome.sequence)
      if (pending === undefined) continue
      handle.inFlight.delete(outcome.sequence)
      dispatcher.release(pending)
      statistics.recordRun(nowMs - pending.dispatchedMs)
      const { stages } = pending.job
      if (stages !== undefined) {
        stages.answeredMs = nowMs
        if (outcome.status === 'answered') stages.worker = outcome.stages ?? stages.worker
      }
      if (!takeOutcome(handle, pending, outcome)) late.push(pending.job.uuid)
    }
    if (late.length > 0) withheld.withhold(late)
    if (handle.recalled && handle.inFlight.size === 0) {
      handle.recalled = false
      handle.renewLease(parts.leaseUntilMs)
    }
    dispatcher.dispatch()
  }
}

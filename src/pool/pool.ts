// The main-thread half of signing: a bounded queue in front of workers that evaluate, sign and record. A job is settled
// once, by its deadline (invariant 4); keeps its uuid across retries (3); and is refused if the queue is full (8).

import { CountersignError, DeadlineExceededError, QueueFullError } from '../domain/errors.ts'
import type { ListImage } from '../domain/list-image.ts'
import type { Target } from '../domain/target.ts'
import { systemTimers } from '../lib/time.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import { type Admission, createAdmission } from './admission.ts'
import { Dispatcher, takeOutcomes } from './dispatcher.ts'
import { FairQueue } from './fair-queue.ts'
import { createLostJobs } from './lost-jobs.ts'
import { DEFAULT_POOL_LIMITS, type PoolOptions, type PoolParts } from './pool-options.ts'
import { createPoolStatistics, type PoolStats, poolStatsOf } from './pool-statistics.ts'
import { type AttesterReference, type Job, SEQUENCE_MASK } from './protocol.ts'
import {
  createPendingJob,
  createSettlement,
  createWithheldLedger,
  type PendingJob,
  type PoolAnswer,
  type Settlement,
  type WithheldLedger,
} from './settlement.ts'
import type { WorkerHandle } from './worker-handle.ts'
import { createSupervisor, type Supervisor } from './worker-supervisor.ts'
import { createAttesterRotation, createPoolLists } from './worker-updates.ts'

export interface Pool {
  /** @throws WorkersUnusableError if a worker cannot start (passphrase, keys, log folder) */
  start(): Promise<void>
  /**
   * @param changes from `changes()`, read before the job's key and target were looked up; if outdated, `isCurrent`
   * decides
   * @throws DeadlineExceededError; QueueFullError; DependencyUnavailableError (policy, keys, log or workers fail);
   * CountersignError SHUTTING_DOWN, or INTERNAL if the job repeatedly crashes workers; JobOutdatedError
   */
  submit(job: Job, target: Target, changes?: number, isCurrent?: PendingJob['isCurrent']): Promise<PoolAnswer>
  changes(): number
  noteChange(): void
  /** Jobs wait after `untilMs` (monotonic) until the lease is renewed. Without any call, the lease never ends. */
  renewLease(untilMs: number): void
  /** Returns the error that a job of this organization would get, or null. The refusal is counted. */
  refusal(organizationId: string, deadlineMs: number): QueueFullError | null
  resize(workers: number): void
  /** Makes either every worker or no worker sign with these keys. @throws AttestersUnusableError */
  updateAttesters(attesters: readonly AttesterReference[]): Promise<void>
  /** Sends new versions of lists to every worker. Call it with all lists before starting. */
  updateLists(images: readonly ListImage[], removedIds: readonly string[]): void
  /** Records that these answers were withheld: their requests had already been answered 408. */
  withhold(uuids: readonly string[]): void
  stats(): PoolStats
  /** Refuses new jobs. Unsettled jobs fail after `timeoutMs`. Resolves with true if none was left. */
  drain(timeoutMs: number): Promise<boolean>
  close(): Promise<void>
}

const shuttingDown = (nothingSigned: boolean): CountersignError =>
  new CountersignError('SHUTTING_DOWN', 'the service is stopping; retry', { retryAfterSeconds: 1, nothingSigned })

interface PoolState {
  readonly parts: PoolParts
  readonly queueLimit: number
  readonly admission: Admission
  readonly settlement: Settlement
  readonly withheld: WithheldLedger
  readonly dispatcher: Dispatcher
  readonly supervisor: Supervisor
  sequence: number
  accepting: boolean
}

const countLive = (handles: readonly WorkerHandle[]): number => {
  let live = 0
  for (const { state } of handles) if (state === 'live') live += 1
  return live
}

const submit = (
  pool: PoolState,
  job: Job,
  target: Target,
  seen?: number,
  isCurrent?: PendingJob['isCurrent'],
): Promise<PoolAnswer> => {
  const { queue, statistics, clock } = pool.parts
  if (!pool.accepting) return Promise.reject(shuttingDown(true))
  const nowMs = clock.monotonicMs()
  if (job.deadlineMs <= nowMs) {
    statistics.expired += 1
    return Promise.reject(new DeadlineExceededError({ nothingSigned: true }))
  }
  const { organizationId } = target
  // The early check does not replace this one: other jobs may have filled the queue since.
  const admitted = pool.admission(organizationId, job.deadlineMs - nowMs)
  if (typeof admitted !== 'number') {
    statistics.refused += 1
    return Promise.reject(admitted)
  }
  if (queue.size >= pool.queueLimit) {
    const displaced = queue.displaceFor(organizationId)
    if (displaced !== null) {
      statistics.refused += 1
      pool.settlement.fail(displaced, new QueueFullError())
    }
  }
  pool.sequence = (pool.sequence + 1) & SEQUENCE_MASK
  const pending = createPendingJob(job, target, pool.sequence, nowMs, admitted, isCurrent, seen)
  pool.settlement.open(pending)
  queue.pushTail(pending)
  pool.dispatcher.schedule()
  return pending.promise
}

const refusal = (
  { parts, admission }: PoolState,
  organizationId: string,
  deadlineMs: number,
): QueueFullError | null => {
  const admitted = admission(organizationId, deadlineMs - parts.clock.monotonicMs())
  if (typeof admitted === 'number') return null
  parts.statistics.refused += 1
  return admitted
}

const renewLease = ({ parts, dispatcher }: PoolState, untilMs: number): void => {
  const ended = parts.clock.monotonicMs() >= parts.leaseUntilMs
  parts.leaseUntilMs = untilMs
  for (const handle of parts.handles) {
    if (ended && handle.inFlight.size > 0) handle.mustReturnJobs = true
    handle.renewLease(untilMs)
  }
  if (ended) dispatcher.dispatch()
}

const failAll = ({ settlement }: PoolState): void => settlement.failAll(({ mayBeSigned }) => shuttingDown(!mayBeSigned))

const drain = async (pool: PoolState, timeoutMs: number): Promise<boolean> => {
  pool.accepting = false
  const idle = pool.settlement.drained().then(() => true)
  const drained = await withTimeout(idle, timeoutMs, () => false, pool.parts.timers.after)
  if (!drained) failAll(pool)
  return drained
}

const close = async (pool: PoolState): Promise<void> => {
  pool.accepting = false
  failAll(pool)
  await pool.supervisor.close()
  pool.settlement.stop()
}

export const createPool = (options: PoolOptions): Pool => {
  const { clock, queueLimit, timers = systemTimers, onEvent = () => undefined } = options
  const handles: WorkerHandle[] = []
  const statistics = createPoolStatistics()
  const queue = new FairQueue(options.weightOf)
  const parts: PoolParts = {
    clock,
    timers,
    limits: { ...DEFAULT_POOL_LIMITS, ...options.limits },
    onEvent,
    statistics,
    queue,
    handles,
    changes: 0,
    leaseUntilMs: Number.POSITIVE_INFINITY,
  }
  const admission = createAdmission({ queue, queueLimit, statistics, countWorkers: () => countLive(handles) })
  const settlement = createSettlement(parts)
  const withheld = createWithheldLedger(parts)
  const rotation = createAttesterRotation(parts, options.settings.attesters)
  const lists = createPoolLists(handles)
  const dispatcher = new Dispatcher(parts, settlement)
  const supervisor = createSupervisor(parts, {
    spawn: options.spawn,
    settings: () => ({ ...options.settings, attesters: rotation.attesters }),
    attestersVersion: () => rotation.version,
    firstSlot: options.firstSlot ?? 0,
    revision: options.definitions.revision,
    onLive: (handle) => {
      if (parts.leaseUntilMs !== Number.POSITIVE_INFINITY) handle.renewLease(parts.leaseUntilMs)
      rotation.join(handle)
      lists.join(handle)
      withheld.flush()
      dispatcher.dispatch()
    },
    onOutcomes: (handle, batch) => takeOutcomes(parts, settlement, withheld, dispatcher, handle, batch),
    onReport: (handle, report) => {
      if (report.type === 'attesters-loaded') rotation.report(handle, report)
      else if (report.type === 'withheld-recorded') withheld.confirm(handle, report.uuids)
    },
    onGone: (handle) => {
      rotation.leave(handle)
      withheld.reclaim(handle)
    },
    takeLostJobs: createLostJobs(options.recover, parts, settlement, withheld, dispatcher),
  })
  const pool: PoolState = {
    parts,
    queueLimit,
    admission,
    settlement,
    withheld,
    dispatcher,
    supervisor,
    sequence: 0,
    accepting: true,
  }

  return {
    start: () => supervisor.start(options.workers),
    submit: (job, target, seen, isCurrent) => submit(pool, job, target, seen, isCurrent),
    changes: () => parts.changes,
    noteChange: () => {
      parts.changes += 1
    },
    renewLease: (untilMs) => renewLease(pool, untilMs),
    refusal: (organizationId, deadlineMs) => refusal(pool, organizationId, deadlineMs),
    resize: supervisor.resize,
    updateAttesters: rotation.update,
    withhold: withheld.withhold,
    updateLists: lists.update,
    stats: () => poolStatsOf(pool),
    drain: (timeoutMs) => drain(pool, timeoutMs),
    close: () => close(pool),
  }
}

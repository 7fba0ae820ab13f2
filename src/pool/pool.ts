// The main-thread half of signing: a bounded queue in front of workers that evaluate, sign and record. A job is settled
// exactly once by its deadline (invariant 4), keeps its uuid across retries (invariant 3), and is refused immediately
// if the queue is full (invariant 8).

import { CountersignError, DeadlineExceededError, QueueFullError } from '../domain/errors.ts'
import type { ListImage } from '../domain/list-image.ts'
import type { Target } from '../domain/target.ts'
import { type Clock, systemTimers, type Timers } from '../lib/time.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import type { SentRevision } from '../policy/types/program.ts'
import { createAdmission, createPoolStatistics, type PoolStats, predictWaitMs } from './admission.ts'
import { createDispatcher } from './dispatcher.ts'
import { createFairQueue } from './fair-queue.ts'
import { createLostJobs, type RecoverDecisions } from './lost-jobs.ts'
import { createPendingJob, type PendingJob, type PoolAnswer } from './pending-job.ts'
import { DEFAULT_POOL_LIMITS, type PoolEventListener, type PoolLimits, type PoolParts } from './pool-options.ts'
import type { OpenPort } from './port.ts'
import { type AttesterReference, type Job, SEQUENCE_MASK, type WorkerSettings } from './protocol.ts'
import { createSettlement, createTakeOutcomes, createWithheldLedger } from './settlement.ts'
import type { WorkerHandle } from './worker-handle.ts'
import { createSupervisor } from './worker-supervisor.ts'
import { createAttesterRotation, createPoolLists } from './worker-updates.ts'

export interface PoolOptions {
  readonly workers: number
  readonly spawn: OpenPort
  readonly settings: Omit<WorkerSettings, 'slot' | 'generation' | 'shared'>
  /** Number of the first worker's slot. Defaults to 0. Pools that share a log need different numbers. */
  readonly firstSlot?: number
  /** Returns an organization's weight: its share of the workers' time under contention. Defaults to 1. */
  readonly weightOf?: ((organizationId: string) => number) | undefined
  /**
   * Maximum number of waiting jobs. A further job is refused, or displaces a job of the organization with the longest
   * queue.
   */
  readonly queueLimit: number
  readonly recover: RecoverDecisions
  readonly definitions: { revision(revisionId: string): SentRevision | undefined }
  readonly clock: Clock
  readonly timers?: Timers
  readonly limits?: Partial<PoolLimits>
  readonly onEvent?: PoolEventListener
}

export interface Pool {
  /**
   * Starts the workers.
   * @throws WorkersUnusableError if a worker cannot start (passphrase, keys, log folder)
   */
  start(): Promise<void>
  /**
   * Evaluates and signs.
   * @throws DeadlineExceededError at the job's deadline, regardless of the worker's state.
   * @throws QueueFullError immediately if the queue is full.
   * @throws DependencyUnavailableError if the policy cannot be evaluated, keys are missing, the log cannot be written
   * or the workers fail.
   * @throws CountersignError SHUTTING_DOWN if the pool is draining; INTERNAL if the job repeatedly crashes its workers.
   * @throws JobOutdatedError if `isCurrent` returns false at dispatch. It is called if `changes` is outdated or
   * omitted.
   * @param changes from `changes()`, read before the job's key and target were looked up; if omitted, `isCurrent`
   * decides
   */
  submit(job: Job, target: Target, changes?: number, isCurrent?: PendingJob['isCurrent']): Promise<PoolAnswer>
  changes(): number
  /** Call when a key or a policy has changed: jobs whose key and target were looked up earlier may be outdated. */
  noteChange(): void
  /**
   * Lets workers decide until `untilMs` (monotonic): this process has recent enough information about changed keys and
   * policies. After that time, all jobs wait for a renewal. Without any call, the lease never ends.
   */
  renewLease(untilMs: number): void
  /**
   * Returns the refusal that a job of this organization would get, or null. Callers can then skip the remaining work.
   * The refusal is counted.
   */
  refusal(organizationId: string, deadlineMs: number): QueueFullError | null
  /** Adds workers immediately. Removes workers after they have finished their jobs. */
  resize(workers: number): void
  /**
   * Makes either every worker or no worker sign with these keys.
   * @throws AttestersUnusableError if a worker cannot load them; all workers then keep their keys
   */
  updateAttesters(attesters: readonly AttesterReference[]): Promise<void>
  /**
   * Sends new versions of lists to every worker and removes the deleted lists. Later jobs are decided with these
   * versions. Call it with all lists before the start.
   */
  updateLists(images: readonly ListImage[], removedIds: readonly string[]): void
  /**
   * Records that the answers to these decisions were not sent, because their requests had already been answered 408.
   */
  withhold(uuids: readonly string[]): void
  stats(): PoolStats
  /**
   * Rejects new jobs and waits for unsettled jobs. Jobs left after `timeoutMs` fail. Resolves with true if none was
   * left.
   */
  drain(timeoutMs: number): Promise<boolean>
  close(): Promise<void>
}

const shuttingDown = (nothingSigned: boolean): CountersignError =>
  new CountersignError('SHUTTING_DOWN', 'the service is stopping; retry', { retryAfterSeconds: 1, nothingSigned })

export const createPool = (options: PoolOptions): Pool => {
  const { clock, timers = systemTimers, onEvent = () => undefined } = options
  const handles: WorkerHandle[] = []
  const statistics = createPoolStatistics()
  const queue = createFairQueue(options.weightOf)
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
  const settlement = createSettlement(parts)
  const withheld = createWithheldLedger(parts)
  const rotation = createAttesterRotation(parts, options.settings.attesters)
  const lists = createPoolLists(handles)
  const dispatcher = createDispatcher(parts, settlement)
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
    onOutcomes: createTakeOutcomes(parts, settlement, withheld, dispatcher),
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

  const countLive = (): number => {
    let live = 0
    for (const { state } of handles) if (state === 'live') live += 1
    return live
  }
  const { queueLimit } = options
  const admission = createAdmission({ queue, queueLimit, statistics, countWorkers: countLive })
  let sequence = 0
  let accepting = true

  return {
    start: () => supervisor.start(options.workers),
    submit: (job, target, seen, isCurrent) => {
      if (!accepting) return Promise.reject(shuttingDown(true))
      const nowMs = clock.monotonicMs()
      if (job.deadlineMs <= nowMs) {
        statistics.expired += 1
        return Promise.reject(new DeadlineExceededError({ nothingSigned: true }))
      }
      const { organizationId } = target
      const admitted = admission(organizationId, job.deadlineMs - nowMs)
      if (typeof admitted !== 'number') {
        statistics.refused += 1
        return Promise.reject(admitted)
      }
      if (queue.size >= queueLimit) {
        const displaced = queue.displaceFor(organizationId)
        if (displaced !== null) {
          statistics.refused += 1
          settlement.fail(displaced, new QueueFullError())
        }
      }
      sequence = (sequence + 1) & SEQUENCE_MASK
      const pending = createPendingJob(job, target, sequence, nowMs, admitted, isCurrent, seen)
      settlement.open(pending)
      queue.pushTail(pending)
      dispatcher.schedule()
      return pending.promise
    },
    changes: () => parts.changes,
    noteChange: () => {
      parts.changes += 1
    },
    renewLease: (untilMs) => {
      const ended = clock.monotonicMs() >= parts.leaseUntilMs
      parts.leaseUntilMs = untilMs
      for (const handle of handles) {
        if (ended && handle.inFlight.size > 0) handle.recalled = true
        handle.renewLease(untilMs)
      }
      if (ended) dispatcher.dispatch()
    },
    refusal: (organizationId, deadlineMs) => {
      const admitted = admission(organizationId, deadlineMs - clock.monotonicMs())
      if (typeof admitted === 'number') return null
      statistics.refused += 1
      return admitted
    },
    resize: supervisor.resize,
    updateAttesters: rotation.update,
    withhold: withheld.withhold,
    updateLists: lists.update,
    stats: () => {
      const live = handles.filter((handle) => handle.state === 'live')
      let inFlight = 0
      for (const handle of handles) inFlight += handle.inFlight.size
      return {
        workers: live.length,
        busy: live.filter((handle) => handle.inFlight.size > 0).length,
        wanted: supervisor.wanted,
        abandoned: supervisor.abandoned,
        queued: queue.size,
        queueLimit,
        inFlight,
        pending: settlement.pending,
        restarts: { ...supervisor.restarts },
        answered: statistics.answered,
        refused: statistics.refused,
        expired: statistics.expired,
        failed: statistics.failed,
        withheld: withheld.count,
        ...statistics.histograms(),
        meanServiceMs: statistics.meanServiceMs,
        predictedWaitMs: predictWaitMs(queue.size, statistics.meanServiceMs, live.length),
      }
    },
    drain: async (timeoutMs) => {
      accepting = false
      const idle = settlement.drained().then(() => true)
      const drained = await withTimeout(idle, timeoutMs, () => false, timers.after)
      if (!drained) settlement.failAll(({ mayBeSigned }) => shuttingDown(!mayBeSigned))
      return drained
    },
    close: async () => {
      accepting = false
      settlement.failAll(({ mayBeSigned }) => shuttingDown(!mayBeSigned))
      await supervisor.close()
      settlement.stop()
    },
  }
}

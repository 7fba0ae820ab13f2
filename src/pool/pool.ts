// The main-thread half of signing: a bounded queue in front of worker threads that evaluate, sign and record. A job is
// settled exactly once and within its deadline (invariant 4), keeps its uuid through every try (invariant 3), and is
// refused immediately when the queue is full (invariant 8).

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
  /** Number of the first worker's slot. Default: 0; others only when several pools share a log. */
  readonly firstSlot?: number
  /** An organization's weight: its share of the workers' time when several want more than there is. Default: 1. */
  readonly weightOf?: (organizationId: string) => number
  /**
   * Maximum number of waiting jobs; after that, the next job is refused, or one of the organization with the longest
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
   * @throws WorkersUnusableError when a worker can't start (passphrase, keys, log folder): the service then can't start
   *   either
   */
  start(): Promise<void>
  /**
   * Evaluates and signs.
   * @throws DeadlineExceededError at the job's deadline, whatever its worker does.
   * @throws QueueFullError at once when the queue is full.
   * @throws DependencyUnavailableError when the policy can't be evaluated, keys are missing, the log can't be written or
   *   the workers fail.
   * @throws CountersignError SHUTTING_DOWN once the pool drains; INTERNAL when the job keeps ending its workers.
   * @param changes from `changes()`, read before the job's key and target were looked up; if omitted, `isCurrent` decides
   * @throws JobOutdatedError if there were more changes before a worker gets the job, or `changes` was omitted, and
   *   `isCurrent` is then false.
   */
  submit(job: Job, target: Target, changes?: number, isCurrent?: PendingJob['isCurrent']): Promise<PoolAnswer>
  /** Number of changes of keys and policies so far. */
  changes(): number
  /** Call when a key or a policy has changed: jobs whose key and target were looked up before may be outdated. */
  noteChange(): void
  /**
   * Lets workers decide until then (monotonic): changes of keys and policies are known here up to a moment that is recent
   * enough. Afterwards all jobs wait for the next call. Without a call, the lease never ends.
   */
  renewLease(untilMs: number): void
  /**
   * The refusal that a job of this organization would get now, or null: callers can save themselves the rest of the
   * work. It is counted as a refusal.
   */
  refusal(organizationId: string, deadlineMs: number): QueueFullError | null
  /** Adds workers immediately; removes workers after they have finished the jobs that they hold. */
  resize(workers: number): void
  /**
   * Makes every worker sign with these keys, or none of them.
   * @throws AttestersUnusableError when a worker can't load them: all workers then keep their keys
   */
  updateAttesters(attesters: readonly AttesterReference[]): Promise<void>
  /**
   * Sends these versions of lists to every worker, and removes the deleted lists. Jobs submitted from now on are
   * decided on them. Call it before the start with all lists.
   */
  updateLists(images: readonly ListImage[], removedIds: readonly string[]): void
  /** Records that the answers to these decisions were not sent, because their requests were answered 408 meanwhile. */
  withhold(uuids: readonly string[]): void
  stats(): PoolStats
  /** Takes no more jobs and waits for those under way; jobs left after `timeoutMs` fail. True when none was left. */
  drain(timeoutMs: number): Promise<boolean>
  /** Ends the workers. Remaining jobs fail. */
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

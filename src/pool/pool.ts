// The main-thread half of signing: a bounded queue in front of worker threads that evaluate, sign and record. A job is
// settled exactly once and within its deadline (invariant 4), keeps its uuid through every try (invariant 3), and is
// refused immediately when the queue is full (invariant 8).

import { CountersignError, DeadlineExceededError, QueueFullError } from '../domain/errors.ts'
import type { ListImage } from '../domain/list-image.ts'
import type { Target } from '../domain/target.ts'
import { type Clock, systemTimers, type Timers } from '../lib/time.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import type { SentRevision } from '../policy/types/program.ts'
import { createAdmission } from './admission.ts'
import { createAttesterRotation } from './attester-rotation.ts'
import { createDispatcher } from './dispatcher.ts'
import { createEntry, type Entry, type PoolAnswer } from './entry.ts'
import type { PoolEventListener } from './events.ts'
import { createFairQueue } from './fair-queue.ts'
import { DEFAULT_POOL_LIMITS, type PoolLimits } from './limits.ts'
import { createLostJobs } from './lost-jobs.ts'
import { createTakeOutcomes } from './outcomes.ts'
import { createPoolLists } from './pool-lists.ts'
import type { OpenPort } from './port.ts'
import { type AttesterReference, type Job, SEQUENCE_MASK, type WorkerReport, type WorkerSettings } from './protocol.ts'
import type { RecoverDecisions } from './recovery.ts'
import { createSettlement } from './settlement.ts'
import { createPoolStatistics, type PoolStats, predictWaitMs } from './statistics.ts'
import { createWithheldLedger } from './withheld.ts'
import type { WorkerHandle } from './worker-handle.ts'
import { createSupervisor } from './worker-supervisor.ts'

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
  submit(job: Job, target: Target, changes?: number, isCurrent?: Entry['isCurrent']): Promise<PoolAnswer>
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
  const limits: PoolLimits = { ...DEFAULT_POOL_LIMITS, ...options.limits }
  const statistics = createPoolStatistics()
  const queue = createFairQueue(options.weightOf)
  const settlement = createSettlement({ clock, timers, queue, statistics })
  let sequence = 0
  let accepting = true
  let changes = 0
  let leaseUntilMs = Number.POSITIVE_INFINITY

  const withhold = (uuids: readonly string[]): void => {
    onEvent({ type: 'withheld', uuids })
    withheld.withhold(uuids)
  }

  const takeReport = (handle: WorkerHandle, report: WorkerReport): void => {
    if (report.type === 'attesters-loaded') rotation.report(handle, report)
    else if (report.type === 'withheld-recorded') withheld.confirm(handle, report.uuids)
  }

  const takeLive = (handle: WorkerHandle): void => {
    // The keys changed while the worker started.
    if (handle.attestersVersion !== rotation.version) {
      supervisor.giveUp(handle, 'start')
      return
    }
    if (leaseUntilMs !== Number.POSITIVE_INFINITY) handle.renewLease(leaseUntilMs)
    rotation.join(handle)
    lists.join(handle)
    withheld.flush()
    dispatcher.dispatch()
  }

  const supervisor = createSupervisor({
    spawn: options.spawn,
    settings: () => ({ ...options.settings, attesters: rotation.attesters }),
    attestersVersion: () => rotation.version,
    firstSlot: options.firstSlot ?? 0,
    revision: (revisionId) => options.definitions.revision(revisionId),
    clock,
    timers,
    limits,
    onEvent,
    onLive: takeLive,
    onOutcomes: (handle, batch) => {
      takeOutcomes(handle, batch)
      supervisor.settle(handle)
    },
    onReport: takeReport,
    onLost: (lost) => {
      rotation.leave(lost.handle)
      withheld.reclaim(lost.handle)
      for (const entry of lost.handle.inFlight.values()) dispatcher.release(entry)
      void takeLostJobs(lost)
    },
    onGone: (handle) => {
      rotation.leave(handle)
      withheld.reclaim(handle)
    },
  })
  const { handles } = supervisor
  const withheld = createWithheldLedger(handles)
  const lists = createPoolLists(handles)
  const rotation = createAttesterRotation({
    initial: options.settings.attesters,
    handles,
    timers,
    timeoutMs: limits.attestersTimeoutMs,
  })
  const dispatcher = createDispatcher({
    queue,
    handles,
    clock,
    timers,
    limits,
    meanServiceMs: () => statistics.meanServiceMs,
    leaseUntilMs: () => leaseUntilMs,
    changes: () => changes,
    onExpired: settlement.expire,
    onFailed: settlement.fail,
    onDispatched: (entry) => statistics.recordWait(entry.dispatchedMs - entry.enqueuedMs),
  })
  const takeOutcomes = createTakeOutcomes({
    clock,
    queue,
    dispatcher,
    settlement,
    statistics,
    limits,
    onEvent,
    withhold,
    onReturned: (handle) => {
      handle.recalled = false
      handle.renewLease(leaseUntilMs)
    },
  })
  const takeLostJobs = createLostJobs({
    recover: options.recover,
    limits,
    timers,
    onEvent,
    answer: settlement.answer,
    fail: settlement.fail,
    withhold,
    dispatchAlone: dispatcher.enqueueAlone,
    dispatchAgain: (entries) => {
      for (let index = entries.length - 1; index >= 0; index--) {
        const entry = entries[index]
        if (entry !== undefined && !entry.settled) queue.pushHead(entry)
      }
      dispatcher.dispatch()
    },
  })

  const countLive = (): number => {
    let live = 0
    for (const { state } of handles) if (state === 'live') live += 1
    return live
  }

  const { queueLimit } = options
  const admission = createAdmission({ queue, queueLimit, statistics, countWorkers: countLive })

  /** Returns a number when the job may enter the queue: the milliseconds that it is expected to take. */
  const admit = (organizationId: string, leftMs: number): QueueFullError | number => {
    const admitted = admission(organizationId, leftMs)
    if (typeof admitted !== 'number') statistics.refused += 1
    else if (queue.size >= queueLimit) makeRoomFor(organizationId)
    return admitted
  }

  const makeRoomFor = (organizationId: string): void => {
    const displaced = queue.displaceFor(organizationId)
    if (displaced === null) return
    statistics.refused += 1
    settlement.fail(displaced, new QueueFullError())
  }

  return {
    start: () => supervisor.start(options.workers),
    submit: (job, target, seen, isCurrent) => {
      if (!accepting) return Promise.reject(shuttingDown(true))
      const nowMs = clock.monotonicMs()
      if (job.deadlineMs <= nowMs) {
        statistics.expired += 1
        return Promise.reject(new DeadlineExceededError({ nothingSigned: true }))
      }
      const admitted = admit(target.organizationId, job.deadlineMs - nowMs)
      if (typeof admitted !== 'number') return Promise.reject(admitted)
      sequence = (sequence + 1) & SEQUENCE_MASK
      const { entry, promise } = createEntry(job, target, sequence, nowMs, admitted, isCurrent, seen)
      settlement.open(entry)
      queue.pushTail(entry)
      dispatcher.schedule()
      return promise
    },
    changes: () => changes,
    noteChange: () => {
      changes += 1
    },
    renewLease: (untilMs) => {
      const ended = clock.monotonicMs() >= leaseUntilMs
      leaseUntilMs = untilMs
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
    withhold,
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

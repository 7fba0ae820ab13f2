// Distributes queued jobs to the least-loaded workers. Jobs submitted in one turn of the event loop are sent together,
// one message per worker. A job that may have crashed a worker is retried alone, on an otherwise idle worker.
import { DependencyUnavailableError } from '../domain/errors.ts'
import { JobOutdatedError, type PendingJob } from './pending-job.ts'
import type { PoolLimits, PoolParts } from './pool-options.ts'
import type { Settlement } from './settlement.ts'
import type { WorkerHandle } from './worker-handle.ts'

export interface Dispatcher {
  /** Schedules a dispatch at the end of the current turn of the event loop. */
  schedule(): void
  dispatch(): void
  /** Enqueues a job that may have crashed a worker. */
  enqueueAlone(pending: PendingJob): void
  /**
   * Call when a worker has answered the job or was lost with it. If the worker was reserved for the job, it becomes
   * available again.
   */
  release(pending: PendingJob): void
}

/**
 * Number of jobs that a worker receives at once. A message wakes two threads, which costs about the same time as a fast
 * signature. With no-op workers, four jobs per message need about 60% of the processor time of one job per message.
 */
export const shareOf = (meanServiceMs: number, limits: Pick<PoolLimits, 'wakeWorthMs' | 'maxShare'>): number =>
  meanServiceMs === 0 ? 1 : Math.max(1, Math.min(limits.maxShare, Math.floor(limits.wakeWorthMs / meanServiceMs)))

/**
 * Maximum number of jobs that one worker may hold. A busy main thread, for example during a flood of refusals, cannot
 * dispatch jobs. Each worker therefore also receives the jobs that it can finish in that time.
 */
export const depthOf = (
  turnMs: number,
  meanServiceMs: number,
  limits: Pick<PoolLimits, 'maxInFlight' | 'bridgedTurnMs'>,
): number =>
  meanServiceMs === 0
    ? limits.maxInFlight
    : limits.maxInFlight + Math.floor(Math.min(turnMs, limits.bridgedTurnMs) / meanServiceMs)

/** A worker that holds jobs counts as awake for this long after its last report. */
const AWAKE_MS = 1

/** Decay of the longest turn per turn: after about 50 short turns, a long turn no longer matters. */
const TURN_MEMORY = 0.98

const takesJobs = ({ state, recalled }: WorkerHandle): boolean => state === 'live' && !recalled

export const createDispatcher = (parts: PoolParts, settlement: Pick<Settlement, 'expire' | 'fail'>): Dispatcher => {
  const { queue, handles, clock, timers, limits, statistics } = parts
  let scheduled = false
  /** Longest recent turn of the main thread, measured from the turn's first job. */
  let turnMs = 0
  const suspects: PendingJob[] = []
  /** The worker reserved for the suspect job that is in flight or about to be sent. */
  let reserved: WorkerHandle | null = null
  let suspectOut: PendingJob | null = null

  const leastLoaded = (depth: number): WorkerHandle | null => {
    let best: WorkerHandle | null = null
    let load = depth
    for (const handle of handles) {
      if (!takesJobs(handle) || handle === reserved || handle.inFlight.size >= load) continue
      best = handle
      load = handle.inFlight.size
    }
    return best
  }

  /** Returns an awake worker that holds less work than justifies waking another worker. */
  const awake = (share: number, nowMs: number): WorkerHandle | null => {
    for (const handle of handles) {
      const { size } = handle.inFlight
      if (size === 0 || size >= share || !takesJobs(handle) || handle === reserved) continue
      if (nowMs - handle.lastProgressMs < AWAKE_MS) return handle
    }
    return null
  }

  const assign = (handle: WorkerHandle, pending: PendingJob, nowMs: number): boolean => {
    if (pending.job.deadlineMs <= nowMs) {
      settlement.expire(pending)
      return false
    }
    if (pending.changes !== parts.changes && !pending.isCurrent()) {
      settlement.fail(pending, new JobOutdatedError())
      return false
    }
    if (!handle.assign(pending, nowMs)) {
      settlement.fail(
        pending,
        new DependencyUnavailableError('the policy could not be loaded', { nothingSigned: true }),
      )
      return false
    }
    statistics.recordWait(nowMs - pending.enqueuedMs)
    return true
  }

  const dispatchSuspect = (nowMs: number): void => {
    if (suspectOut !== null) return
    while (suspects[0]?.settled) suspects.shift()
    const suspect = suspects[0]
    if (suspect === undefined) {
      reserved = null
      return
    }
    // Use an idle worker if there is one. Otherwise, the reserved worker gets no more jobs until it is idle.
    const idle = handles.find((handle) => takesJobs(handle) && handle.inFlight.size === 0)
    if (reserved !== null && !takesJobs(reserved)) reserved = null
    reserved = idle ?? reserved ?? leastLoaded(limits.maxInFlight)
    if (reserved === null || reserved.inFlight.size > 0) return
    suspects.shift()
    if (assign(reserved, suspect, nowMs)) {
      suspectOut = suspect
      reserved.flush()
    } else {
      reserved = null
    }
  }

  const dispatch = (): void => {
    if (queue.size === 0 && suspects.length === 0 && reserved === null) return
    const nowMs = clock.monotonicMs()
    if (nowMs >= parts.leaseUntilMs) return
    dispatchSuspect(nowMs)
    const { meanServiceMs } = statistics
    const share = shareOf(meanServiceMs, limits)
    const depth = depthOf(turnMs, meanServiceMs, limits)
    while (queue.size > 0) {
      const handle = awake(share, nowMs) ?? leastLoaded(depth)
      if (handle === null) break
      const { size } = handle.inFlight
      const room = Math.min(size < share ? share - size : share, depth - size)
      for (let given = 0; given < room; given++) {
        const pending = queue.shift()
        if (pending === null) break
        assign(handle, pending, nowMs)
      }
    }
    for (const handle of handles) handle.flush()
  }

  return {
    dispatch,
    schedule: () => {
      if (scheduled) return
      scheduled = true
      const startedMs = clock.monotonicMs()
      timers.endOfTurn(() => {
        scheduled = false
        turnMs = Math.max(clock.monotonicMs() - startedMs, turnMs * TURN_MEMORY)
        dispatch()
      })
    },
    enqueueAlone: (pending) => {
      suspects.push(pending)
    },
    release: (pending) => {
      if (pending !== suspectOut) return
      suspectOut = null
      reserved = null
    },
  }
}

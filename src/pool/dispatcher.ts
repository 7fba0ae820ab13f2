// Hands queued jobs to the least-loaded workers. Jobs of one turn of the event loop go out together, one message per
// worker. A job during which a worker was lost goes out alone, to a worker that holds nothing else.
import { DependencyUnavailableError } from '../domain/errors.ts'
import { JobOutdatedError, type PendingJob } from './pending-job.ts'
import type { PoolLimits, PoolParts } from './pool-options.ts'
import type { Settlement } from './settlement.ts'
import type { WorkerHandle } from './worker-handle.ts'

export interface Dispatcher {
  /** Dispatches at the end of this turn. */
  schedule(): void
  /** Dispatches immediately. */
  dispatch(): void
  /** Enqueues a job that may have killed a worker. */
  enqueueAlone(pending: PendingJob): void
  /**
   * The worker has answered the job, or was lost with it: if the job was alone there, the worker may take others
   * again.
   */
  release(pending: PendingJob): void
}

/**
 * The number of jobs that a worker gets at once. A message wakes two threads, which costs as much as a fast signature:
 * measured with workers that do nothing, four jobs per message take about 60% of the processor time of one job per
 * message.
 */
export const shareOf = (meanServiceMs: number, limits: Pick<PoolLimits, 'wakeWorthMs' | 'maxShare'>): number =>
  meanServiceMs === 0 ? 1 : Math.max(1, Math.min(limits.maxShare, Math.floor(limits.wakeWorthMs / meanServiceMs)))

/**
 * The number of jobs that one worker may hold. While the main thread is busy with other things, above all with refusals
 * during a flood, it can't hand out more jobs. The worker then gets, in addition to its two batches, as many jobs as it
 * finishes in that time.
 */
export const depthOf = (
  turnMs: number,
  meanServiceMs: number,
  limits: Pick<PoolLimits, 'maxInFlight' | 'bridgedTurnMs'>,
): number =>
  meanServiceMs === 0
    ? limits.maxInFlight
    : limits.maxInFlight + Math.floor(Math.min(turnMs, limits.bridgedTurnMs) / meanServiceMs)

/** A worker that holds jobs and has not reported for this long is busy with a longer job. */
const AWAKE_MS = 1

/** After each turn, the longest turn so far counts for this fraction: some dozens of short turns forget it. */
const TURN_MEMORY = 0.98

const takesJobs = ({ state, recalled }: WorkerHandle): boolean => state === 'live' && !recalled

export const createDispatcher = (parts: PoolParts, settlement: Pick<Settlement, 'expire' | 'fail'>): Dispatcher => {
  const { queue, handles, clock, timers, limits, statistics } = parts
  let scheduled = false
  /** The longest recent turn of this thread, measured from a turn's first job on. */
  let turnMs = 0
  const suspects: PendingJob[] = []
  /** The suspect job that is out, or about to go out, and the worker reserved for it. */
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

  /** A worker that is awake and has less to do than is worth waking another for. */
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

  /** Dispatches one suspect job at a time, so that the other workers stay available. */
  const dispatchSuspect = (nowMs: number): void => {
    if (suspectOut !== null) return
    while (suspects[0]?.settled) suspects.shift()
    const suspect = suspects[0]
    if (suspect === undefined) {
      reserved = null
      return
    }
    // Take an idle worker if there is one; otherwise the first choice gets no more jobs until it is idle.
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

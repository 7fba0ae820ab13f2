// Distributes jobs to the least-loaded workers, one message per worker and turn of the event loop. A job that may have
// crashed a worker is retried alone, on an otherwise idle worker.
import { CountersignError, DependencyUnavailableError, ERRORS } from '../domain/errors.ts'
import type { PoolLimits, PoolParts } from './pool-options.ts'
import type { Outcome } from './protocol.ts'
import { JobOutdatedError, type PendingJob, type Settlement, type WithheldLedger } from './settlement.ts'
import type { OutcomeBatch } from './wire.ts'
import type { WorkerHandle } from './worker-handle.ts'

/** Jobs that a worker receives at once: a message costs about the same time as a fast signature. */
export const shareOf = (meanServiceMs: number, limits: Pick<PoolLimits, 'wakeWorthMs' | 'maxShare'>): number =>
  meanServiceMs === 0 ? 1 : Math.max(1, Math.min(limits.maxShare, Math.floor(limits.wakeWorthMs / meanServiceMs)))

/** Returns the maximum number of jobs per worker, including jobs that it can finish while the main thread is busy. */
export const depthOf = (
  turnMs: number,
  meanServiceMs: number,
  limits: Pick<PoolLimits, 'maxInFlight' | 'bridgedTurnMs'>,
): number =>
  meanServiceMs === 0
    ? limits.maxInFlight
    : limits.maxInFlight + Math.floor(Math.min(turnMs, limits.bridgedTurnMs) / meanServiceMs)

/** Time for which a worker with jobs counts as awake after its last report. */
const AWAKE_MS = 1

/** Decay per turn: after about 50 short turns, a long turn no longer matters. */
const TURN_MEMORY = 0.98

const policyNotLoaded = (): CountersignError =>
  new DependencyUnavailableError('the policy could not be loaded', { nothingSigned: true })

const takesJobs = ({ state, mustReturnJobs }: WorkerHandle): boolean => state === 'live' && !mustReturnJobs

export class Dispatcher {
  private scheduled = false
  /** Longest recent turn of the main thread, measured from the turn's first job. */
  private turnMs = 0
  private readonly suspects: PendingJob[] = []
  /** The worker reserved for the suspect job that is in flight or about to be sent. */
  private reserved: WorkerHandle | null = null
  private suspectOut: PendingJob | null = null

  constructor(
    private readonly parts: PoolParts,
    private readonly settlement: Pick<Settlement, 'expire' | 'fail'>,
  ) {}

  schedule(): void {
    if (this.scheduled) return
    this.scheduled = true
    const { clock, timers } = this.parts
    const startedMs = clock.monotonicMs()
    timers.endOfTurn(() => {
      this.scheduled = false
      this.turnMs = Math.max(clock.monotonicMs() - startedMs, this.turnMs * TURN_MEMORY)
      this.dispatch()
    })
  }

  dispatch(): void {
    const { queue, handles, clock, limits, statistics, leaseUntilMs } = this.parts
    if (queue.size === 0 && this.suspects.length === 0 && this.reserved === null) return
    const nowMs = clock.monotonicMs()
    if (nowMs >= leaseUntilMs) return
    this.dispatchSuspect(nowMs)
    const { meanServiceMs } = statistics
    const share = shareOf(meanServiceMs, limits)
    const depth = depthOf(this.turnMs, meanServiceMs, limits)
    while (queue.size > 0) {
      const handle = this.awake(share, nowMs) ?? this.leastLoaded(depth)
      if (handle === null) break
      const { size } = handle.inFlight
      const room = Math.min(size < share ? share - size : share, depth - size)
      for (let given = 0; given < room; given++) {
        const pending = queue.shift()
        if (pending === null) break
        this.assign(handle, pending, nowMs)
      }
    }
    for (const handle of handles) handle.flush()
  }

  enqueueAlone(pending: PendingJob): void {
    this.suspects.push(pending)
  }

  release(pending: PendingJob): void {
    if (pending !== this.suspectOut) return
    this.suspectOut = null
    this.reserved = null
  }

  private leastLoaded(depth: number): WorkerHandle | null {
    let best: WorkerHandle | null = null
    let load = depth
    for (const handle of this.parts.handles) {
      if (!takesJobs(handle) || handle === this.reserved || handle.inFlight.size >= load) continue
      best = handle
      load = handle.inFlight.size
    }
    return best
  }

  /** Returns an awake worker that holds less work than justifies waking another worker. */
  private awake(share: number, nowMs: number): WorkerHandle | null {
    for (const handle of this.parts.handles) {
      const { size } = handle.inFlight
      if (size === 0 || size >= share || !takesJobs(handle) || handle === this.reserved) continue
      if (nowMs - handle.lastProgressMs < AWAKE_MS) return handle
    }
    return null
  }

  private assign(handle: WorkerHandle, pending: PendingJob, nowMs: number): boolean {
    const { parts, settlement } = this
    if (pending.job.deadlineMs <= nowMs) {
      settlement.expire(pending)
      return false
    }
    if (pending.changes !== parts.changes && !pending.isCurrent()) {
      settlement.fail(pending, new JobOutdatedError())
      return false
    }
    if (!handle.assign(pending, nowMs)) {
      settlement.fail(pending, policyNotLoaded())
      return false
    }
    parts.statistics.recordWait(nowMs - pending.enqueuedMs)
    return true
  }

  private dispatchSuspect(nowMs: number): void {
    const { suspects } = this
    const { handles, limits } = this.parts
    if (this.suspectOut !== null) return
    while (suspects[0]?.settled) suspects.shift()
    const suspect = suspects[0]
    if (suspect === undefined) {
      this.reserved = null
      return
    }
    // Use an idle worker if there is one. Otherwise, the reserved worker gets no more jobs until it is idle.
    const idle = handles.find((handle) => takesJobs(handle) && handle.inFlight.size === 0)
    if (this.reserved !== null && !takesJobs(this.reserved)) this.reserved = null
    this.reserved = idle ?? this.reserved ?? this.leastLoaded(limits.maxInFlight)
    const { reserved } = this
    if (reserved === null || reserved.inFlight.size > 0) return
    suspects.shift()
    if (this.assign(reserved, suspect, nowMs)) {
      this.suspectOut = suspect
      reserved.flush()
    } else {
      this.reserved = null
    }
  }
}

/** Returns false if the answer arrived too late and must be withheld. */
const takeOutcome = (
  { queue, limits, onEvent }: PoolParts,
  settlement: Settlement,
  handle: WorkerHandle,
  pending: PendingJob,
  outcome: Outcome,
): boolean => {
  if (outcome.status === 'answered') return settlement.answer(pending, outcome)
  if (pending.settled) return true
  pending.mayBeSigned = outcome.status === 'failed' && !outcome.nothingSigned
  if (outcome.status === 'unsigned') {
    settlement.answer(pending, { compliant: true, ruleId: null, body: '' })
  } else if (outcome.status === 'target-not-cached') {
    handle.forgetTarget(pending)
    pending.redefinitions += 1
    if (pending.redefinitions <= limits.maxRedefinitions) queue.pushHead(pending)
    else settlement.fail(pending, policyNotLoaded())
  } else if (outcome.status === 'lease-ended') {
    queue.pushHead(pending)
  } else if (outcome.code !== 'DEADLINE_EXCEEDED') {
    // Ignore DEADLINE_EXCEEDED: the worker's clock may be ahead. The deadline timer answers 408.
    const { requestId, uuid } = pending.job
    const { code, detail, errorClass, rule, nothingSigned } = outcome
    if (rule !== undefined) onEvent({ type: 'rule-failed', requestId, uuid, ...rule })
    else if (errorClass !== null) onEvent({ type: 'job-failed', requestId, uuid, errorClass })
    const retryAfter = ERRORS[code].status === 503 ? { retryAfterSeconds: 1 } : {}
    settlement.fail(pending, new CountersignError(code, detail, { ...retryAfter, nothingSigned }))
  }
  return true
}

export const takeOutcomes = (
  parts: PoolParts,
  settlement: Settlement,
  withheld: WithheldLedger,
  dispatcher: Dispatcher,
  handle: WorkerHandle,
  batch: OutcomeBatch,
): void => {
  const { clock, statistics } = parts
  const nowMs = clock.monotonicMs()
  statistics.recordBatch(batch.busyMs, batch.outcomes.length)
  const late: string[] = []
  for (const outcome of batch.outcomes) {
    const pending = handle.inFlight.get(outcome.sequence)
    if (pending === undefined) continue
    handle.inFlight.delete(outcome.sequence)
    dispatcher.release(pending)
    statistics.recordRun(nowMs - pending.dispatchedMs)
    if (outcome.status === 'answered' && outcome.shadow !== undefined) statistics.shadows[outcome.shadow] += 1
    const { stages } = pending.job
    if (stages !== undefined) {
      stages.answeredMs = nowMs
      if (outcome.status === 'answered') stages.worker = outcome.stages ?? stages.worker
    }
    if (!takeOutcome(parts, settlement, handle, pending, outcome)) late.push(pending.job.uuid)
  }
  if (late.length > 0) withheld.withhold(late)
  if (handle.mustReturnJobs && handle.inFlight.size === 0) {
    handle.mustReturnJobs = false
    handle.renewLease(parts.leaseUntilMs)
  }
  dispatcher.dispatch()
}

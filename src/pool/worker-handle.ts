// The pool's state of one worker: sent messages, known targets and the offset of the worker's clock. A handle makes no
// decisions: the supervisor reads it to detect hangs, and the dispatcher reads it to choose a worker.
import type { Clock } from '../lib/time.ts'
import type { SentRevision } from '../policy/types/program.ts'
import {
  type ControlMessage,
  CURRENT_NONE,
  createSharedState,
  fence,
  LATCH_FENCED,
  SHARED_CURRENT,
  SHARED_HEARTBEAT,
  SHARED_LATCH,
  setLease,
  type WorkerReport,
  type WorkerSettings,
} from './protocol.ts'
import type { PendingJob } from './settlement.ts'
import type { OpenPort, OutcomeBatch } from './wire.ts'

export type ReadyReport = Extract<WorkerReport, { type: 'ready' }>

/**
 * starting → live → draining → closing → gone. Any state can change to lost: the worker is fenced and its jobs are
 * reassigned.
 */
export type WorkerState = 'starting' | 'live' | 'draining' | 'closing' | 'lost' | 'gone'

export interface WorkerHandleOptions {
  readonly slot: number
  readonly generation: number
  readonly settings: Omit<WorkerSettings, 'slot' | 'generation' | 'shared'>
  readonly spawn: OpenPort
  readonly clock: Clock
  readonly maxBatch: number
  readonly revision: (revisionId: string) => SentRevision | undefined
  readonly on: {
    /** Called when the worker has started and its clock offset is known: jobs may be sent. */
    readonly live: (handle: WorkerHandle) => void
    readonly outcomes: (handle: WorkerHandle, batch: OutcomeBatch) => void
    /** Called when a draining worker has answered its last job. */
    readonly drained: (handle: WorkerHandle) => void
    readonly report: (handle: WorkerHandle, report: WorkerReport) => void
    readonly protocolError: (handle: WorkerHandle) => void
    readonly closed: (handle: WorkerHandle) => void
  }
}

export interface WorkerHandle {
  readonly slot: number
  readonly generation: number
  /**
   * Jobs sent to the worker and not answered by it, by sequence. Includes jobs whose request was already answered 408.
   */
  readonly inFlight: Map<number, PendingJob>
  /** Uuids sent to the worker to record as withheld, and not yet confirmed. */
  readonly withheld: Set<string>
  state: WorkerState
  ready: ReadyReport | null
  /** Time of the worker's last progress, or of its last assignment while idle. */
  lastProgressMs: number
  /** True once the worker has answered a batch. A later loss doesn't count as a failed start. */
  proven: boolean
  attestersVersion: number
  /** True once the thread has ended. False for a thread that was only abandoned. */
  threadGone: boolean
  /**
   * True if the lease was renewed after it had ended. The worker first returns its current jobs, which may be outdated.
   */
  recalled: boolean
  /** Lets the worker decide until `untilMs` on the main thread's clock. Has no effect on a recalled worker. */
  renewLease(untilMs: number): void
  /** Adds a job to the next message. Returns false if its policy revision is unavailable. */
  assign(pending: PendingJob, nowMs: number): boolean
  /** Sends the assigned jobs, at most `maxBatch` per message. */
  flush(): void
  control(message: ControlMessage): void
  /** Call when the worker has evicted this target: the next job sends it again. */
  forgetTarget(pending: PendingJob): void
  heartbeat(): number
  /** Returns the sequence of the worker's current job, or CURRENT_NONE. */
  current(): number
  latch(): number
  /** See protocol.ts. If the thread has ended, returns true regardless of the latch. */
  fence(): boolean
  terminate(): void
}

/**
 * Number of clock handshakes at the start. Each gives an upper bound of the clocks' difference; the smallest is used.
 */
const CLOCK_ROUNDS = 3

/** @throws the errors of `spawn` */
export const createWorkerHandle = (options: WorkerHandleOptions): WorkerHandle => {
  const { slot, generation, clock, on } = options
  const shared = createSharedState()
  const words = new Int32Array(shared)
  const knownTargets = new Set<string>()
  const knownRevisions = new Set<string>()
  const knownLimit = options.settings.revisionCacheSize
  let outbox: PendingJob[] = []
  let clockRounds = 0
  /** Main clock minus worker clock, never underestimated: the worker never assumes more time than remains. */
  let clockOffsetMs = Number.POSITIVE_INFINITY

  const control = (message: ControlMessage): void => port.control(message)

  const askClock = (): void => control({ type: 'clock' })

  const takeClock = (workerMs: number): void => {
    clockOffsetMs = Math.min(clockOffsetMs, clock.monotonicMs() - workerMs)
    clockRounds += 1
    if (clockRounds < CLOCK_ROUNDS) {
      askClock()
      return
    }
    handle.state = 'live'
    on.live(handle)
  }

  const takeReport = (report: WorkerReport): void => {
    if (report.type === 'ready' && handle.state === 'starting') {
      handle.ready = report
      askClock()
    } else if (report.type === 'clock' && handle.state === 'starting') {
      takeClock(report.workerMs)
    } else {
      on.report(handle, report)
    }
  }

  const define = (pending: PendingJob): boolean => {
    const { target } = pending
    if (knownTargets.has(target.id)) return true
    const wanted = [target.revisionId, ...(target.shadowRevisionId === null ? [] : [target.shadowRevisionId])]
    const revisions: SentRevision[] = []
    for (const revisionId of wanted) {
      if (knownRevisions.has(revisionId)) continue
      const revision = options.revision(revisionId)
      if (revision === undefined) return false
      revisions.push(revision)
    }
    // A forgotten definition is sent again; remembering all of them would need unbounded memory.
    if (knownTargets.size >= knownLimit) knownTargets.clear()
    if (knownRevisions.size >= knownLimit) knownRevisions.clear()
    knownTargets.add(target.id)
    for (const revisionId of wanted) knownRevisions.add(revisionId)
    control({ type: 'define', targets: [target], revisions })
    return true
  }

  const handle: WorkerHandle = {
    slot,
    generation,
    inFlight: new Map(),
    withheld: new Set(),
    state: 'starting',
    ready: null,
    lastProgressMs: clock.monotonicMs(),
    proven: false,
    attestersVersion: 0,
    threadGone: false,
    recalled: false,
    renewLease: (untilMs) => {
      if (!handle.recalled) setLease(words, untilMs - clockOffsetMs)
    },
    assign: (pending, nowMs) => {
      if (!define(pending)) return false
      if (handle.inFlight.size === 0) handle.lastProgressMs = nowMs
      handle.inFlight.set(pending.sequence, pending)
      pending.dispatchedMs = nowMs
      pending.mayBeSigned = true
      outbox.push(pending)
      if (pending.job.stages !== undefined) Object.assign(pending.job.stages, { dispatchedMs: nowMs, clockOffsetMs })
      return true
    },
    flush: () => {
      if (outbox.length === 0) return
      const jobs = outbox
      outbox = []
      for (let start = 0; start < jobs.length; start += options.maxBatch) {
        port.work(jobs.slice(start, start + options.maxBatch), clockOffsetMs)
      }
    },
    control,
    forgetTarget: ({ target }) => {
      knownTargets.delete(target.id)
      knownRevisions.delete(target.revisionId)
      if (target.shadowRevisionId !== null) knownRevisions.delete(target.shadowRevisionId)
    },
    heartbeat: () => Atomics.load(words, SHARED_HEARTBEAT),
    current: () => Atomics.load(words, SHARED_CURRENT),
    latch: () => Atomics.load(words, SHARED_LATCH),
    fence: () => {
      if (!handle.threadGone) return fence(words)
      Atomics.store(words, SHARED_LATCH, LATCH_FENCED)
      return true
    },
    terminate: () => port.terminate(),
  }

  /** Returns false for an abandoned worker. Its late answers are ignored, because its log has already been read. */
  const noteMessage = (): boolean => {
    if (handle.state === 'lost' || handle.state === 'gone') return false
    handle.lastProgressMs = clock.monotonicMs()
    return true
  }

  const port = options.spawn({
    outcomes: (batch) => {
      if (!noteMessage()) return
      handle.proven = true
      on.outcomes(handle, batch)
      if (handle.state === 'draining' && handle.inFlight.size === 0) on.drained(handle)
    },
    report: (report) => {
      if (noteMessage()) takeReport(report)
    },
    protocolError: () => on.protocolError(handle),
    closed: () => {
      if (handle.threadGone) return
      handle.threadGone = true
      on.closed(handle)
    },
  })
  control({ type: 'start', settings: { ...options.settings, slot, generation, shared } })
  return handle
}

/** Returns the job that the worker was processing, or null. */
export const culpritOf = (handle: WorkerHandle): PendingJob | null => {
  const current = handle.current()
  return current === CURRENT_NONE ? null : (handle.inFlight.get(current) ?? null)
}

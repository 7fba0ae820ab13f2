// One worker as the pool sees it: the messages that it was sent, the targets that it knows, and the
// offset of its clock. The handle decides nothing: the supervisor reads it to judge the thread, the pool to choose a
// worker.
import type { Clock } from '../lib/time.ts'
import type { SentRevision } from '../policy/types/program.ts'
import type { PendingJob } from './pending-job.ts'
import type { OpenPort } from './port.ts'
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
import type { OutcomeBatch } from './wire.ts'

export type ReadyReport = Extract<WorkerReport, { type: 'ready' }>

/** starting → live → draining → closing → gone; from any state to lost: fenced, and its jobs taken away. */
export type WorkerState = 'starting' | 'live' | 'draining' | 'closing' | 'lost' | 'gone'

export interface WorkerHandleOptions {
  readonly slot: number
  readonly generation: number
  /** All settings except the shared state, which the handle creates. */
  readonly settings: Omit<WorkerSettings, 'slot' | 'generation' | 'shared'>
  readonly spawn: OpenPort
  readonly clock: Clock
  readonly maxBatch: number
  readonly revision: (revisionId: string) => SentRevision | undefined
  readonly on: {
    /** Called when the worker has started and its clock is known: jobs may be sent. */
    readonly live: (handle: WorkerHandle) => void
    readonly outcomes: (handle: WorkerHandle, batch: OutcomeBatch) => void
    readonly report: (handle: WorkerHandle, report: WorkerReport) => void
    /** Called when the worker sent something that none of our workers sends. */
    readonly protocolError: (handle: WorkerHandle) => void
    /** Called when the thread has ended. */
    readonly closed: (handle: WorkerHandle) => void
  }
}

export interface WorkerHandle {
  readonly slot: number
  readonly generation: number
  /**
   * Jobs that were sent and that the worker has not answered, by sequence, including those whose request was answered
   * 408 meanwhile.
   */
  readonly inFlight: Map<number, PendingJob>
  /** Uuids that the worker was told to record as withheld and has not confirmed. */
  readonly withheld: Set<string>
  state: WorkerState
  ready: ReadyReport | null
  /** When the worker last made progress, or got work while idle. */
  lastProgressMs: number
  /** Whether the worker has answered at least one batch, so that a later loss is not a failed start. */
  proven: boolean
  /** Version of the attester keys it signs with. */
  attestersVersion: number
  /** Whether the thread has ended, and was not only given up. */
  threadGone: boolean
  /**
   * Whether the lease was renewed after it had expired. The worker gets new jobs after it has returned its current
   * jobs, which may be outdated.
   */
  recalled: boolean
  /** Lets the worker decide until then, on the main thread's clock. A recalled worker waits. */
  renewLease(untilMs: number): void
  /** Adds a job to the next message. False when its policy revision can't be had. */
  assign(pending: PendingJob, nowMs: number): boolean
  /** Sends the assigned jobs, at most `maxBatch` per message. */
  flush(): void
  control(message: ControlMessage): void
  /** Call when the worker no longer holds this target: it is sent again. */
  forgetTarget(pending: PendingJob): void
  heartbeat(): number
  /** Sequence of the job that the worker is working on, or CURRENT_NONE. */
  current(): number
  latch(): number
  /** See protocol.ts. If the thread has ended, the latch counts as closed, whatever its value. */
  fence(): boolean
  terminate(): void
}

/** Handshakes at the start. Each gives an upper bound of the clocks' difference; the smallest is used. */
const CLOCK_ROUNDS = 3

/** @throws whatever `spawn` throws. */
export const createWorkerHandle = (options: WorkerHandleOptions): WorkerHandle => {
  const { slot, generation, clock, on } = options
  const shared = createSharedState()
  const words = new Int32Array(shared)
  const knownTargets = new Set<string>()
  const knownRevisions = new Set<string>()
  const knownLimit = options.settings.revisionCacheSize
  let outbox: PendingJob[] = []
  let clockRounds = 0
  /** Main clock minus worker clock, never too small: the worker never believes that it has more time than it has. */
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
    // Forgetting what was sent costs a second definition; remembering everything would need unbounded memory.
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

  /**
   * False for a worker that was given up. It may still have answers under way: what it recorded was already read from its
   * log.
   */
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

/** The job that the worker was working on, found by its sequence. */
export const culpritOf = (handle: WorkerHandle): PendingJob | null => {
  const current = handle.current()
  return current === CURRENT_NONE ? null : (handle.inFlight.get(current) ?? null)
}

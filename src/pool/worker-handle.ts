// The pool's state of one worker. The supervisor reads it to detect hangs, and the dispatcher to choose a worker.
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
import type { OpenPort, OutcomeBatch, WorkerPort } from './wire.ts'

export type ReadyReport = Extract<WorkerReport, { type: 'ready' }>

/** starting → live → draining → closing → gone. Any state can change to lost: the worker is fenced. */
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
    /** The worker has started and its clock offset is known: jobs may be sent. */
    readonly live: (handle: WorkerHandle) => void
    readonly outcomes: (handle: WorkerHandle, batch: OutcomeBatch) => void
    readonly drained: (handle: WorkerHandle) => void
    readonly report: (handle: WorkerHandle, report: WorkerReport) => void
    readonly protocolError: (handle: WorkerHandle) => void
    readonly closed: (handle: WorkerHandle) => void
  }
}

/** Clock handshakes at startup: each gives an upper bound of the clocks' difference; the smallest is used. */
const CLOCK_ROUNDS = 3

export class WorkerHandle {
  readonly slot: number
  readonly generation: number
  /** Unanswered jobs by sequence, including those already answered 408. */
  readonly inFlight = new Map<number, PendingJob>()
  /** Uuids that the worker must record as withheld and has not confirmed. */
  readonly withheld = new Set<string>()
  state: WorkerState = 'starting'
  ready: ReadyReport | null = null
  /** Time of the worker's last progress, or of its last assignment while idle. */
  lastProgressMs: number
  /** True once the worker has answered a batch. A later loss doesn't count as a failed start. */
  proven = false
  attestersVersion = 0
  /** True once the thread has ended; false if it was only abandoned. */
  threadGone = false
  /** True if an ended lease was renewed. The worker first returns its current jobs, which may be outdated. */
  mustReturnJobs = false
  private readonly words: Int32Array
  private readonly knownTargets = new Set<string>()
  private readonly knownRevisions = new Set<string>()
  private outbox: PendingJob[] = []
  private clockRounds = 0
  /** Main clock minus worker clock, never underestimated: the worker never assumes more time than remains. */
  private clockOffsetMs = Number.POSITIVE_INFINITY
  private readonly port: WorkerPort

  constructor(private readonly options: WorkerHandleOptions) {
    const { slot, generation, settings, clock, on } = options
    this.slot = slot
    this.generation = generation
    this.lastProgressMs = clock.monotonicMs()
    const shared = createSharedState()
    this.words = new Int32Array(shared)
    this.port = options.spawn({
      outcomes: (batch) => this.takeOutcomes(batch),
      report: (report) => {
        if (this.noteMessage()) this.takeReport(report)
      },
      protocolError: () => on.protocolError(this),
      closed: () => {
        if (this.threadGone) return
        this.threadGone = true
        on.closed(this)
      },
    })
    this.control({ type: 'start', settings: { ...settings, slot, generation, shared } })
  }

  /** Adds a job to the next message. Returns false if its policy revision is unavailable. */
  assign(pending: PendingJob, nowMs: number): boolean {
    if (!this.define(pending)) return false
    if (this.inFlight.size === 0) this.lastProgressMs = nowMs
    this.inFlight.set(pending.sequence, pending)
    pending.dispatchedMs = nowMs
    pending.mayBeSigned = true
    this.outbox.push(pending)
    const { stages } = pending.job
    if (stages !== undefined) Object.assign(stages, { dispatchedMs: nowMs, clockOffsetMs: this.clockOffsetMs })
    return true
  }

  flush(): void {
    if (this.outbox.length === 0) return
    const jobs = this.outbox
    this.outbox = []
    const { maxBatch } = this.options
    for (let start = 0; start < jobs.length; start += maxBatch) {
      this.port.work(jobs.slice(start, start + maxBatch), this.clockOffsetMs)
    }
  }

  control(message: ControlMessage): void {
    this.port.control(message)
  }

  /** Call when the worker has evicted this target: the next job sends it again. */
  forgetTarget({ target }: PendingJob): void {
    this.knownTargets.delete(target.id)
    this.knownRevisions.delete(target.revisionId)
    if (target.shadowRevisionId !== null) this.knownRevisions.delete(target.shadowRevisionId)
  }

  /** Lets the worker decide until `untilMs` on the main clock. Has no effect while the worker must return its jobs. */
  renewLease(untilMs: number): void {
    if (!this.mustReturnJobs) setLease(this.words, untilMs - this.clockOffsetMs)
  }

  heartbeat(): number {
    return Atomics.load(this.words, SHARED_HEARTBEAT)
  }

  current(): number {
    return Atomics.load(this.words, SHARED_CURRENT)
  }

  latch(): number {
    return Atomics.load(this.words, SHARED_LATCH)
  }

  /** See protocol.ts. If the thread has ended, returns true regardless of the latch. */
  fence(): boolean {
    if (!this.threadGone) return fence(this.words)
    Atomics.store(this.words, SHARED_LATCH, LATCH_FENCED)
    return true
  }

  terminate(): void {
    this.port.terminate()
  }

  private define({ target }: PendingJob): boolean {
    const { knownTargets, knownRevisions } = this
    if (knownTargets.has(target.id)) return true
    const { revision: find, settings } = this.options
    const wanted = [target.revisionId, ...(target.shadowRevisionId === null ? [] : [target.shadowRevisionId])]
    const revisions: SentRevision[] = []
    for (const revisionId of wanted) {
      if (knownRevisions.has(revisionId)) continue
      const revision = find(revisionId)
      if (revision === undefined) return false
      revisions.push(revision)
    }
    // A forgotten definition is sent again; remembering all of them would need unbounded memory.
    if (knownTargets.size >= settings.revisionCacheSize) knownTargets.clear()
    if (knownRevisions.size >= settings.revisionCacheSize) knownRevisions.clear()
    knownTargets.add(target.id)
    for (const revisionId of wanted) knownRevisions.add(revisionId)
    this.control({ type: 'define', targets: [target], revisions })
    return true
  }

  private takeOutcomes(batch: OutcomeBatch): void {
    if (!this.noteMessage()) return
    this.proven = true
    const { on } = this.options
    on.outcomes(this, batch)
    if (this.state === 'draining' && this.inFlight.size === 0) on.drained(this)
  }

  private takeReport(report: WorkerReport): void {
    if (report.type === 'ready' && this.state === 'starting') {
      this.ready = report
      this.control({ type: 'clock' })
    } else if (report.type === 'clock' && this.state === 'starting') {
      this.takeClock(report.workerMs)
    } else {
      this.options.on.report(this, report)
    }
  }

  private takeClock(workerMs: number): void {
    const { clock, on } = this.options
    this.clockOffsetMs = Math.min(this.clockOffsetMs, clock.monotonicMs() - workerMs)
    this.clockRounds += 1
    if (this.clockRounds < CLOCK_ROUNDS) {
      this.control({ type: 'clock' })
      return
    }
    this.state = 'live'
    on.live(this)
  }

  /** Returns false for an abandoned worker. Its late answers are ignored, because its log has already been read. */
  private noteMessage(): boolean {
    if (this.state === 'lost' || this.state === 'gone') return false
    this.lastProgressMs = this.options.clock.monotonicMs()
    return true
  }
}

export const culpritOf = (handle: WorkerHandle): PendingJob | null => {
  const current = handle.current()
  return current === CURRENT_NONE ? null : (handle.inFlight.get(current) ?? null)
}

// A worker without a thread; the test reads its messages, and decides its answers and its end.
import {
  type ControlMessage,
  CURRENT_NONE,
  LATCH_COMMITTING,
  LATCH_IDLE,
  type Outcome,
  SHARED_CURRENT,
  SHARED_HEARTBEAT,
  SHARED_LATCH,
  type WorkerReport,
  type WorkerSettings,
} from '../../../src/pool/protocol.ts'
import { type DispatchedJob, decodeJobs, encodeOutcomes, type SigningThread } from '../../../src/pool/wire.ts'

export interface FakeWorkerBehaviour {
  /** The failure that it reports instead of starting. */
  readonly unusable?: string
  /** Sends no message. */
  readonly silent?: boolean
  /** Its thread survives `terminate`, like a thread in native code. */
  readonly unkillable?: boolean
  /** How far its clock is ahead of the main thread's clock. */
  readonly clockAheadMs?: number
  /** The reason why it cannot load new keys. */
  readonly attestersReason?: string
  /** Does not answer `attesters` and `withheld` messages. */
  readonly mute?: boolean
}

export const bodyOf = (job: { readonly uuid: string }): string => JSON.stringify({ uuid: job.uuid, text: 'ünï\ncode' })

export class FakeWorker implements SigningThread {
  readonly batches: DispatchedJob[][] = []
  readonly controls: ControlMessage[] = []
  readonly behaviour: FakeWorkerBehaviour
  settings: WorkerSettings | null = null
  terminated = false
  dead = false
  /** Undelivered messages and events. */
  private outbox: (() => void)[] = []
  private readonly messageListeners: ((event: { readonly data: unknown }) => void)[] = []
  private readonly closeListeners: (() => void)[] = []
  private readonly nowMs: () => number

  constructor(nowMs: () => number, behaviour: FakeWorkerBehaviour = {}) {
    this.nowMs = nowMs
    this.behaviour = behaviour
  }

  addEventListener(type: string, listener: (event: { readonly data: unknown }) => void): void {
    if (type === 'message') this.messageListeners.push(listener)
    if (type === 'close') this.closeListeners.push(() => listener({ data: undefined }))
  }

  postMessage(message: unknown): void {
    if (this.dead) return
    if (typeof message === 'string') this.batches.push(decodeJobs(message))
    else this.control(message as ControlMessage)
  }

  terminate(): void {
    this.terminated = true
    if (!this.behaviour.unkillable) this.die()
  }

  /** Ends its thread. */
  die(): void {
    if (this.dead) return
    this.dead = true
    this.outbox.push(() => {
      for (const listener of this.closeListeners) listener()
    })
  }

  report(report: WorkerReport | string): void {
    this.outbox.push(() => {
      for (const listener of this.messageListeners) listener({ data: report })
    })
  }

  /** Delivers its messages. Returns false if there were none. */
  deliver(): boolean {
    const deliveries = this.outbox
    this.outbox = []
    for (const delivery of deliveries) delivery()
    return deliveries.length > 0
  }

  get words(): Int32Array {
    if (this.settings === null) throw new Error('the worker was not started')
    return new Int32Array(this.settings.shared)
  }

  /** All jobs that it received. */
  get jobs(): DispatchedJob[] {
    return this.batches.flat()
  }

  work(job: DispatchedJob): void {
    Atomics.store(this.words, SHARED_CURRENT, job.sequence)
    Atomics.add(this.words, SHARED_HEARTBEAT, 1)
  }

  rest(): void {
    Atomics.store(this.words, SHARED_CURRENT, CURRENT_NONE)
  }

  enterCommit(): void {
    this.rest()
    Atomics.store(this.words, SHARED_LATCH, LATCH_COMMITTING)
  }

  leaveCommit(): boolean {
    return Atomics.compareExchange(this.words, SHARED_LATCH, LATCH_COMMITTING, LATCH_IDLE) === LATCH_COMMITTING
  }

  answer(jobs: readonly DispatchedJob[] = this.jobs, busyMs = 1): void {
    const answered = { status: 'answered', compliant: true, ruleId: 'rule' } as const
    this.outcomes(
      jobs.map((job) => ({ ...answered, sequence: job.sequence, body: bodyOf(job) })),
      busyMs,
    )
  }

  outcomes(outcomes: readonly Outcome[], busyMs = 1): void {
    if (!this.dead) this.report(encodeOutcomes({ busyMs, outcomes }))
  }

  private control(message: ControlMessage): void {
    this.controls.push(message)
    if (message.type === 'start') this.settings = message.settings
    if (this.behaviour.silent) return
    if (message.type === 'start') this.start()
    if (message.type === 'clock') {
      this.report({ type: 'clock', workerMs: this.nowMs() + (this.behaviour.clockAheadMs ?? 0) })
    }
    if (message.type === 'close') this.report({ type: 'closed' })
    if (this.behaviour.mute) return
    if (message.type === 'attesters') {
      const reason = this.behaviour.attestersReason ?? ''
      this.report({ type: 'attesters-loaded', version: message.version, ok: reason === '', reason })
    }
    if (message.type === 'withheld') this.report({ type: 'withheld-recorded', uuids: message.uuids })
  }

  private start(): void {
    const { unusable: reason } = this.behaviour
    const segmentPath = `/decisions/w0${this.settings?.slot}/segment`
    if (reason !== undefined) this.report({ type: 'unusable', reason })
    else this.report({ type: 'ready', signer: 'fake', evmAttesters: [], solanaAttesters: [], segmentPath })
  }
}

// Handles the pool's messages to a worker, in a signing thread or inline.
import type { ControlMessage, WorkerReport, WorkerSettings } from '../../src/pool/protocol.ts'
import type { DispatchedJob, OutcomeBatch } from '../../src/pool/wire.ts'
import type { Keyring } from '../../src/signing/types.ts'
import { type BatchProcessor, createBatchProcessor } from './batch-processor.ts'
import { createDecide, type WorkerClock } from './decide.ts'
import { createPolicies, type Policies } from './policies.ts'
import { createRecorder, type Recorder } from './record.ts'
import { setupReason, type WorkerParts } from './setup.ts'
import { createSign, type Sign } from './sign.ts'
import { createLists, type Lists } from './worker-lists.ts'

export interface ControllerDependencies {
  readonly outcomes: (batch: OutcomeBatch) => void
  readonly report: (report: WorkerReport) => void
  /** @param isClosing if it returns true, do not open the log: another worker may have the slot */
  readonly open: (settings: WorkerSettings, isClosing: () => boolean) => Promise<WorkerParts>
  readonly clock: WorkerClock
  /** Runs the work soon, after the messages that have already arrived. */
  readonly later: (work: () => void) => void
}

/** Keys in use, and the function that signs with them. Jobs are decided synchronously, so no job sees keys change. */
interface Signer {
  keyring: Keyring
  sign: Sign
}

interface Running {
  readonly parts: WorkerParts
  readonly batches: BatchProcessor
  readonly recorder: Recorder
  readonly policies: Policies
  readonly lists: Lists
  readonly signer: Signer
}

const run = (settings: WorkerSettings, parts: WorkerParts, { clock, report }: ControllerDependencies): Running => {
  const words = new Int32Array(settings.shared)
  const policies = createPolicies({ maxEntries: settings.revisionCacheSize, monotonicMs: clock.monotonicMs })
  const lists = createLists(clock)
  const { keyring, digesters, segment } = parts
  const signer: Signer = { keyring, sign: createSign(keyring, digesters) }
  const onWithheld = (uuids: readonly string[]): void => report({ type: 'withheld-recorded', uuids })
  const recorder = createRecorder({ words, segment, clock, onWithheld })
  const decide = createDecide({ policies, lists, signer, clock })
  const batches = createBatchProcessor({ words, decide, prepare: policies.prepare, recorder, clock })
  return { parts, recorder, batches, policies, lists, signer }
}

/** An error in a batch is a bug: it ends the worker, and the pool detects this. */
export class Controller {
  private running: Running | null = null
  private closing = false
  private resuming = false
  private readonly loading = new Set<number>()
  /** Opened keys that are not yet in use, by version. */
  private readonly staged = new Map<number, Keyring>()

  constructor(private readonly dependencies: ControllerDependencies) {}

  work(jobs: readonly DispatchedJob[]): void {
    if (this.running !== null) this.postOutcomes(this.running.batches.take(jobs))
  }

  control(message: ControlMessage): void {
    const { running } = this
    const { report, clock } = this.dependencies
    if (message.type === 'start') void this.start(message.settings)
    else if (message.type === 'clock') report({ type: 'clock', workerMs: clock.monotonicMs() })
    else if (message.type === 'close') this.close()
    else if (running === null) return
    else if (message.type === 'define') running.policies.define(message.targets, message.revisions)
    else if (message.type === 'lists') running.lists.update(message.images, message.removedIds)
    else if (message.type === 'withheld') running.recorder.withhold(message.uuids)
    else if (message.type === 'attesters') void this.stage(message, running)
    else if (message.type === 'attesters-commit') this.commit(message.version, running)
    else this.discard(message.version)
  }

  /** Erases the keys and closes the log without writing to it. The worker answers nothing afterwards. */
  end(): void {
    this.closing = true
    this.loading.clear()
    for (const keyring of this.staged.values()) keyring.erase()
    this.staged.clear()
    this.running?.parts.segment.close()
    this.running?.signer.keyring.erase()
    this.running = null
  }

  private postOutcomes(batch: OutcomeBatch | null): void {
    const { outcomes, later } = this.dependencies
    if (batch !== null) outcomes(batch)
    if (this.resuming || this.running?.batches.waits() !== true) return
    this.resuming = true
    later(() => {
      this.resuming = false
      if (this.running !== null) this.postOutcomes(this.running.batches.resume())
    })
  }

  private async start(settings: WorkerSettings): Promise<void> {
    const { open, report } = this.dependencies
    try {
      const parts = await open(settings, () => this.closing)
      this.running = run(settings, parts, this.dependencies)
      if (this.closing) {
        this.close()
        return
      }
      report({
        type: 'ready',
        signer: parts.signer,
        evmAttesters: parts.keyring.evm.map(({ address }) => address),
        solanaAttesters: parts.keyring.solana.map(({ address }) => address),
        segmentPath: parts.segment.path,
      })
    } catch (error) {
      report(this.closing ? { type: 'closed' } : { type: 'unusable', reason: setupReason(error) })
    }
  }

  private async stage(
    { version, attesters }: Extract<ControlMessage, { type: 'attesters' }>,
    { parts, signer }: Running,
  ): Promise<void> {
    const { report } = this.dependencies
    this.loading.add(version)
    try {
      const keyring = await parts.openKeyring(attesters, signer.keyring)
      // The version was discarded in the meantime: another worker could not load it, or this worker has ended.
      if (this.loading.delete(version)) this.staged.set(version, keyring)
      else keyring.erase()
      report({ type: 'attesters-loaded', version, ok: true, reason: '' })
    } catch (error) {
      this.loading.delete(version)
      report({ type: 'attesters-loaded', version, ok: false, reason: setupReason(error) })
    }
  }

  private commit(version: number, { parts, signer }: Running): void {
    const keyring = this.staged.get(version)
    this.staged.delete(version)
    if (keyring === undefined) return
    const previous = signer.keyring
    signer.keyring = keyring
    signer.sign = createSign(keyring, parts.digesters)
    previous.erase()
  }

  private discard(version: number): void {
    this.loading.delete(version)
    this.staged.get(version)?.erase()
    this.staged.delete(version)
  }

  private close(): void {
    this.closing = true
    if (this.running === null) return
    this.running.recorder.commit([])
    this.end()
    this.dependencies.report({ type: 'closed' })
  }
}

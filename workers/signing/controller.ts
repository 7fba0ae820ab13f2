// Handles the pool's messages to a worker. Used by the entry point of a signing thread, by the inline worker and by
// tests.
import type { ControlMessage, WorkerReport, WorkerSettings } from '../../src/pool/protocol.ts'
import type { DispatchedJob, OutcomeBatch } from '../../src/pool/wire.ts'
import type { Keyring } from '../../src/signing/types.ts'
import { type Attest, createAttest } from './attest.ts'
import { createDecide, type WorkerClock } from './decide.ts'
import { createPolicies } from './policies.ts'
import { createRecorder, type Recorder } from './record.ts'
import { setupReason, type WorkerParts } from './setup.ts'
import { createSign, type Sign } from './sign.ts'
import { createLists, type Lists } from './worker-lists.ts'

export interface ControllerDependencies {
  readonly outcomes: (batch: OutcomeBatch) => void
  readonly report: (report: WorkerReport) => void
  /** @param isClosing if it returns true, the log must not be opened: another worker may have the slot */
  readonly open: (settings: WorkerSettings, isClosing: () => boolean) => Promise<WorkerParts>
  readonly clock: WorkerClock
  /** Runs the work soon, after the messages that have already arrived. */
  readonly later: (work: () => void) => void
}

interface Running {
  readonly parts: WorkerParts
  readonly attest: Attest
  readonly recorder: Recorder
  readonly define: (message: Extract<ControlMessage, { type: 'define' }>) => void
  readonly lists: Lists
  readonly keyring: () => Keyring
  readonly useKeyring: (keyring: Keyring) => void
  readonly eraseKeys: () => void
}

const run = (settings: WorkerSettings, parts: WorkerParts, { clock, report }: ControllerDependencies): Running => {
  const words = new Int32Array(settings.shared)
  const policies = createPolicies({ maxEntries: settings.revisionCacheSize, monotonicMs: clock.monotonicMs })
  const lists = createLists(clock)
  let keyring = parts.keyring
  let sign: Sign = createSign(keyring, parts.digesters)
  const recorder = createRecorder({
    words,
    segment: parts.segment,
    clock,
    onWithheld: (uuids) => report({ type: 'withheld-recorded', uuids }),
  })
  const decide = createDecide({ policies, lists, sign: () => sign, clock })
  return {
    parts,
    recorder,
    attest: createAttest({ words, decide, prepare: policies.prepare, recorder, clock }),
    define: ({ targets, revisions }) => policies.define(targets, revisions),
    lists,
    keyring: () => keyring,
    // Jobs are decided synchronously, so no job is being signed while the keys change.
    useKeyring: (next) => {
      const previous = keyring
      keyring = next
      sign = createSign(next, parts.digesters)
      previous.erase()
    },
    eraseKeys: () => keyring.erase(),
  }
}

/** Handles every message of the pool. An error in a batch is a bug: it ends the worker, and the pool detects this. */
export interface Controller {
  work(jobs: readonly DispatchedJob[]): void
  control(message: ControlMessage): void
  /** Erases the keys and closes the log without writing to it. The worker answers nothing afterwards. */
  end(): void
}

export const createController = (dependencies: ControllerDependencies): Controller => {
  const { report, clock, later } = dependencies
  let running: Running | null = null
  let closing = false
  /** `loading`: versions of the keys being opened. `staged`: opened keys that are not yet in use. */
  const loading = new Set<number>()
  const staged = new Map<number, Keyring>()

  const start = async (settings: WorkerSettings): Promise<void> => {
    try {
      const parts = await dependencies.open(settings, () => closing)
      running = run(settings, parts, dependencies)
      if (closing) {
        close()
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
      report(closing ? { type: 'closed' } : { type: 'unusable', reason: setupReason(error) })
    }
  }

  const stage = async (
    { version, attesters }: Extract<ControlMessage, { type: 'attesters' }>,
    { parts, keyring: current }: Running,
  ): Promise<void> => {
    loading.add(version)
    try {
      const keyring = await parts.openKeyring(attesters, current())
      // The version was discarded in the meantime: another worker could not load it, or this worker has ended.
      if (loading.delete(version)) staged.set(version, keyring)
      else keyring.erase()
      report({ type: 'attesters-loaded', version, ok: true, reason: '' })
    } catch (error) {
      loading.delete(version)
      report({ type: 'attesters-loaded', version, ok: false, reason: setupReason(error) })
    }
  }

  const commit = (version: number): void => {
    const keyring = staged.get(version)
    staged.delete(version)
    if (keyring !== undefined) running?.useKeyring(keyring)
  }

  const discard = (version: number): void => {
    loading.delete(version)
    staged.get(version)?.erase()
    staged.delete(version)
  }

  const end = (): void => {
    closing = true
    loading.clear()
    for (const keyring of staged.values()) keyring.erase()
    staged.clear()
    running?.parts.segment.close()
    running?.eraseKeys()
    running = null
  }

  const close = (): void => {
    closing = true
    if (running === null) return
    running.recorder.commit([])
    end()
    report({ type: 'closed' })
  }

  const control = (message: ControlMessage): void => {
    if (message.type === 'start') void start(message.settings)
    else if (message.type === 'clock') report({ type: 'clock', workerMs: clock.monotonicMs() })
    else if (message.type === 'close') close()
    else if (running === null) return
    else if (message.type === 'define') running.define(message)
    else if (message.type === 'lists') running.lists.update(message.images, message.removedIds)
    else if (message.type === 'withheld') running.recorder.withhold(message.uuids)
    else if (message.type === 'attesters') void stage(message, running)
    else if (message.type === 'attesters-commit') commit(message.version)
    else discard(message.version)
  }

  let resuming = false
  const postOutcomes = (batch: OutcomeBatch | null): void => {
    if (batch !== null) dependencies.outcomes(batch)
    if (resuming || running?.attest.waits() !== true) return
    resuming = true
    later(() => {
      resuming = false
      if (running !== null) postOutcomes(running.attest.resume())
    })
  }

  return {
    work: (jobs) => {
      if (running !== null) postOutcomes(running.attest.take(jobs))
    },
    control,
    end,
  }
}

// Handles the pool's messages to a worker. The thread's entry point connects it to its port; tests connect it to their
// own.
import type { ControlMessage, WorkerReport, WorkerSettings } from '../../src/pool/protocol.ts'
import type { Keyring } from '../../src/signing/types.ts'
import { type Attest, createAttest } from './attest.ts'
import { createDecide, type WorkerClock } from './decide.ts'
import { createPolicies } from './policies.ts'
import { createRecorder, type Recorder } from './recorder.ts'
import { setupReason, type WorkerParts } from './setup.ts'
import { createSign, type Sign } from './sign.ts'
import { createLists, type Lists } from './worker-lists.ts'

export interface ControllerDependencies {
  /** Sends a message to the pool; a text is a batch of outcomes. */
  readonly post: (message: string | WorkerReport) => void
  readonly open: (settings: WorkerSettings) => Promise<WorkerParts>
  readonly clock: WorkerClock
  /** Runs the work soon, after the messages that have already arrived. */
  readonly later: (work: () => void) => void
}

/** A worker that has started. */
interface Running {
  readonly parts: WorkerParts
  readonly attest: Attest
  readonly recorder: Recorder
  readonly define: (message: Extract<ControlMessage, { type: 'define' }>) => void
  readonly lists: Lists
  readonly useKeyring: (keyring: Keyring) => void
  readonly eraseKeys: () => void
}

const run = (settings: WorkerSettings, parts: WorkerParts, { clock, post }: ControllerDependencies): Running => {
  const words = new Int32Array(settings.shared)
  const policies = createPolicies({ maxEntries: settings.revisionCacheSize, monotonicMs: clock.monotonicMs })
  const lists = createLists(clock)
  let keyring = parts.keyring
  let sign: Sign = createSign(keyring, parts.digesters)
  const recorder = createRecorder({
    words,
    segment: parts.segment,
    clock,
    onWithheld: (uuids) => post({ type: 'withheld-recorded', uuids }),
  })
  const decide = createDecide({ policies, lists, sign: () => sign, clock })
  return {
    parts,
    recorder,
    attest: createAttest({ words, decide, prepare: policies.prepare, recorder, clock }),
    define: ({ targets, revisions }) => policies.define(targets, revisions),
    lists,
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

/** Handles every message of the pool. An error in a batch is a bug: it ends the thread, and the pool notices. */
export const createController = (dependencies: ControllerDependencies): ((message: unknown) => void) => {
  const { post, clock, later } = dependencies
  let running: Running | null = null
  let closing = false
  /** Versions of the keys being opened, and the opened keys that are not in use yet. */
  const loading = new Set<number>()
  const staged = new Map<number, Keyring>()

  const start = async (settings: WorkerSettings): Promise<void> => {
    try {
      const parts = await dependencies.open(settings)
      running = run(settings, parts, dependencies)
      if (closing) {
        close()
        return
      }
      post({
        type: 'ready',
        signer: parts.signer,
        evmAttesters: parts.keyring.evm.map(({ address }) => address),
        solanaAttesters: parts.keyring.solana.map(({ address }) => address),
        segmentPath: parts.segment.path,
      })
    } catch (error) {
      post(closing ? { type: 'closed' } : { type: 'unusable', reason: setupReason(error) })
    }
  }

  const stage = async (message: Extract<ControlMessage, { type: 'attesters' }>, parts: WorkerParts): Promise<void> => {
    const { version } = message
    loading.add(version)
    try {
      const keyring = await parts.openKeyring(message.attesters)
      // If another worker could not load them, they were discarded meanwhile.
      if (loading.delete(version)) staged.set(version, keyring)
      else keyring.erase()
      post({ type: 'attesters-loaded', version, ok: true, reason: '' })
    } catch (error) {
      loading.delete(version)
      post({ type: 'attesters-loaded', version, ok: false, reason: setupReason(error) })
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

  const close = (): void => {
    closing = true
    if (running === null) return
    running.recorder.commit([])
    running.parts.segment.close()
    running.eraseKeys()
    for (const keyring of staged.values()) keyring.erase()
    running = null
    post({ type: 'closed' })
  }

  const control = (message: ControlMessage): void => {
    if (message.type === 'start') void start(message.settings)
    else if (message.type === 'clock') post({ type: 'clock', workerMs: clock.monotonicMs() })
    else if (message.type === 'close') close()
    else if (running === null) return
    else if (message.type === 'define') running.define(message)
    else if (message.type === 'lists') running.lists.update(message.images, message.removedIds)
    else if (message.type === 'withheld') running.recorder.withhold(message.uuids)
    else if (message.type === 'attesters') void stage(message, running.parts)
    else if (message.type === 'attesters-commit') commit(message.version)
    else discard(message.version)
  }

  let resuming = false
  const say = (outcomes: string | null): void => {
    if (outcomes !== null) post(outcomes)
    if (resuming || running?.attest.waits() !== true) return
    resuming = true
    later(() => {
      resuming = false
      if (running !== null) say(running.attest.resume())
    })
  }

  return (message) => {
    if (typeof message !== 'string') control(message as ControlMessage)
    else if (running !== null) say(running.attest.take(message))
  }
}

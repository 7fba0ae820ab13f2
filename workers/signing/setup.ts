import { openSegment } from '../../src/decision-log/segment.ts'
import { slotName } from '../../src/decision-log/segment-name.ts'
import type { SegmentWriter } from '../../src/decision-log/types.ts'
import { DetailedError, errorClassOf } from '../../src/lib/named-error.ts'
import { warmUpPolicies } from '../../src/policy/warm-up.ts'
import { type AttesterReference, SHARED_HEARTBEAT, type WorkerSettings } from '../../src/pool/protocol.ts'
import { SigningError } from '../../src/signing/errors.ts'
import { openKeyring } from '../../src/signing/keyring.ts'
import { readPassphrases } from '../../src/signing/passphrase.ts'
import { chooseSecp256k1Backend, SECP256K1_BACKEND_NAMES } from '../../src/signing/secp256k1-backends.ts'
import { createSolanaMessageBuilder } from '../../src/signing/solana-message.ts'
import { createStatementDigester, createTaskDigester, loadKeccak256 } from '../../src/signing/statement.ts'
import type { Keyring, Secp256k1BackendName } from '../../src/signing/types.ts'
import type { Digesters } from './sign.ts'
import { createTokenKeys } from './token-thread.ts'

/** The worker cannot start. `detail` is one line for the operator, without secrets. */
class WorkerSetupError extends DetailedError {}

export interface WorkerParts {
  readonly signer: string
  readonly keyring: Keyring
  readonly segment: SegmentWriter
  readonly digesters: Digesters
  /** Opens keys in addition to the current set. @throws the errors of openKeyring; PassphraseMissingError */
  readonly openKeyring: (attesters: readonly AttesterReference[], inUse: Keyring) => Promise<Keyring>
}

/** The log recovers from a full disk by itself. Other errors need the operator. */
const HEALING_REASONS: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT'])

const backendName = (name: string): 'auto' | Secp256k1BackendName => {
  const known = SECP256K1_BACKEND_NAMES.find((candidate) => candidate === name)
  if (known === undefined && name !== 'auto') throw new WorkerSetupError(`unknown signing backend ${name}`)
  return known ?? 'auto'
}

const openLog = (settings: WorkerSettings, unixMs: () => number): SegmentWriter => {
  const segment = openSegment({
    directory: settings.decisionsDirectory,
    slot: slotName(settings.slot),
    maxBytes: settings.segmentMaxBytes,
    sync: settings.decisionsSync,
    clock: { unixMs },
  })
  if (segment.failure !== null && !HEALING_REASONS.has(segment.failure.reason)) {
    throw new WorkerSetupError(
      `the decision log in ${settings.decisionsDirectory} cannot be written: ${segment.failure.reason}`,
    )
  }
  return segment
}

/** One line for the operator; for an error of another library, only its class. */
export const setupReason = (error: unknown): string => {
  if (error instanceof SigningError || error instanceof WorkerSetupError) return error.detail
  return `a signing worker could not start (${errorClassOf(error)})`
}

/** Opens the log last: the pool may reassign the slot while the keys are being opened. @throws see setupReason */
export const openWorkerParts = async (
  settings: WorkerSettings,
  unixMs: () => number,
  isClosing: () => boolean = () => false,
): Promise<WorkerParts> => {
  const { backend } = chooseSecp256k1Backend(backendName(settings.signer))
  const words = new Int32Array(settings.shared)
  const progressed = (): void => void Atomics.add(words, SHARED_HEARTBEAT, 1)
  const token =
    settings.token === null ? null : createTokenKeys({ settings: settings.token, signer: backend.name, progressed })
  const open = (
    attesters: readonly AttesterReference[],
    mustAnswer: boolean,
    inUse: Keyring | null,
  ): Promise<Keyring> => {
    const openTokenKey = token === null ? undefined : (key: AttesterReference) => token.open(key, mustAnswer)
    return openKeyring(attesters, () => readPassphrases(settings.passphrase), backend, openTokenKey, inUse)
  }
  const keccak = await loadKeccak256()
  const digesters: Digesters = {
    statement: createStatementDigester(keccak),
    task: createTaskDigester(keccak),
    solanaMessage: createSolanaMessageBuilder(settings.solanaMessagePrefix),
  }
  // Start even if the token is unavailable, because other keys can sign. Service startup checks the token.
  const keyring = await open(settings.attesters, false, null)
  if (isClosing()) {
    keyring.erase()
    throw new WorkerSetupError('the worker was closed during its start')
  }
  if (settings.warmUp) warmUpPolicies(() => performance.now())
  return {
    signer: backend.name,
    keyring,
    segment: openLog(settings, unixMs),
    digesters,
    openKeyring: (attesters, inUse) => open(attesters, true, inUse),
  }
}

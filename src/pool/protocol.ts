// Messages between the main thread and a signing worker. Batches are one JSON text, at a third of the cost of a
// structured clone for 16 jobs or more. Messages never contain key material (invariant 5).
import type { AttestationRequest } from '../domain/attestation.ts'
import type { ErrorCode } from '../domain/errors.ts'
import type { JobStages, WorkerStages } from '../domain/job-stages.ts'
import type { ListImage } from '../domain/list-image.ts'
import type { Target } from '../domain/target.ts'
import type { ShadowOutcome } from '../domain/verdict.ts'
import type { RuleFailureReason } from '../policy/evaluation-errors.ts'
import type { SentRevision } from '../policy/types/program.ts'
import type { TokenSettings } from '../signing/types.ts'

export interface Job {
  readonly kind: 'attestation' | 'task'
  /** Fixed before dispatch (invariant 3). */
  readonly uuid: string
  readonly targetId: string
  readonly keyId: string
  readonly requestId: string
  readonly request: AttestationRequest
  /** CarriedFacts (policy/types/facts.ts) as one JSON text; empty when the policy needs no facts. */
  readonly facts: string
  /**
   * v2: Unix seconds. v1: a block number or Unix seconds (decisions §3); null if the latest block is unknown: a denial
   * is then recorded, and any other verdict is reported as `unsigned`.
   */
  readonly expiration: number | null
  /** Milliseconds on the main thread’s monotonic clock. */
  readonly deadlineMs: number
  readonly stages?: JobStages | undefined
}

export type SignableJob = Job & { readonly expiration: number }

/** A failed rule, for the log and for metrics: names of the policy, without request data. */
export interface RuleFailure {
  readonly policy: string
  readonly revision: string
  readonly rule: string
  readonly reason: RuleFailureReason
  /** The fact or the kind of failure. */
  readonly subject: string
}

export type Outcome =
  | {
      readonly status: 'answered'
      readonly sequence: number
      readonly compliant: boolean
      readonly ruleId: string | null
      readonly body: string
      readonly shadow?: ShadowOutcome | undefined
      readonly stages?: WorkerStages | undefined
    }
  | {
      readonly status: 'failed'
      readonly sequence: number
      readonly code: ErrorCode
      readonly detail: string
      /** Class name of the worker's error, plus the token's error. No other error text leaves the worker. */
      readonly errorClass: string | null
      readonly rule?: RuleFailure | undefined
      /** True if nothing was recorded, or will be recorded, under the job's uuid. */
      readonly nothingSigned: boolean
    }
  /** Compliant, but the job has no expiration. Nothing was recorded: send the job again with an expiration. */
  | { readonly status: 'unsigned'; readonly sequence: number }
  /** The worker has evicted the target: send the definition and the job again. */
  | { readonly status: 'target-not-cached'; readonly sequence: number }
  /** The worker's lease had ended, so nothing was decided. Send the job again if it is still current. */
  | { readonly status: 'lease-ended'; readonly sequence: number }

/** Indexes into a worker's shared state (Int32Array over a SharedArrayBuffer). */
export const SHARED_LATCH = 0
/** Low 31 bits of the sequence of the current job; -1 if idle. Identifies the job that caused a crash. */
export const SHARED_CURRENT = 1
/** Incremented at the start of each job. A worker that holds jobs is hung if it does not change. */
export const SHARED_HEARTBEAT = 2
/** End of the worker's lease on the worker's clock, after which it decides nothing; 0 if the lease never ends. */
export const SHARED_LEASE = 3
const SHARED_WORDS = 4

/** A worker moves IDLE → COMMITTING → IDLE around each append. The pool moves IDLE → FENCED before reassigning jobs. */
export const LATCH_IDLE = 0
export const LATCH_COMMITTING = 1
export const LATCH_FENCED = 2

export const CURRENT_NONE = -1

/** 31 bits, so that a sequence number never equals CURRENT_NONE. */
export const SEQUENCE_MASK = 0x7fffffff

export const createSharedState = (): SharedArrayBuffer => {
  const shared = new SharedArrayBuffer(SHARED_WORDS * Int32Array.BYTES_PER_ELEMENT)
  Atomics.store(new Int32Array(shared), SHARED_CURRENT, CURRENT_NONE)
  return shared
}

const LEASE_UNIT_MS = 100

export const setLease = (words: Int32Array, untilMs: number): void => {
  Atomics.store(words, SHARED_LEASE, Math.max(1, Math.ceil(untilMs / LEASE_UNIT_MS)))
}

export const hasLease = (words: Int32Array, clock: { monotonicMs(): number }): boolean => {
  const until = Atomics.load(words, SHARED_LEASE)
  return until === 0 || clock.monotonicMs() < until * LEASE_UNIT_MS
}

/** Called by the worker before an append. If false, the worker is fenced and must never record or answer again. */
export const beginCommit = (words: Int32Array): boolean =>
  Atomics.compareExchange(words, SHARED_LATCH, LATCH_IDLE, LATCH_COMMITTING) === LATCH_IDLE

/** Called by the worker after an append. If false, the pool abandoned the worker, which must not answer. */
export const endCommit = (words: Int32Array): boolean =>
  Atomics.compareExchange(words, SHARED_LATCH, LATCH_COMMITTING, LATCH_IDLE) === LATCH_COMMITTING

/** Called by the pool. True if the log is final; false during an append, whose outcome is unknown. */
export const fence = (words: Int32Array): boolean => {
  for (;;) {
    const seen = Atomics.compareExchange(words, SHARED_LATCH, LATCH_IDLE, LATCH_FENCED)
    if (seen !== LATCH_COMMITTING) return true
    // The worker may finish the append between the two exchanges: start over.
    if (Atomics.compareExchange(words, SHARED_LATCH, LATCH_COMMITTING, LATCH_FENCED) === LATCH_COMMITTING) return false
  }
}

export interface AttesterReference {
  readonly id: string
  readonly kind: 'secp256k1' | 'ed25519'
  /** Checksummed EVM address or base58 public key. Must equal the address derived from the key. */
  readonly address: string
  /** Path of the keystore, or the PKCS#11 URI of a key in a hardware token. */
  readonly keystorePath: string
  readonly status: 'active' | 'retiring'
}

export type PassphraseSource =
  | { readonly source: 'file'; readonly path: string }
  | { readonly source: 'environment'; readonly name: string }

export interface WorkerSettings {
  readonly slot: number
  readonly generation: number
  readonly signer: string
  readonly attesters: readonly AttesterReference[]
  readonly passphrase: PassphraseSource
  readonly token: TokenSettings | null
  readonly decisionsDirectory: string
  readonly decisionsSync: boolean
  readonly segmentMaxBytes: number
  readonly revisionCacheSize: number
  readonly warmUp: boolean
  readonly solanaMessagePrefix: string
  readonly shared: SharedArrayBuffer
}

export type ControlMessage =
  | { readonly type: 'start'; readonly settings: WorkerSettings }
  /** Requests the worker's clock, for converting deadlines. The reply is `clock`. */
  | { readonly type: 'clock' }
  | { readonly type: 'define'; readonly targets: readonly Target[]; readonly revisions: readonly SentRevision[] }
  /** New lists and versions of lists, in shared memory, and the ids of deleted lists. */
  | { readonly type: 'lists'; readonly images: readonly ListImage[]; readonly removedIds: readonly string[] }
  /** Open these keys in addition to the keys in use, and reply with `attesters-loaded`. */
  | { readonly type: 'attesters'; readonly version: number; readonly attesters: readonly AttesterReference[] }
  /** Every worker has loaded this version: sign with it. */
  | { readonly type: 'attesters-commit'; readonly version: number }
  /** A worker could not load this version: discard it. */
  | { readonly type: 'attesters-discard'; readonly version: number }
  /** Record that these answers arrived after the 408. The reply is `withheld-recorded`. */
  | { readonly type: 'withheld'; readonly uuids: readonly string[] }
  /** Finish the jobs, close the segment and reply with `closed`. */
  | { readonly type: 'close' }

export type WorkerReport =
  | {
      readonly type: 'ready'
      readonly signer: string
      readonly evmAttesters: readonly string[]
      readonly solanaAttesters: readonly string[]
      readonly segmentPath: string
    }
  | { readonly type: 'clock'; readonly workerMs: number }
  | { readonly type: 'attesters-loaded'; readonly version: number; readonly ok: boolean; readonly reason: string }
  | { readonly type: 'withheld-recorded'; readonly uuids: readonly string[] }
  | { readonly type: 'closed' }
  | { readonly type: 'unusable'; readonly reason: string }

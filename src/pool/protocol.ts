// The messages between the main thread and a signing worker. Jobs and outcomes travel as one JSON text per batch: from
// sixteen jobs on, that costs a third of a structured clone. Control messages are rare and travel as objects. No
// message ever holds key material (invariant 5): workers open the keystores themselves.
import type { AttestationRequest } from '../domain/attestation.ts'
import type { ErrorCode } from '../domain/errors.ts'
import type { JobStages, WorkerStages } from '../domain/job-stages.ts'
import type { ListImage } from '../domain/list-image.ts'
import type { Target } from '../domain/target.ts'
import type { SentRevision } from '../policy/types/program.ts'
import type { TokenSettings } from '../signing/types.ts'

/** One request, ready to be evaluated and signed. It fixes everything that must not differ between two tries. */
export interface Job {
  readonly kind: 'attestation' | 'task'
  /** The attestation's uuid or the task id, fixed before dispatch (invariant 3). */
  readonly uuid: string
  readonly targetId: string
  readonly keyId: string
  readonly requestId: string
  readonly request: AttestationRequest
  /** CarriedFacts (policy/types/facts.ts) as one JSON text; empty when the policy needs no facts. */
  readonly facts: string
  /**
   * v2: Unix seconds. v1: a block number or Unix seconds (decisions §3), or null while the latest block is not read: then
   * a denial is recorded, and any other verdict is answered `unsigned`.
   */
  readonly expiration: number | null
  /** Absolute, on the main thread's monotonic clock, milliseconds. */
  readonly deadlineMs: number
  /** Of a traced request: where the pool writes the job's times down. */
  readonly stages?: JobStages | undefined
}

export type SignableJob = Job & { readonly expiration: number }

/** The outcome of a job. `sequence` identifies the job. */
export type Outcome =
  | {
      readonly status: 'answered'
      readonly sequence: number
      readonly compliant: boolean
      /** The rule that decided, for metrics and logs. */
      readonly ruleId: string | null
      /** The complete JSON response body. */
      readonly body: string
      /** Of a traced request. */
      readonly stages?: WorkerStages | undefined
    }
  | {
      readonly status: 'failed'
      readonly sequence: number
      readonly code: ErrorCode
      readonly detail: string
      /**
       * Class name of the error inside the worker, for the log, with the name of the fact or the token's complaint;
       * no other text of an error leaves the worker.
       */
      readonly errorClass: string | null
      /** Whether nothing was recorded under the job's uuid, and nothing will be. */
      readonly nothingSigned: boolean
    }
  /** Compliant, but the job has no expiration, so nothing was signed or recorded: send the job again with one. */
  | { readonly status: 'unsigned'; readonly sequence: number }
  /** The worker does not hold the target or its revision (evicted): define it and send the job again. */
  | { readonly status: 'target-not-cached'; readonly sequence: number }
  /** The worker's lease had ended, so nothing was decided: send the job again if it is still current. */
  | { readonly status: 'lease-ended'; readonly sequence: number }

/** Indexes into the shared state of one worker (Int32Array over a SharedArrayBuffer). */
export const SHARED_LATCH = 0
/** Low 31 bits of the sequence of the job being worked on; -1 when idle. Identifies the job that caused a crash. */
export const SHARED_CURRENT = 1
/** Incremented with every job begun: a worker that holds jobs and whose heartbeat stands still is hung. */
export const SHARED_HEARTBEAT = 2
/**
 * When the worker's lease ends, on its own clock: it decides nothing from then on, because keys and policies may have
 * changed unnoticed. 0: never.
 */
export const SHARED_LEASE = 3
const SHARED_WORDS = 4

/** Values of the latch. A worker moves IDLE → COMMITTING → IDLE around each append; the pool moves IDLE → FENCED
 * before it gives a worker's jobs to another, so an abandoned worker that wakes up can't record or answer anything. */
export const LATCH_IDLE = 0
export const LATCH_COMMITTING = 1
export const LATCH_FENCED = 2

/** Value of SHARED_CURRENT between jobs. */
export const CURRENT_NONE = -1

/** Largest sequence number: it must fit SHARED_CURRENT beside CURRENT_NONE. */
export const SEQUENCE_MASK = 0x7fffffff

/** Creates the shared state of a worker that is about to start. */
export const createSharedState = (): SharedArrayBuffer => {
  const shared = new SharedArrayBuffer(SHARED_WORDS * Int32Array.BYTES_PER_ELEMENT)
  Atomics.store(new Int32Array(shared), SHARED_CURRENT, CURRENT_NONE)
  return shared
}

/** A word of 32 bits lasts for six years in this unit. */
const LEASE_UNIT_MS = 100

/** Pool side. @param untilMs on the worker's clock */
export const setLease = (words: Int32Array, untilMs: number): void => {
  Atomics.store(words, SHARED_LEASE, Math.max(1, Math.ceil(untilMs / LEASE_UNIT_MS)))
}

/** Worker side, before each decision. */
export const hasLease = (words: Int32Array, clock: { monotonicMs(): number }): boolean => {
  const until = Atomics.load(words, SHARED_LEASE)
  return until === 0 || clock.monotonicMs() < until * LEASE_UNIT_MS
}

/** Worker side, before an append. False when the worker is fenced: it must never record or answer anything again. */
export const beginCommit = (words: Int32Array): boolean =>
  Atomics.compareExchange(words, SHARED_LATCH, LATCH_IDLE, LATCH_COMMITTING) === LATCH_IDLE

/** Worker side, after an append. False when the pool gave up the worker meanwhile: nothing may be answered. */
export const endCommit = (words: Int32Array): boolean =>
  Atomics.compareExchange(words, SHARED_LATCH, LATCH_COMMITTING, LATCH_IDLE) === LATCH_COMMITTING

/**
 * Pool side. True: the worker will never append again, so its log holds everything that it ever recorded. False: the
 * worker was inside an append, whose outcome is unknown while its thread lives.
 */
export const fence = (words: Int32Array): boolean => {
  for (;;) {
    const seen = Atomics.compareExchange(words, SHARED_LATCH, LATCH_IDLE, LATCH_FENCED)
    if (seen !== LATCH_COMMITTING) return true
    // The worker may leave the append between the two exchanges; then try the first one again.
    if (Atomics.compareExchange(words, SHARED_LATCH, LATCH_COMMITTING, LATCH_FENCED) === LATCH_COMMITTING) return false
  }
}

/** The attester keys that a worker opens: paths, never keys. */
export interface AttesterReference {
  readonly id: string
  readonly kind: 'secp256k1' | 'ed25519'
  /** Checksummed EVM address or base58 public key: must equal the address derived from the key. */
  readonly address: string
  /** For a key in a hardware token its PKCS#11 URI. */
  readonly keystorePath: string
  readonly status: 'active' | 'retiring'
}

export type PassphraseSource =
  | { readonly source: 'file'; readonly path: string }
  | { readonly source: 'environment'; readonly name: string }

export interface WorkerSettings {
  readonly slot: number
  /** Incremented when a worker in a slot is replaced. */
  readonly generation: number
  readonly signer: string
  readonly attesters: readonly AttesterReference[]
  /** Where the worker itself reads the keystores' passphrase. */
  readonly passphrase: PassphraseSource
  /** The hardware token that attester keys may be in. */
  readonly token: TokenSettings | null
  readonly decisionsDirectory: string
  readonly decisionsSync: boolean
  readonly segmentMaxBytes: number
  readonly revisionCacheSize: number
  /** Whether to evaluate costly policies before the first job. */
  readonly warmUp: boolean
  readonly solanaMessagePrefix: string
  readonly shared: SharedArrayBuffer
}

export type ControlMessage =
  | { readonly type: 'start'; readonly settings: WorkerSettings }
  /** The worker replies with its `clock`, so that the pool can convert deadlines to the worker's clock. */
  | { readonly type: 'clock' }
  | { readonly type: 'define'; readonly targets: readonly Target[]; readonly revisions: readonly SentRevision[] }
  /** New versions of lists and new lists, in shared memory, and the ids of deleted lists. */
  | { readonly type: 'lists'; readonly images: readonly ListImage[]; readonly removedIds: readonly string[] }
  /** Open these keys beside the ones in use, and answer `attesters-loaded`. */
  | { readonly type: 'attesters'; readonly version: number; readonly attesters: readonly AttesterReference[] }
  /** Every worker has loaded this version: sign with it from now on. */
  | { readonly type: 'attesters-commit'; readonly version: number }
  /** Some worker could not load this version: forget it. */
  | { readonly type: 'attesters-discard'; readonly version: number }
  /**
   * An outcome arrived after its request was answered 408: record that it was withheld. Answered by
   * `withheld-recorded`.
   */
  | { readonly type: 'withheld'; readonly uuids: readonly string[] }
  /** Finish the jobs, close the segment, answer `closed`. */
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
  /** The worker can't start. `reason` is a text of our choice without secrets. */
  | { readonly type: 'unusable'; readonly reason: string }

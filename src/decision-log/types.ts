// Decision record (invariant 2): request, verdict, deciding rule and signatures, as one line of JSON. It contains the
// complete answer, so a worker's death after the record loses nothing.
import type { DecisionLogError } from './errors.ts'

/**
 * Facts by part. Personal facts (client address, identity) are keyed hashes, under names that end with "_hash". `lists`
 * contains the looked-up addresses. If the facts are too long for a line, only their SHA-256 is stored.
 */
export interface RecordedFacts {
  readonly [part: string]: unknown
  readonly lists?: Readonly<Record<string, RecordedList>>
  readonly sha256?: string
}

/** Age of a list (null: unreadable), and the looked-up addresses that it contains and doesn't contain. */
export interface RecordedList {
  readonly age: number | null
  readonly in: readonly string[]
  readonly out: readonly string[]
}

/** `compliant` is null if the revision has no verdict; `rule` is then the failed rule, and `failure` the reason. */
export interface ShadowVerdict {
  readonly revision: string
  readonly compliant: boolean | null
  readonly rule: string | null
  /** Contains no values from the request. Earlier versions omit it. */
  readonly failure?: string
}

export interface DecisionRecord {
  readonly kind: 'attestation' | 'task'
  /** Uuid in lowercase, 36 characters. */
  readonly uuid: string
  /** Time in Unix milliseconds. */
  readonly at: number
  readonly organization: string
  readonly project: string
  readonly key: string
  readonly request: string
  readonly policy: string
  readonly revision: string
  readonly verification_hash: string
  readonly chain: string
  readonly from: string
  readonly on_behalf?: string | undefined
  readonly to: string
  /** Amount as a decimal string. */
  readonly value: string
  readonly data_sha256: string
  readonly data_size: number
  /** `0x` hex of the data, unless it is too long for a line of the log. */
  readonly data?: string | undefined
  /** Time of the request, Unix seconds. */
  readonly requested?: number
  readonly facts?: RecordedFacts | undefined
  readonly shadow?: ShadowVerdict | undefined
  readonly compliant: boolean
  readonly rule: string | null
  /** Code and message of the deciding rule; only on a denial. */
  readonly code?: string | undefined
  readonly message?: string | undefined
  /** v2: expiration; v1: expiry. 0 if not compliant. */
  readonly expiration: number
  /** Attester addresses and their signatures, in the order of the answer. Empty if not compliant. */
  readonly attesters: readonly string[]
  readonly signatures: readonly string[]
  readonly policy_name: string
}

/** First line of each segment. In the first segment of a slot, the `previous_` fields are null, null, 0 and 0. */
export interface SegmentHeader {
  readonly kind: 'segment'
  readonly version: 1
  readonly slot: string
  /** Grows with each segment of a slot, regardless of the clock; equal to the number in the file name. */
  readonly number: number
  readonly at: number
  /** File name of the previous segment, and hash of its last valid line. */
  readonly previous_segment: string | null
  readonly previous_hash: string | null
  /** Length in bytes, including the last newline. */
  readonly previous_length: number
  /** Bytes after the valid length, left by a crash or a failed write. They were never answered. */
  readonly previous_torn_bytes: number
}

/** An answer that was completed after the 408: recorded, never sent (invariant 4). */
export interface WithheldRecord {
  readonly kind: 'withheld'
  readonly uuid: string
  readonly at: number
}

export type LogRecord = DecisionRecord | WithheldRecord

/** Log writer of a worker. Readers see all lines of an append or none. */
export interface SegmentWriter {
  /** Segment of the next append, unless it rotates; empty if none could be opened. */
  readonly path: string
  /** Reason that the log can't be written; null if the last attempt succeeded. */
  readonly failure: DecisionLogError | null
  /**
   * Returns when the file contains the records or, with sync, the disk. After a failure, the next call opens a new
   * segment, so that logging recovers when the disk has space; an empty batch only attempts this. @throws
   * DecisionLogError if nothing may be signed or answered
   */
  append(records: readonly LogRecord[]): void
  /** Later appends throw. Never throws. */
  close(): void
}

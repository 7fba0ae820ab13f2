// The decision record (invariant 2): what was decided, on what, by which rule, and what was signed. One line of JSON.
// It holds enough to build the answer again, so that a worker's death between record and answer loses nothing.
import type { DecisionLogError } from './errors.ts'

/**
 * Facts as they were collected, by part; what is personal (the client's address, the identity) as a keyed hash only, under
 * a name that ends "_hash". `lists` has the addresses that were looked up. Where all of it is too long for a line, there is
 * only its SHA-256.
 */
export interface RecordedFacts {
  readonly [part: string]: unknown
  readonly lists?: Readonly<Record<string, RecordedList>>
  readonly sha256?: string
}

/** How old a list was, and which of the addresses that were looked up were in it. Null: it could not be read. */
export interface RecordedList {
  readonly age: number | null
  readonly in: readonly string[]
  readonly out: readonly string[]
}

/** `compliant` null: it could not be evaluated, and `rule` is the one that failed. */
export interface ShadowVerdict {
  readonly revision: string
  readonly compliant: boolean | null
  readonly rule: string | null
}

export interface DecisionRecord {
  readonly kind: 'attestation' | 'task'
  /** Lower-case, 36 characters. */
  readonly uuid: string
  /** Unix milliseconds. */
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
  /** The user whom `from` represents, where the request named one. */
  readonly on_behalf?: string | undefined
  readonly to: string
  /** Decimal string. */
  readonly value: string
  /** SHA-256 of the data bytes, hex; the bytes themselves are the caller's. */
  readonly data_sha256: string
  readonly data_size: number
  /** The data itself, 0x-hex, where it is not longer than a line of the log can bear. */
  readonly data?: string | undefined
  /** The request's own time, Unix seconds. */
  readonly requested?: number
  /** What the policy was told beyond the request, where it asked for anything. */
  readonly facts?: RecordedFacts | undefined
  /** What the shadow revision would have decided, where there is one. */
  readonly shadow?: ShadowVerdict | undefined
  readonly compliant: boolean
  readonly rule: string | null
  /** The deciding rule's words; only on a denial. */
  readonly code?: string | undefined
  readonly message?: string | undefined
  /** v2: expiration; v1: expiry. 0 when not compliant. */
  readonly expiration: number
  /** Attesters' addresses and their signatures, in the order of the answer. Empty when not compliant. */
  readonly attesters: readonly string[]
  readonly signatures: readonly string[]
  readonly policy_name: string
}

/**
 * First line of each segment: ties it to the segment before it in the same slot. The four `previous_` fields are null,
 * null, 0 and 0 for the first of a slot.
 */
export interface SegmentHeader {
  readonly kind: 'segment'
  readonly version: 1
  readonly slot: string
  /** Grows with each segment of a slot, whatever the clock does; the same as in the file name. */
  readonly number: number
  /** Unix milliseconds. */
  readonly at: number
  /** File name of the segment before, and the hash of its last line that counts. */
  readonly previous_segment: string | null
  readonly previous_hash: string | null
  /** Bytes of the segment before, up to and with the newline of its last line that counts. */
  readonly previous_length: number
  /** Bytes after that: what a crash or a failed write left there. They are no records and were never answered. */
  readonly previous_torn_bytes: number
}

/** An answer that came after the 408: recorded, never sent (invariant 4). */
export interface WithheldRecord {
  readonly kind: 'withheld'
  readonly uuid: string
  /** Unix milliseconds. */
  readonly at: number
}

/** What follows the header in a segment. */
export type LogRecord = DecisionRecord | WithheldRecord

/** What a worker uses to append. Lines of one call reach the file together or not at all as far as a reader can tell. */
export interface SegmentWriter {
  /** The segment that the next append goes to unless it rotates; empty while none could be opened. */
  readonly path: string
  /** Why the log can't be written at the moment; null when the last attempt succeeded. */
  readonly failure: DecisionLogError | null
  /**
   * Appends records, each chained to the line before by SHA-256, and returns once the file has them
   * (and, with sync, the disk). After a failure the next call tries a new segment, so a disk that has room again
   * heals by itself. An empty batch writes nothing and does only that.
   * @throws DecisionLogError when they can't be written: then nothing may be signed or answered.
   */
  append(records: readonly LogRecord[]): void
  /** Appends after this throw. Never throws itself. */
  close(): void
}

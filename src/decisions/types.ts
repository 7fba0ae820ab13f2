// The decision record (invariant 2): what was decided, on what, by which rule, and what was signed. One line of JSON.
// It holds enough to build the answer again, so that a worker's death between record and answer loses nothing.

export interface DecisionRecord {
  readonly kind: 'attestation' | 'task'
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
  readonly to: string
  /** Decimal string. */
  readonly value: string
  /** SHA-256 of the data bytes, hex; the bytes themselves are the caller's. */
  readonly data_sha256: string
  readonly data_size: number
  readonly compliant: boolean
  readonly rule: string | null
  /** The deciding rule's words; only on a denial. */
  readonly code?: string
  readonly message?: string
  /** v2: expiration; v1: expiry. 0 when not compliant. */
  readonly expiration: number
  /** Attesters' addresses and their signatures, in the order of the answer. Empty when not compliant. */
  readonly attesters: readonly string[]
  readonly signatures: readonly string[]
  readonly policy_name: string
}

/** First line of each segment: ties it to the segment before it in the same slot. */
export interface SegmentHeader {
  readonly kind: 'segment'
  readonly version: 1
  readonly slot: string
  readonly at: number
  /** File name of the segment before, and the hash of its last line; null for the first of a slot. */
  readonly previous_segment: string | null
  readonly previous_hash: string | null
}

/** An answer that came after the 408: recorded, never sent (invariant 4). */
export interface WithheldRecord {
  readonly kind: 'withheld'
  readonly uuid: string
  readonly at: number
}

/** What a worker uses to append. Lines of one call reach the file together or not at all as far as a reader can tell. */
export interface SegmentWriter {
  readonly path: string
  /**
   * Appends records, each chained to the line before by SHA-256, and returns once the file has them
   * (and, with sync, the disk).
   * @throws DecisionLogError when they can't be written: then nothing may be signed or answered.
   */
  append(records: readonly (DecisionRecord | WithheldRecord)[]): void
  close(): void
}

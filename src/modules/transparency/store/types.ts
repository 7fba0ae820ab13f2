// What the tree's tables hold.

/** A segment of one node's log. */
export interface TreeSegment {
  readonly node: string
  readonly slot: string
  readonly segment: string
}

/** Consecutive lines of a segment that are consecutive leaves of the tree. */
export interface TreeSpan {
  readonly startByte: number
  readonly endByte: number
  readonly firstLeaf: number
  readonly leaves: number
}

/** Lines that are to become leaves. */
export interface LeafRun {
  readonly slot: string
  readonly segment: string
  readonly startByte: number
  readonly endByte: number
  /** Hashes of leaves, concatenated. */
  readonly hashes: Uint8Array
}

export interface StoredHead {
  readonly size: number
  readonly root: Uint8Array
  /** The newest head that is signed; empty before the first. */
  readonly checkpoint: string
  readonly signedSize: number
}

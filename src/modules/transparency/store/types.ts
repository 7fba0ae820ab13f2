import { EMPTY_ROOT } from '../tree/hash.ts'

export interface TreeSegment {
  readonly node: string
  readonly slot: string
  readonly segment: string
}

/** Consecutive lines of a segment that are consecutive leaves. */
export interface TreeSpan {
  readonly startByte: number
  readonly endByte: number
  readonly firstLeaf: number
  readonly leaves: number
}

export interface LeafRun {
  readonly slot: string
  readonly segment: string
  readonly startByte: number
  readonly endByte: number
  /** Concatenated hashes. */
  readonly hashes: Uint8Array
}

export interface StoredHead {
  readonly size: number
  readonly root: Uint8Array
  /** Signed head; empty before the first. */
  readonly checkpoint: string
  readonly signedSize: number
}

/** The head before the first line. */
export const NO_HEAD: StoredHead = { size: 0, root: EMPTY_ROOT, checkpoint: '', signedSize: 0 }

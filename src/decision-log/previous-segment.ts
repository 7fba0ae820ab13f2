// What ties a segment to the one before it in its slot: name, the length that counts, the hash of its last line, and
// how many bytes lie beyond. The next segment's header repeats it, and verification compares.
import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { findSlotEnd, wholeLength } from './backwards.ts'
import { SegmentCutError } from './errors.ts'
import type { SegmentName } from './segment-name.ts'

export interface PreviousSegment {
  readonly segment: SegmentName
  /** Hash of the last line that counts. */
  readonly hash: string
  /** Bytes that count, with the last newline. */
  readonly length: number
  /** Bytes beyond. */
  readonly tornBytes: number
}

/** Hash of the line that ends with the newline at `end - 1`; in constant memory, since a damaged line may be long. */
const hashLastLine = (descriptor: number, end: number): string => {
  const hasher = new Bun.SHA256()
  const chunk = Buffer.allocUnsafe(65_536)
  for (let position = wholeLength(descriptor, end - 1); position < end - 1; ) {
    const count = readSync(descriptor, chunk, 0, Math.min(chunk.length, end - 1 - position), position)
    if (count === 0) throw new SegmentCutError()
    hasher.update(chunk.subarray(0, count))
    position += count
  }
  return hasher.digest('hex')
}

/**
 * What another instance left in a slot: the newest name (the next one's number follows it) and the tie to the newest
 * segment that holds a whole line. Both null for a new slot. Throws system errors as they are.
 */
export const readSlotTie = (
  slotDirectory: string,
): { readonly newest: SegmentName | null; readonly tie: PreviousSegment | null } => {
  const { newest, position } = findSlotEnd(slotDirectory)
  if (position === null) return { newest, tie: null }
  const { segment, end, tornBytes } = position
  const descriptor = openSync(join(slotDirectory, segment.name), 'r')
  try {
    return { newest, tie: { segment, hash: hashLastLine(descriptor, end), length: end, tornBytes } }
  } finally {
    closeSync(descriptor)
  }
}

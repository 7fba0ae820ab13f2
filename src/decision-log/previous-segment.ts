// Link to the previous segment of a slot, repeated in the next segment's header and compared by verification.
import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { findSlotEnd, wholeLength } from './backwards.ts'
import { SegmentCutError } from './errors.ts'
import type { SegmentName } from './segment-name.ts'

export interface PreviousSegment {
  readonly segment: SegmentName
  readonly hash: string
  /** Valid length in bytes, including the last newline. */
  readonly length: number
  readonly tornBytes: number
}

/** The line ends with the newline at `end - 1`. Uses constant memory, because a damaged line may be long. */
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

/** Returns the newest name, and a link to the newest segment with a whole line. Both are null for a new slot. */
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

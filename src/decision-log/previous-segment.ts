// Link to the previous segment of a slot, repeated in the next segment's header and compared by verification.
import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { findSlotEnd, wholeLength } from './backwards.ts'
import { SegmentCutError } from './errors.ts'
import { peekTime } from './record.ts'
import type { SegmentName } from './segment-name.ts'

export interface PreviousSegment {
  readonly segment: SegmentName
  readonly hash: string
  /** Valid length in bytes, including the last newline. */
  readonly length: number
  readonly tornBytes: number
  /** Time of the newest line, Unix milliseconds; 0 if unknown. */
  readonly newestMs: number
}

/** The line ends with the newline at `end - 1`. Uses constant memory, because a damaged line may be long. */
const readLastLine = (descriptor: number, end: number): Pick<PreviousSegment, 'hash' | 'newestMs'> => {
  const hasher = new Bun.SHA256()
  const chunk = Buffer.allocUnsafe(65_536)
  let newestMs: number | null = null
  for (let position = wholeLength(descriptor, end - 1); position < end - 1; ) {
    const count = readSync(descriptor, chunk, 0, Math.min(chunk.length, end - 1 - position), position)
    if (count === 0) throw new SegmentCutError()
    newestMs ??= peekTime(chunk.subarray(0, count)) ?? 0
    hasher.update(chunk.subarray(0, count))
    position += count
  }
  return { hash: hasher.digest('hex'), newestMs: newestMs ?? 0 }
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
    return { newest, tie: { segment, length: end, tornBytes, ...readLastLine(descriptor, end) } }
  } finally {
    closeSync(descriptor)
  }
}

// Reads a slot from its newest line to its oldest, across segments, in constant memory. Bytes after the last newline,
// or after the valid length in the next segment's header, are ignored.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { DecisionLineMalformedError, SegmentCutError } from './errors.ts'
import { parseHeaderLine, requireLineLength } from './record.ts'
import { listSegments, type SegmentName } from './segment-name.ts'
import type { SegmentHeader } from './types.ts'

const CHUNK_BYTES = 65_536
const NEWLINE = 10

const readFully = (descriptor: number, into: Buffer, length: number, position: number): void => {
  for (let done = 0; done < length; ) {
    const count = readSync(descriptor, into, done, length - done, position + done)
    if (count === 0) throw new SegmentCutError()
    done += count
  }
}

/** Returns the length of the whole lines before `end`, including the last newline. */
export const wholeLength = (descriptor: number, end: number): number => {
  const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(end, 1)))
  for (let from = end; from > 0; ) {
    const length = Math.min(chunk.length, from)
    from -= length
    readFully(descriptor, chunk, length, from)
    const found = chunk.subarray(0, length).lastIndexOf(NEWLINE)
    if (found >= 0) return from + found + 1
  }
  return 0
}

export interface BackwardLine {
  readonly segment: SegmentName
  readonly bytes: Buffer
  /** Offset in the segment; 0 for the header. */
  readonly start: number
}

/** Yields the lines, last line first. @param end a line boundary @throws DecisionLineMalformedError */
function* fileLinesBackwards(descriptor: number, end: number): Generator<{ bytes: Buffer; start: number }> {
  let held = Buffer.alloc(0)
  let heldStart = end
  // Offset in `held` of the newline that ends the current line.
  let lineEnd = -1
  while (heldStart > 0 || lineEnd >= 0) {
    const newline = lineEnd > 0 ? held.lastIndexOf(NEWLINE, lineEnd - 1) : -1
    if (newline >= 0 || (heldStart === 0 && lineEnd >= 0)) {
      requireLineLength(lineEnd - newline - 1)
      yield { bytes: held.subarray(newline + 1, lineEnd), start: heldStart + newline + 1 }
      lineEnd = newline
      continue
    }
    const keep = lineEnd >= 0 ? lineEnd + 1 : 0
    requireLineLength(keep - 1)
    const length = Math.min(CHUNK_BYTES, heldStart)
    const grown = Buffer.allocUnsafe(length + keep)
    held.copy(grown, length, 0, keep)
    heldStart -= length
    readFully(descriptor, grown, length, heldStart)
    held = grown
    lineEnd = grown.length - 1
  }
}

export interface SlotPosition {
  readonly segment: SegmentName
  /** Offset in bytes, at a line boundary. */
  readonly end: number
  readonly tornBytes: number
}

/** Finds the newest segment name, and the newest segment that contains a whole line. */
export const findSlotEnd = (
  slotDirectory: string,
): { readonly newest: SegmentName | null; readonly position: SlotPosition | null } => {
  const segments = listSegments(slotDirectory)
  const newest = segments.at(-1) ?? null
  for (const segment of segments.reverse()) {
    const descriptor = openSync(join(slotDirectory, segment.name), 'r')
    try {
      const size = fstatSync(descriptor).size
      const end = wholeLength(descriptor, size)
      // A crash can leave a file without a whole line. No segment is chained to it.
      if (end > 0) return { newest, position: { segment, end, tornBytes: size - end } }
    } finally {
      closeSync(descriptor)
    }
  }
  return { newest, position: null }
}

const readHeader = (line: Buffer): SegmentHeader | null => {
  try {
    return parseHeaderLine(line.toString('utf8'))
  } catch (error) {
    if (error instanceof DecisionLineMalformedError) return null
    throw error
  }
}

/** Yields all lines back to the first, including headers. @throws DecisionLineMalformedError; system errors */
export function* slotLinesBackwards(slotDirectory: string, from: SlotPosition): Generator<BackwardLine> {
  const segments = listSegments(slotDirectory).filter((segment) => segment.number <= from.segment.number)
  let successor: SegmentHeader | null = null
  for (const segment of segments.reverse()) {
    const descriptor = openSync(join(slotDirectory, segment.name), 'r')
    try {
      let end = segment.name === from.segment.name ? from.end : fstatSync(descriptor).size
      if (successor?.previous_segment === segment.name) end = Math.min(end, successor.previous_length)
      for (const line of fileLinesBackwards(descriptor, wholeLength(descriptor, end))) {
        // Parse before yielding, because the bytes are valid only until the next read.
        if (line.start === 0) successor = readHeader(line.bytes)
        yield { segment, bytes: line.bytes, start: line.start }
      }
    } finally {
      closeSync(descriptor)
    }
  }
}

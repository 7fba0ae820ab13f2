// Finds the position of a time in a slot's log by binary search. The lines of a segment are in the order of their times,
// because the writer starts a new segment when the clock is set back.
import { closeSync, fstatSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readAt } from './line-hashes.ts'
import { peekTime } from './record.ts'
import { listSegments, listSlots, type SegmentName, stampOf } from './segment-name.ts'

/** Size below which the search stops, a few dozen lines. Also the longest distance to the start of the next line. */
const PIECE_BYTES = 65_536
const NEWLINE = 10

/** Returns the first line that starts between `position` and `end`; null if none is near, or it has no time. */
const lineAfter = (descriptor: number, position: number, end: number): { start: number; atMs: number } | null => {
  const read = readAt(descriptor, position, PIECE_BYTES)
  const newline = read.indexOf(NEWLINE)
  const start = position + newline + 1
  if (newline < 0 || start >= end) return null
  const atMs = peekTime(read.subarray(newline + 1))
  return atMs === null ? null : { start, atMs }
}

/** Returns the offset of a line such that all lines before it are older than `sinceMs`. */
const beginningOf = (path: string, sinceMs: number): number => {
  const descriptor = openSync(path, 'r')
  try {
    let low = 0
    let high = fstatSync(descriptor).size
    while (high - low > PIECE_BYTES) {
      const middle = low + Math.floor((high - low) / 2)
      const line = lineAfter(descriptor, middle, high)
      if (line !== null && line.atMs < sinceMs) low = line.start
      else high = middle
    }
    return low
  } finally {
    closeSync(descriptor)
  }
}

/** Duration in which a request that was in flight when the clock was set back is recorded. */
const IN_FLIGHT_MS = 60_000

/**
 * Returns the offset from which to read all lines of a segment since a time (Unix milliseconds). A segment that begins
 * soon after that time is read completely: its first lines may belong to requests from before the clock was set back.
 */
export const offsetSince = (slotDirectory: string, { name, stamp }: SegmentName, sinceMs: number): number =>
  stamp >= stampOf(sinceMs) && stamp <= stampOf(sinceMs + IN_FLIGHT_MS)
    ? 0
    : beginningOf(join(slotDirectory, name), sinceMs)

/**
 * Returns the segments of a slot that may contain lines since a time (Unix milliseconds), oldest first. No line is newer
 * than the name of the next segment.
 */
export const slotSegmentsSince = (slotDirectory: string, sinceMs: number): SegmentName[] => {
  const segments = listSegments(slotDirectory)
  const stamp = stampOf(sinceMs)
  return segments.filter((_, index) => (segments[index + 1]?.stamp ?? stamp) >= stamp)
}

export interface SegmentFile {
  readonly slot: string
  readonly name: string
  readonly path: string
  /** Current size in bytes; the newest segment of a slot may grow. */
  readonly size: number
}

/** @throws DecisionDirectoryMissingError */
export const segmentsSince = (directory: string, sinceMs: number): SegmentFile[] =>
  listSlots(directory).flatMap((slot) =>
    slotSegmentsSince(join(directory, slot), sinceMs).map(({ name }) => {
      const path = join(directory, slot, name)
      return { slot, name, path, size: statSync(path).size }
    }),
  )

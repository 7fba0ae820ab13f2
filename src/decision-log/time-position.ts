// Finds the position of a time in a slot's log by binary search. Lines are in the order of their times, unless the
// clock was set back.
import { closeSync, fstatSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readAt } from './line-hashes.ts'
import { peekTime } from './record.ts'
import type { ScanPosition } from './scan.ts'
import { listSegments, listSlots, stampOf } from './segment-name.ts'

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

/**
 * Returns the position from which to read all lines since a time (Unix milliseconds); null for the beginning of the
 * slot.
 */
export const positionSince = (slotDirectory: string, sinceMs: number): ScanPosition | null => {
  const stamp = stampOf(sinceMs)
  const segment = listSegments(slotDirectory).findLast((one) => one.stamp <= stamp)
  if (segment === undefined) return null
  return { segment: segment.name, offset: beginningOf(join(slotDirectory, segment.name), sinceMs) }
}

export interface SegmentFile {
  readonly slot: string
  readonly name: string
  readonly path: string
  /** Current size in bytes; the newest segment of a slot may grow. */
  readonly size: number
}

/** A segment ends when the next segment of its slot begins. @throws DecisionDirectoryMissingError */
export const segmentsSince = (directory: string, sinceMs: number): SegmentFile[] =>
  listSlots(directory).flatMap((slot) => {
    const segments = listSegments(join(directory, slot))
    const stamp = stampOf(sinceMs)
    return segments.flatMap(({ name }, index) => {
      const next = segments[index + 1]
      if (next !== undefined && next.stamp < stamp) return []
      const path = join(directory, slot, name)
      return [{ slot, name, path, size: statSync(path).size }]
    })
  })

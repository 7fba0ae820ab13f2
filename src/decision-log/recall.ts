// Finds a decision by its uuid, so that a retry gets the recorded answer and nothing is signed twice (invariant 3).
// Needs no index: the request's claim has the time, and the decision is recorded soon after.
import { closeSync, fstatSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { nextTurn } from '../lib/time.ts'
import { wholeLength } from './backwards.ts'
import { DecisionDirectoryMissingError } from './errors.ts'
import { countedBytes, readAt } from './line-hashes.ts'
import { MAX_LINE_BYTES, parseRecordLine, peekTime, requireLineLength } from './record.ts'
import { listSlots } from './segment-name.ts'
import { offsetSince, slotSegmentsSince } from './time-position.ts'
import type { DecisionRecord } from './types.ts'

/** Bytes read at once: about two hundred lines. */
const PIECE_BYTES = 262_144
const NEWLINE = 10
/** Time limits for recording a decision after its request. The last limit exceeds the lifetime of a claim. */
const SOON_MS = [1_500, 6_000, 60_000]

const slotsOf = (directory: string): string[] => {
  try {
    return listSlots(directory)
  } catch (error) {
    if (error instanceof DecisionDirectoryMissingError) return []
    throw error
  }
}

/** Yields the valid whole lines written at or after a time, in pieces, oldest first. @throws DecisionLineMalformedError */
function* piecesSince(slotDirectory: string, sinceMs: number): Generator<Buffer> {
  const segments = slotSegmentsSince(slotDirectory, sinceMs)
  for (const [index, segment] of segments.entries()) {
    const counted = countedBytes(slotDirectory, segment, segments[index + 1])
    const descriptor = openSync(join(slotDirectory, segment.name), 'r')
    try {
      const end = counted ?? wholeLength(descriptor, fstatSync(descriptor).size)
      const wholeLines = (start: number, length: number): Buffer => {
        const bytes = readAt(descriptor, start, Math.min(length, end - start))
        const whole = bytes.subarray(0, bytes.lastIndexOf(NEWLINE) + 1)
        if (whole.length === 0) requireLineLength(bytes.length)
        return whole
      }
      for (let start = offsetSince(slotDirectory, segment, sinceMs); start < end; ) {
        const short = wholeLines(start, PIECE_BYTES)
        const piece = short.length > 0 ? short : wholeLines(start, MAX_LINE_BYTES + 1)
        if (piece.length === 0) break
        yield piece
        start += piece.length
      }
    } finally {
      closeSync(descriptor)
    }
  }
}

const timeOfLast = (piece: Buffer): number | null => peekTime(piece.subarray(piece.lastIndexOf(NEWLINE, -2) + 1))

const findIn = (piece: Buffer, uuid: string): DecisionRecord | null => {
  const wanted = `"uuid":"${uuid}"`
  for (let at = piece.indexOf(wanted); at >= 0; at = piece.indexOf(wanted, at + 1)) {
    const line = piece.toString('utf8', piece.lastIndexOf(NEWLINE, at) + 1, piece.indexOf(NEWLINE, at))
    const { record } = parseRecordLine(line)
    if (record.kind !== 'withheld' && record.uuid === uuid) return record
  }
  return null
}

const search = async (
  directory: string,
  uuid: string,
  sinceMs: number,
  limitsMs: readonly number[],
): Promise<DecisionRecord | null> => {
  const slots = slotsOf(directory).map((slot) => piecesSince(join(directory, slot), sinceMs))
  try {
    for (const withinMs of limitsMs) {
      for (const pieces of slots) {
        for (let next = pieces.next(); next.done !== true; next = pieces.next()) {
          const record = findIn(next.value, uuid)
          if (record !== null) return record
          await nextTurn()
          if ((timeOfLast(next.value) ?? 0) > sinceMs + withinMs) break
        }
      }
    }
    return null
  } finally {
    for (const pieces of slots) pieces.return(undefined)
  }
}

/** Searches the minute after `sinceMs` (Unix milliseconds), likely periods first. @throws DecisionLineMalformedError */
export const findDecision = (directory: string, uuid: string, sinceMs: number): Promise<DecisionRecord | null> =>
  search(directory, uuid, sinceMs, SOON_MS)

/** Reads all lines since `sinceMs` (Unix milliseconds), because null permits signing the uuid. @throws if unreadable */
export const recallDecision = (directory: string, uuid: string, sinceMs: number): Promise<DecisionRecord | null> =>
  search(directory, uuid, sinceMs, [Number.POSITIVE_INFINITY])

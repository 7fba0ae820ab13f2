// Finds a decision by its uuid, so that a retry gets the recorded answer and nothing is signed twice (invariant 3).
// Needs no index: the request's claim has the time, and the decision is recorded soon after.
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { nextTurn } from '../lib/time.ts'
import { findSlotEnd, slotLinesBackwards } from './backwards.ts'
import { DecisionDirectoryMissingError } from './errors.ts'
import { countedBytes, readAt } from './line-hashes.ts'
import { MAX_LINE_BYTES, parseRecordLine, peekTime, peekUuid } from './record.ts'
import { listSegments, listSlots } from './segment-name.ts'
import { positionSince } from './time-position.ts'
import type { DecisionRecord } from './types.ts'

/** Lines between checks of the time and pauses for the event loop. */
const STRIDE = 256
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

/** Yields the valid whole lines written at or after a time, in pieces, oldest first. */
function* piecesSince(slotDirectory: string, sinceMs: number): Generator<Buffer> {
  const segments = listSegments(slotDirectory)
  const from = positionSince(slotDirectory, sinceMs)
  const first = segments.findIndex(({ name }) => from === null || name === from.segment)
  for (const [index, segment] of segments.entries()) {
    if (index < first) continue
    const end = countedBytes(slotDirectory, segment, segments[index + 1]) ?? Number.POSITIVE_INFINITY
    const descriptor = openSync(join(slotDirectory, segment.name), 'r')
    const wholeLines = (start: number, length: number): Buffer => {
      const bytes = readAt(descriptor, start, Math.min(length, end - start))
      return bytes.subarray(0, bytes.lastIndexOf(NEWLINE) + 1)
    }
    try {
      for (let start = segment.name === from?.segment ? from.offset : 0; ; ) {
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

/** Searches the minute after `sinceMs` (Unix milliseconds), likely periods first. @throws DecisionLineMalformedError */
export const findDecision = async (
  directory: string,
  uuid: string,
  sinceMs: number,
): Promise<DecisionRecord | null> => {
  const slots = slotsOf(directory).map((slot) => piecesSince(join(directory, slot), sinceMs))
  try {
    for (const withinMs of SOON_MS) {
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

/** Reads all lines since `sinceMs` (Unix milliseconds), because null permits signing the uuid. @throws if unreadable */
export const recallDecision = async (
  directory: string,
  uuid: string,
  sinceMs: number,
): Promise<DecisionRecord | null> => {
  for (const slot of slotsOf(directory)) {
    const slotDirectory = join(directory, slot)
    const { position } = findSlotEnd(slotDirectory)
    if (position === null) continue
    let read = 0
    for (const { bytes, start } of slotLinesBackwards(slotDirectory, position)) {
      if (start !== 0 && peekUuid(bytes)?.uuid === uuid) {
        const { record } = parseRecordLine(bytes.toString('utf8'))
        if (record.kind !== 'withheld') return record
      }
      read += 1
      if (read % STRIDE !== 0) continue
      // Headers and damaged lines have no time, so the next line decides.
      if ((peekTime(bytes) ?? sinceMs) < sinceMs) break
      await nextTurn()
    }
  }
  return null
}

// Finds one decision by its uuid, for a request that comes again: what was signed then is answered now, and nothing is
// signed twice (invariant 3). There is no index for it: the request's claim says when it came, and its decision was
// recorded soon after.
import { join } from 'node:path'
import { findSlotEnd, slotLinesBackwards } from './backwards.ts'
import { DecisionDirectoryMissingError } from './errors.ts'
import { countedBytes } from './line-hashes.ts'
import { parseRecordLine, peekTime, peekUuid } from './record.ts'
import { createSlotScanner, type ScannedLine } from './scan.ts'
import { listSegments, listSlots } from './segment-name.ts'
import { positionSince } from './time-position.ts'
import type { DecisionRecord } from './types.ts'

/** Lines between two looks at the time, and between two turns of the event loop. */
const STRIDE = 256
/** A decision is recorded within this time after its request came: longer than any claim lasts. */
const SOON_MS = 60_000

const slotsOf = (directory: string): string[] => {
  try {
    return listSlots(directory)
  } catch (error) {
    if (error instanceof DecisionDirectoryMissingError) return []
    throw error
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Whether what follows the segment says that the line was never answered. */
const counts = (slotDirectory: string, { segment, offset, length }: ScannedLine): boolean => {
  const segments = listSegments(slotDirectory)
  const index = segments.findIndex(({ name }) => name === segment)
  const found = segments[index]
  const counted = found === undefined ? null : countedBytes(slotDirectory, found, segments[index + 1])
  return counted === null || offset + length < counted
}

const findInSlot = async (directory: string, slot: string, uuid: string, sinceMs: number) => {
  const slotDirectory = join(directory, slot)
  const scanner = createSlotScanner(directory, slot, positionSince(slotDirectory, sinceMs))
  try {
    let read = 0
    for (let line = scanner.peek(); line !== null; line = scanner.peek()) {
      scanner.take()
      if (line.text.includes(uuid)) {
        const { record } = parseRecordLine(line.text)
        if (record.kind !== 'withheld' && record.uuid === uuid && counts(slotDirectory, line)) return record
      }
      read += 1
      if (read % STRIDE !== 0) continue
      if ((peekTime(Buffer.from(line.text)) ?? 0) > sinceMs + SOON_MS) return null
      await nextTurn()
    }
    return null
  } finally {
    scanner.close()
  }
}

/**
 * The record of this uuid in any slot, looked for where it is expected: within a minute from `sinceMs` (Unix
 * milliseconds). Null when it is not there.
 * @throws DecisionLineMalformedError or a system error when the log can't be read.
 */
export const findDecision = async (
  directory: string,
  uuid: string,
  sinceMs: number,
): Promise<DecisionRecord | null> => {
  for (const slot of slotsOf(directory)) {
    const record = await findInSlot(directory, slot, uuid, sinceMs)
    if (record !== null) return record
  }
  return null
}

/**
 * The record of this uuid in any slot; null when nothing was recorded under it since `sinceMs` (Unix milliseconds). Looks
 * at every line since then, the newest first: the answer null means that the uuid may be signed. Lines that are being
 * written meanwhile are not seen.
 * @throws DecisionLineMalformedError or a system error when the log can't be read: then it is not known what was signed.
 */
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
      // A header has no time, nor has a damaged line, which the verifier reports: the next look decides.
      if ((peekTime(bytes) ?? sinceMs) < sinceMs) break
      await nextTurn()
    }
  }
  return null
}

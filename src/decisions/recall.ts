// Finds one decision by its uuid, for a request that comes again after its first try was cut off: what was signed then
// is answered now, and nothing is signed twice (invariant 3). Rare, so it reads the log instead of keeping an index.
import { join } from 'node:path'
import { findSlotEnd, slotLinesBackwards } from './backwards.ts'
import { DecisionDirectoryMissingError, DecisionLineMalformedError } from './errors.ts'
import { parseRecordLine, peekUuid } from './record.ts'
import { listSlots } from './segment-name.ts'
import type { DecisionRecord } from './types.ts'

/** Lines between two looks at the time, and between two turns of the event loop. */
const STRIDE = 256

const slotsOf = (directory: string): string[] => {
  try {
    return listSlots(directory)
  } catch (error) {
    if (error instanceof DecisionDirectoryMissingError) return []
    throw error
  }
}

const isOlder = (line: Buffer, sinceMs: number): boolean => {
  try {
    return parseRecordLine(line.toString('utf8')).record.at < sinceMs
  } catch (error) {
    // A header, or a damaged line that the verifier reports: the next look decides.
    if (error instanceof DecisionLineMalformedError) return false
    throw error
  }
}

/**
 * The record of this uuid in any slot, looked for from the newest line back to `sinceMs` (Unix milliseconds); null when
 * there is none. Lines that are being written meanwhile are not seen.
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
      if (isOlder(bytes, sinceMs)) break
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return null
}

// Finds the decisions of a dead worker's jobs in its log, so that they are never signed again (invariant 3; threats,
// row 8). Workers answer in the order of their records, so all later records belong to jobs in flight.
import { basename, dirname, join } from 'node:path'
import { findSlotEnd, slotLinesBackwards } from './backwards.ts'
import { DecisionLineMalformedError } from './errors.ts'
import { parseHeaderLine, parseRecordLine, peekUuid } from './record.ts'
import { type SegmentFiles, systemSegmentFiles } from './segment-files.ts'
import { parseSegmentName } from './segment-name.ts'
import type { DecisionRecord } from './types.ts'

/** Minimum search limit in bytes; the limit is higher for many uuids. */
const SEARCH_BYTES = 2_097_152
/** Search limit per uuid, in bytes. Longer than the lines of one uuid. */
const SEARCH_BYTES_PER_UUID = 16_384

export interface RecoveryOptions {
  readonly maxBytes?: number
  /** If the log uses sync: flushes an unflushed record before returning it. */
  readonly sync?: boolean
  readonly files?: SegmentFiles
}

/**
 * Call it when the worker can't write any longer. A missing uuid was never answered and may be dispatched again.
 * @param slotOrSegment directory of the slot, or path of any of its segments
 * @throws if the log can't be read: it is then unknown what was signed, so dispatch none of the jobs
 */
export const recoverDecisions = (
  slotOrSegment: string,
  uuids: Iterable<string>,
  options: RecoveryOptions = {},
): Map<string, DecisionRecord> => {
  const { sync = false, files = systemSegmentFiles } = options
  const slotDirectory = parseSegmentName(basename(slotOrSegment)) === null ? slotOrSegment : dirname(slotOrSegment)
  const wanted = new Set(uuids)
  const maxBytes = options.maxBytes ?? Math.max(SEARCH_BYTES, wanted.size * SEARCH_BYTES_PER_UUID)
  const found = new Map<string, DecisionRecord>()
  const { position } = wanted.size === 0 ? { position: null } : findSlotEnd(slotDirectory)
  if (position === null) return found

  const touched = new Set<string>()
  let readBytes = 0
  for (const { segment, bytes, start } of slotLinesBackwards(slotDirectory, position)) {
    if (start === 0) {
      parseHeaderLine(bytes.toString('utf8'))
    } else {
      const peeked = peekUuid(bytes)
      if (peeked === null) throw new DecisionLineMalformedError('a line near the end of the log is corrupt')
      if (peeked.kind !== 'withheld' && wanted.has(peeked.uuid)) {
        const { record } = parseRecordLine(bytes.toString('utf8'))
        if (record.kind !== 'withheld') found.set(record.uuid, record)
        wanted.delete(peeked.uuid)
        touched.add(segment.name)
      }
    }
    readBytes += bytes.length + 1
    if (wanted.size === 0 || readBytes >= maxBytes) break
  }
  if (sync) for (const name of touched) files.syncPath(join(slotDirectory, name))
  return found
}

// After a worker died: which of its jobs in flight are already in its log? The pool answers those from the record and
// signs them never again (invariant 3; threats, row 8). Everything a worker wrote after a job's record belongs to jobs
// that are in flight as well, since it answers in the order in which it records: the search is short and bounded.
import { basename, dirname, join } from 'node:path'
import { findSlotEnd, slotLinesBackwards } from './backwards.ts'
import { DecisionLineMalformedError } from './errors.ts'
import { parseHeaderLine, parseRecordLine, peekUuid } from './record.ts'
import { type SegmentFiles, systemSegmentFiles } from './segment-files.ts'
import { parseSegmentName } from './segment-name.ts'
import type { DecisionRecord } from './types.ts'

/** How far back to look by default: this much, or for many uuids this much for each. No line of theirs is as long. */
const SEARCH_BYTES = 2_097_152
const SEARCH_BYTES_PER_UUID = 16_384

export interface RecoveryOptions {
  /** How far back to look, in bytes of log; 2 MiB, or 16 KiB for each uuid where that is more, unless given. */
  readonly maxBytes?: number
  /** True where the log runs with sync: a record that was written but not flushed is flushed before it is returned. */
  readonly sync?: boolean
  readonly files?: SegmentFiles
}

/**
 * The records of those uuids that a slot's log already holds, by uuid. Call it when the worker can't append any more.
 * Looks across rotations, from the newest line back. A uuid that is not returned was never answered and may be
 * dispatched again.
 * @param slotOrSegment the slot's directory, or the path of any segment in it.
 * @throws DecisionLineMalformedError or a system error when the log can't be read: then it is not known what was
 *   signed, and none of the jobs may be dispatched again.
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
      if (peeked === null) throw new DecisionLineMalformedError('a line near the end of the log is damaged')
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

// Detects copies that contain lines which their log lacks: the log was restored from a backup, shortened, or changed.
import { closeSync, fstatSync, openSync } from 'node:fs'
import { wholeLength } from '../../decision-log/backwards.ts'
import { DecisionLineMalformedError } from '../../decision-log/errors.ts'
import { readAt } from '../../decision-log/line-hashes.ts'
import { hashLine, MAX_LINE_BYTES, parseHeaderLine, parseRecordLine } from '../../decision-log/record.ts'
import type { ShipTarget } from '../../object-store/ship-target.ts'

const CHUNK_BYTES = 1_048_576
const NEWLINE = 10

/** Copy of a segment, or of a piece of it. */
interface Copy {
  readonly target: Pick<ShipTarget, 'readRange'>
  readonly object: string
  /** Offset of the object in the segment. */
  readonly start: number
  readonly pieceAt: (offset: number) => string
}

/** Returns the copy's line at an offset in its object. A line can continue in the next piece. */
const readLine = async ({ target, object, start, pieceAt }: Copy, offset: number): Promise<Buffer> => {
  const bytes = Buffer.from((await target.readRange(object, offset, MAX_LINE_BYTES + 1)) ?? [])
  const rest = bytes.includes(NEWLINE)
    ? null
    : await target.readRange(pieceAt(start + offset + bytes.length), 0, MAX_LINE_BYTES)
  const whole = rest === null ? bytes : Buffer.concat([bytes, rest])
  return whole.subarray(0, Math.max(0, whole.indexOf(NEWLINE)))
}

/** Returns the length of the common beginning of the copy and the log; null if the log continues the copy. */
const commonLength = async ({ target, object, start }: Copy, descriptor: number): Promise<number | null> => {
  for (let offset = 0; ; ) {
    const theirs = await target.readRange(object, offset, CHUNK_BYTES)
    if (theirs === null || theirs.length === 0) return null
    const ours = readAt(descriptor, start + offset, theirs.length)
    const index = theirs.findIndex((byte, at) => byte !== ours[at])
    if (index >= 0) return offset + index
    offset += theirs.length
  }
}

/**
 * Returns whether the copy contains a line that differs from the log's line, or for which the log has none. Only lines
 * with a link to the line before count: others can add objects with any content.
 */
export const hasOtherLine = async (copy: Copy, path: string): Promise<boolean> => {
  const descriptor = openSync(path, 'r')
  try {
    const common = await commonLength(copy, descriptor)
    if (common === null) return false
    const lineStart = wholeLength(descriptor, Math.min(copy.start + common, fstatSync(descriptor).size))
    const before = readAt(descriptor, lineStart, Math.max(0, copy.start - lineStart))
    const line = Buffer.concat([before, await readLine(copy, Math.max(0, lineStart - copy.start))]).toString('utf8')
    if (lineStart === 0) return parseHeaderLine(line).version === 1
    const previousStart = wholeLength(descriptor, lineStart - 1)
    return parseRecordLine(line).prev === hashLine(readAt(descriptor, previousStart, lineStart - 1 - previousStart))
  } catch (error) {
    if (error instanceof DecisionLineMalformedError) return false
    throw error
  } finally {
    closeSync(descriptor)
  }
}

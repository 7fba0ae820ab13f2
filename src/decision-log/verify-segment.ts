import { join } from 'node:path'
import { DecisionLineMalformedError, reasonOf } from './errors.ts'
import { forEachLine } from './forwards.ts'
import { hashLine, parseRecordLine } from './record.ts'
import type { SegmentName } from './segment-name.ts'
import type { LogRecord, SegmentHeader } from './types.ts'

export interface SegmentProblem {
  /** Line number, starting at 1 for the header. */
  readonly line: number
  readonly detail: string
}

export interface SegmentReport {
  readonly slot: string
  readonly name: string
  readonly bytes: number
  /** Number of valid whole lines, including the header. */
  readonly lines: number
  /** Unix milliseconds of the first and last readable record; null if there is none. */
  readonly firstAt: number | null
  readonly lastAt: number | null
  /** Hash of the last line. A copy kept elsewhere can prove later that no line changed. */
  readonly lastHash: string | null
  readonly ok: boolean
  readonly problem: SegmentProblem | null
  /** Findings with a harmless explanation, such as a crash or the removal of old segments. */
  readonly warnings: readonly string[]
}

export interface SegmentInChain {
  readonly slot: string
  readonly segment: SegmentName
  readonly bytes: number
  readonly header: SegmentHeader | null
  readonly headerProblem: string | null
  /** Header of the next segment; null for the newest segment. */
  readonly successor: SegmentHeader | null
  /** True if the header names an existing file without a line: the file was emptied. */
  readonly previousIsEmpty: boolean
}

/** Returns the length in bytes according to the successor's header; otherwise, the length of the whole file. */
export const countedBytes = (chained: SegmentInChain): number =>
  chained.successor?.previous_segment === chained.segment.name
    ? Math.min(chained.successor.previous_length, chained.bytes)
    : chained.bytes

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const detailOf = (error: unknown): string =>
  error instanceof DecisionLineMalformedError
    ? error.detail
    : error instanceof TypeError
      ? 'the line is not UTF-8'
      : `the segment cannot be read: ${reasonOf(error)}`

const tieProblem = (chained: SegmentInChain, before: SegmentReport | null): string | null => {
  const { header, segment, slot } = chained
  if (header === null) return chained.headerProblem
  if (header.slot !== slot) return 'the header names a different slot'
  if (header.number !== segment.number) return 'the number in the header differs from the file name'
  if (chained.previousIsEmpty) return `the previous segment, ${header.previous_segment}, was emptied`
  if (before === null) return null
  if (header.previous_segment === null) return `the header names no previous segment, but ${before.name} exists`
  if (header.previous_segment !== before.name) return `the previous segment, ${header.previous_segment}, is missing`
  if (header.previous_hash !== before.lastHash) return `the last line of ${before.name} was changed or removed`
  return null
}

/** Compares the bytes after the valid lines with the successor's header. */
const tailProblem = (chained: SegmentInChain, wholeBytes: number, warnings: string[]): string | null => {
  const { successor, bytes } = chained
  const tail = bytes - wholeBytes
  if (successor === null) {
    if (tail > 0) warnings.push(`torn tail of ${tail} bytes: a crash, or a write in progress`)
    return null
  }
  if (successor.previous_segment !== chained.segment.name) {
    return tail > 0 ? 'torn tail that no later segment records' : null
  }
  if (bytes < successor.previous_length) return 'lines were removed: the next segment records more bytes'
  if (wholeBytes !== successor.previous_length)
    return 'the last line ends at a different position than the next segment states'
  if (tail !== successor.previous_torn_bytes) return 'bytes were added or removed after the last line'
  if (tail > 0) warnings.push(`torn tail of ${tail} bytes, recorded in the next segment: a crash or a failed write`)
  return null
}

/** Reads a segment once. `before` is the report on the previous segment of the slot; null for the oldest. */
export const verifySegment = async (
  directory: string,
  chained: SegmentInChain,
  before: SegmentReport | null,
  visitor: { onRecord(record: LogRecord): string | null; onChunk(bytes: number): void },
): Promise<SegmentReport> => {
  const warnings: string[] = []
  let problem: SegmentProblem | null = null
  let lines = 0
  let firstAt: number | null = null
  let lastAt: number | null = null
  let lastHash: string | null = null
  const note = (line: number, detail: string | null): void => {
    if (detail !== null) problem ??= { line, detail }
  }

  const onLine = (bytes: Buffer): void => {
    lines++
    const previousHash = lastHash
    lastHash = hashLine(bytes)
    try {
      if (lines === 1) {
        note(1, tieProblem(chained, before))
        return
      }
      const { prev, record } = parseRecordLine(decoder.decode(bytes))
      if (prev !== previousHash) note(lines, 'the hash of the previous line does not match')
      firstAt ??= record.at
      lastAt = record.at
      note(lines, visitor.onRecord(record))
    } catch (error) {
      note(lines, detailOf(error))
    }
  }

  try {
    const path = join(directory, chained.slot, chained.segment.name)
    const wholeBytes = await forEachLine(path, countedBytes(chained), onLine, visitor.onChunk)
    note(lines + 1, tailProblem(chained, wholeBytes, warnings))
  } catch (error) {
    note(lines + 1, detailOf(error))
    // The rest is unknown, so the link of the next segment can't be verified either.
    lastHash = null
  }
  if (before === null && problem === null && typeof chained.header?.previous_segment === 'string') {
    warnings.push(`the previous segments, up to ${chained.header.previous_segment}, are not present`)
  }
  const { slot, segment, bytes } = chained
  return { slot, name: segment.name, bytes, lines, firstAt, lastAt, lastHash, ok: problem === null, problem, warnings }
}

/** Returns a report on a file without a whole line, left by a crash at its creation. It never contained a record. */
export const emptySegmentReport = (slot: string, name: string, bytes: number): SegmentReport => ({
  slot,
  name,
  bytes,
  lines: 0,
  firstAt: null,
  lastAt: null,
  lastHash: null,
  ok: true,
  problem: null,
  warnings: ['no complete line: a crash while the file was created'],
})

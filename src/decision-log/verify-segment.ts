// One segment against its own chain and against what its neighbours say of it.
import { join } from 'node:path'
import { DecisionLineMalformedError, reasonOf } from './errors.ts'
import { forEachLine } from './forwards.ts'
import { hashLine, parseRecordLine } from './record.ts'
import type { SegmentName } from './segment-name.ts'
import type { LogRecord, SegmentHeader } from './types.ts'

export interface SegmentProblem {
  /** Counted from 1, the header. */
  readonly line: number
  /** Chosen text; never the content of the line. */
  readonly detail: string
}

export interface SegmentReport {
  readonly slot: string
  readonly name: string
  readonly bytes: number
  /** Whole lines that count, with the header. */
  readonly lines: number
  /** Unix milliseconds of the first and last record after the header; null when there is none that can be read. */
  readonly firstAt: number | null
  readonly lastAt: number | null
  /** Hash of the last line: noted elsewhere, it proves later that nothing before it changed. */
  readonly lastHash: string | null
  readonly ok: boolean
  /** The first problem found; null when ok. */
  readonly problem: SegmentProblem | null
  /** What a crash or a removal of old segments leaves and no attacker needs to explain. */
  readonly warnings: readonly string[]
}

/** A segment on the disk, with its neighbours in the slot's chain. */
export interface SegmentInChain {
  readonly slot: string
  readonly segment: SegmentName
  /** Bytes of the file when verification began. */
  readonly bytes: number
  /** Null when the first line is not a header. */
  readonly header: SegmentHeader | null
  readonly headerProblem: string | null
  /** The segment after it; null for the newest. */
  readonly successor: SegmentHeader | null
  /** The header names a file that is there and holds no line: something emptied it. */
  readonly previousIsEmpty: boolean
}

/** Bytes that count: what the successor acknowledges, or all of them. */
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

/** How the header ties to the segment before it. Null when it does. */
const tieProblem = (chained: SegmentInChain, before: SegmentReport | null): string | null => {
  const { header, segment, slot } = chained
  if (header === null) return chained.headerProblem
  if (header.slot !== slot) return 'the header names another slot'
  if (header.number !== segment.number) return 'the header names another number than the file'
  if (chained.previousIsEmpty) return `the segment before it, ${header.previous_segment}, was emptied`
  if (before === null) return null
  if (header.previous_segment === null) return `the header names no segment before it, but ${before.name} is there`
  if (header.previous_segment !== before.name) return `the segment before it, ${header.previous_segment}, is missing`
  if (header.previous_hash !== before.lastHash) return `the last line of ${before.name} was changed or removed`
  return null
}

/** What lies beyond the lines that count, against what the successor says. */
const tailProblem = (chained: SegmentInChain, wholeBytes: number, warnings: string[]): string | null => {
  const { successor, bytes } = chained
  const tail = bytes - wholeBytes
  if (successor === null) {
    if (tail > 0) warnings.push(`torn tail of ${tail} bytes: a crash, or a write going on`)
    return null
  }
  if (successor.previous_segment !== chained.segment.name) {
    return tail > 0 ? 'torn tail that no later segment knows of' : null
  }
  if (bytes < successor.previous_length) return 'lines were removed: the next segment knows of more bytes'
  if (wholeBytes !== successor.previous_length) return 'the last line does not end where the next segment expects it'
  if (tail !== successor.previous_torn_bytes) return 'bytes were added or removed after the last line'
  if (tail > 0) warnings.push(`torn tail of ${tail} bytes, known to the next segment: a crash or a failed write`)
  return null
}

export interface SegmentVisitor {
  /** Returns a problem with the record among all others, or null. */
  onRecord(record: LogRecord): string | null
  onChunk(bytes: number): void
}

/** Reads a segment once. `before` is the report on the segment before it in the slot; null for the oldest. */
export const verifySegment = async (
  directory: string,
  chained: SegmentInChain,
  before: SegmentReport | null,
  visitor: SegmentVisitor,
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
      if (prev !== previousHash) note(lines, 'its hash of the line before does not match that line')
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
    // What follows is not known, so the next segment's tie can't hold either.
    lastHash = null
  }
  if (before === null && problem === null && typeof chained.header?.previous_segment === 'string') {
    warnings.push(`the segments before it, up to ${chained.header.previous_segment}, are not here`)
  }
  const { slot, segment, bytes } = chained
  return { slot, name: segment.name, bytes, lines, firstAt, lastAt, lastHash, ok: problem === null, problem, warnings }
}

/** The report on a file without one whole line: a crash at its creation; nothing was ever recorded in it. */
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
  warnings: ['no whole line: a crash while it was made'],
})

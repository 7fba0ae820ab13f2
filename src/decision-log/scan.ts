// Reads the lines of a slot in order, from any position, across rotations and while the slot grows.
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DecisionLineMalformedError } from './errors.ts'
import { readAt } from './line-hashes.ts'
import { MAX_LINE_BYTES, parseHeaderLine } from './record.ts'
import { listSegments, parseSegmentName, type SegmentName } from './segment-name.ts'

const CHUNK_BYTES = 262_144
const NEWLINE = 10

/** Everything before `offset` in this segment, and all earlier segments, was taken. */
export interface ScanPosition {
  readonly segment: string
  readonly offset: number
}

export interface ScannedLine {
  readonly slot: string
  readonly segment: string
  readonly offset: number
  /** Length in bytes, without the newline. */
  readonly length: number
  readonly text: string
}

/** Lines of a segment starting at `length` are invalid according to the next segment's header. */
export interface SegmentCut {
  readonly segment: string
  readonly length: number
}

export interface SlotScanner {
  /** Does not take the line. Null if there is none yet. Skips headers. */
  peek(): ScannedLine | null
  take(): void
  position(): ScanPosition | null
  takeCuts(): readonly SegmentCut[]
  close(): void
}

interface OpenSegment {
  readonly name: SegmentName
  readonly descriptor: number
  offset: number
  /** Bytes read from the file. Those from `start` are pending, at the file offset `offset`. */
  held: Buffer
  start: number
  /** True if a later segment already existed when this one was read to its end, so it no longer grows. */
  complete: boolean
}

/** Returns null if the first line isn't a header; such a segment has no link to the previous segment. */
const headerOf = (line: Buffer) => {
  try {
    return parseHeaderLine(line.toString('utf8'))
  } catch (error) {
    if (error instanceof DecisionLineMalformedError) return null
    throw error
  }
}

/** The scanner stays usable after system errors. @param list replaced in tests to simulate concurrent rotations */
export const createSlotScanner = (
  directory: string,
  slot: string,
  from: ScanPosition | null,
  list: (slotDirectory: string) => readonly SegmentName[] = listSegments,
): SlotScanner => {
  const slotDirectory = join(directory, slot)
  let current: OpenSegment | null = null
  /** Last segment with lines that was read to its end, until the next header is read. */
  let ended: OpenSegment | null = null
  let position = from
  let next: ScannedLine | null = null
  let cuts: SegmentCut[] = []

  const openSegment = (name: SegmentName, offset: number): OpenSegment => ({
    name,
    offset,
    held: Buffer.alloc(0),
    start: 0,
    complete: false,
    descriptor: openSync(join(slotDirectory, name.name), 'r'),
  })

  const successorOf = (number: number): SegmentName | undefined =>
    list(slotDirectory).find((segment) => segment.number > number)

  const openFirst = (): OpenSegment | null => {
    const segments = list(slotDirectory)
    const known = from === null ? null : parseSegmentName(from.segment)
    const first = known === null ? segments[0] : segments.find(({ number }) => number >= known.number)
    if (first === undefined) return null
    return openSegment(first, first.name === from?.segment ? from.offset : 0)
  }

  const nextLine = (segment: OpenSegment): Buffer | null => {
    let end = segment.held.indexOf(NEWLINE, segment.start)
    while (end < 0 && segment.held.length - segment.start <= MAX_LINE_BYTES) {
      const rest = segment.held.subarray(segment.start)
      const size = rest.length === 0 ? CHUNK_BYTES : MAX_LINE_BYTES + 1
      const read = readAt(segment.descriptor, segment.offset + rest.length, size)
      if (read.length === 0) return null
      segment.held = rest.length === 0 ? read : Buffer.concat([rest, read])
      segment.start = 0
      end = segment.held.indexOf(NEWLINE)
    }
    return end < 0 ? null : segment.held.subarray(segment.start, end)
  }

  const pass = (segment: OpenSegment, length: number): void => {
    segment.start += length + 1
    segment.offset += length + 1
  }

  /** Reads the previous segment's valid length from a header, and records a cut if more was read. */
  const readHeader = (line: Buffer, before: OpenSegment): void => {
    const header = headerOf(line)
    const segment = before.name.name
    if (header?.previous_segment === segment && header.previous_length < before.offset) {
      cuts.push({ segment, length: header.previous_length })
    }
  }

  const follow = (segment: OpenSegment): boolean => {
    const successor = successorOf(segment.name.number)
    if (successor === undefined) return false
    if (!segment.complete) {
      // Lines written between the last read and the rotation must still be read.
      segment.complete = true
      return true
    }
    current = openSegment(successor, 0)
    closeSync(segment.descriptor)
    // A crash can leave a segment without a line; the next header then names the segment before it.
    if (segment.offset > 0) ended = segment
    return true
  }

  const findNext = (): ScannedLine | null => {
    for (;;) {
      current ??= openFirst()
      if (current === null) return null
      const segment: OpenSegment = current
      const line = nextLine(segment)
      if (line === null) {
        if (!follow(segment)) return null
        continue
      }
      const { offset } = segment
      const { length } = line
      if (offset === 0) {
        pass(segment, length)
        if (ended !== null) {
          readHeader(line, ended)
          position = { segment: segment.name.name, offset: segment.offset }
          ended = null
        }
        continue
      }
      const text = line.toString('utf8')
      pass(segment, length)
      return { slot, segment: segment.name.name, offset, length, text }
    }
  }

  return {
    peek: () => {
      next ??= findNext()
      return next
    },
    take: () => {
      if (next === null) return
      position = { segment: next.segment, offset: next.offset + next.length + 1 }
      next = null
    },
    position: () => position,
    takeCuts: () => {
      const taken = cuts
      cuts = []
      return taken
    },
    close: () => {
      if (current !== null) closeSync(current.descriptor)
      current = null
      next = null
    },
  }
}

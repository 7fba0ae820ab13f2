// One line of the log, found again by its place, and what ties it to the lines around it.
import { closeSync, openSync } from 'node:fs'
import { isMissingFile } from '../lib/named-error.ts'
import { readAt } from './line-hashes.ts'
import { hashLine, MAX_LINE_BYTES, parseRecordLine } from './record.ts'
import { segmentPath } from './segment-name.ts'
import type { LogRecord } from './types.ts'

export interface LinePlace {
  readonly slot: string
  /** File name. */
  readonly segment: string
  readonly offset: number
  /** Bytes, without the newline. */
  readonly length: number
}

/** How a line hangs in its chain. Anyone can check it with the file and SHA-256. */
export interface LineProof extends LinePlace {
  /** SHA-256 of the line. */
  readonly hash: string
  /** The hash that the line carries of the one before it. */
  readonly previousHash: string
  /** The line before it has that hash. */
  readonly previousMatches: boolean
  /** The line after it carries this line's hash; null when it is the newest of its segment. */
  readonly nextMatches: boolean | null
}

export interface ProvenLine {
  readonly record: LogRecord
  readonly line: string
  readonly proof: LineProof
}

const NEWLINE = 10
/** As much of the next line as holds its hash of this one: `{"prev":"` and 64 hex digits. */
const PREVIOUS_START = '{"prev":"'.length
const PREVIOUS_END = PREVIOUS_START + 64

/** Null when the file is gone or has no whole line there: it was archived, or the index is of another log. */
const openAt = <Result>(directory: string, place: LinePlace, use: (descriptor: number) => Result): Result | null => {
  let descriptor: number
  try {
    descriptor = openSync(segmentPath(directory, place.slot, place.segment), 'r')
  } catch (error) {
    if (isMissingFile(error)) return null
    throw error
  }
  try {
    return use(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

const lineAt = (descriptor: number, { offset, length }: LinePlace): Buffer | null => {
  const bytes = readAt(descriptor, offset, length + 1)
  return bytes.length === length + 1 && bytes[length] === NEWLINE ? bytes.subarray(0, length) : null
}

/** The texts of many lines, in their order; null for those that are not there. Each file is opened once. */
export const readPlaces = (directory: string, places: readonly LinePlace[]): (string | null)[] => {
  const texts: (string | null)[] = places.map(() => null)
  const bySegment = Map.groupBy(places.keys(), (index) => `${places[index]?.slot}/${places[index]?.segment}`)
  for (const indexes of bySegment.values()) {
    const first = places[indexes[0] ?? 0]
    if (first === undefined) continue
    openAt(directory, first, (descriptor) => {
      for (const index of indexes) {
        const place = places[index]
        if (place !== undefined) texts[index] = lineAt(descriptor, place)?.toString('utf8') ?? null
      }
    })
  }
  return texts
}

/** The line that ends right before `offset`; null when there is none. */
const lineBefore = (descriptor: number, offset: number): Buffer | null => {
  for (let size = 4_096; ; size *= 8) {
    const length = Math.min(size, offset)
    const bytes = readAt(descriptor, offset - length, length)
    if (bytes.length === 0 || bytes[bytes.length - 1] !== NEWLINE) return null
    const start = bytes.subarray(0, -1).lastIndexOf(NEWLINE)
    if (start >= 0 || length === offset) return bytes.subarray(start + 1, -1)
    if (size > MAX_LINE_BYTES) return null
  }
}

/**
 * The line at a place with its proof; null when it is not there.
 * @throws DecisionLineMalformedError when what is there was not written by this service
 */
export const readProven = (directory: string, place: LinePlace): ProvenLine | null =>
  openAt(directory, place, (descriptor) => {
    const bytes = lineAt(descriptor, place)
    if (bytes === null) return null
    const line = bytes.toString('utf8')
    const { record, prev } = parseRecordLine(line)
    const hash = hashLine(bytes)
    const before = lineBefore(descriptor, place.offset)
    const after = readAt(descriptor, place.offset + place.length + 1, PREVIOUS_END)
    const nextHash = after.length < PREVIOUS_END ? null : after.toString('latin1', PREVIOUS_START, PREVIOUS_END)
    return {
      record,
      line,
      proof: {
        slot: place.slot,
        segment: place.segment,
        offset: place.offset,
        length: place.length,
        hash,
        previousHash: prev,
        previousMatches: before !== null && hashLine(before) === prev,
        nextMatches: nextHash === null ? null : nextHash === hash,
      },
    }
  })

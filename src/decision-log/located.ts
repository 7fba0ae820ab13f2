// Reads lines of the log by position, with their links to the neighboring lines.
import { closeSync, openSync } from 'node:fs'
import { isMissingFile } from '../lib/named-error.ts'
import { readAt } from './line-hashes.ts'
import { hashLine, MAX_LINE_BYTES, parseRecordLine } from './record.ts'
import { segmentPath } from './segment-name.ts'
import type { LogRecord } from './types.ts'

export interface LinePlace {
  readonly slot: string
  readonly segment: string
  readonly offset: number
  readonly length: number
}

/** Links of a line in its hash chain. They can be checked with the file and SHA-256 alone. */
export interface LineProof extends LinePlace {
  readonly hash: string
  readonly previousHash: string
  /** True if the previous line has the hash that this line contains. */
  readonly previousMatches: boolean
  /** True if the next line contains this line’s hash; null for the last line of a segment. */
  readonly nextMatches: boolean | null
}

export interface ProvenLine {
  readonly record: LogRecord
  readonly line: string
  readonly proof: LineProof
}

const NEWLINE = 10
/** Part of the next line that contains this line's hash: `{"prev":"` and 64 hex digits. */
const PREVIOUS_START = '{"prev":"'.length
const PREVIOUS_END = PREVIOUS_START + 64

/** Returns null if the file is missing, because it was archived or the index belongs to another log. */
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

/** Returns null for missing lines. Opens each file once. */
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
 * Returns null if there is no whole line. @throws DecisionLineMalformedError if the line was not written by this
 * service
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

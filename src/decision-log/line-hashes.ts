// SHA-256 hashes of log lines, in runs of whole lines of one segment. Each line contains the hash of the previous line,
// so only the last line of a run is hashed. Verification checks the contained hashes.
import { closeSync, fdatasyncSync, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { DecisionLineMalformedError } from './errors.ts'
import { MAX_LINE_BYTES, parseHeaderLine } from './record.ts'
import { listSegments, listSlots, type SegmentName } from './segment-name.ts'

/** Returns fewer than `length` bytes at the end of the file. */
export const readAt = (descriptor: number, position: number, length: number): Buffer => {
  const buffer = Buffer.allocUnsafe(length)
  return buffer.subarray(0, readSync(descriptor, buffer, 0, length, position))
}

export interface LineRun {
  readonly slot: string
  readonly segment: string
  readonly start: number
  readonly end: number
  /** 32 bytes per line, including the header, in the order of the lines. */
  readonly hashes: Buffer
}

const NEWLINE = 10
const HASH_BYTES = 32
/** Start of each line except a header: `{"prev":"` and 64 hex digits. */
const PREVIOUS_START = '{"prev":"'.length
const PREVIOUS_END = PREVIOUS_START + 2 * HASH_BYTES
/** Characters that distinguish records from headers: the `p` of `prev`, and the quote after the digits. */
const PREVIOUS_LETTER = 112
const QUOTE = 34
const HEADER_MAX_BYTES = 4_096
const HASH = /^[0-9a-f]{64}$/

/** Hashes of the whole lines in `bytes`, and the length of these lines. */
export const hashLines = (bytes: Buffer): { readonly hashes: Buffer; readonly length: number } => {
  const ends: number[] = []
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, end + 1)) ends.push(end)
  const digits = Buffer.allocUnsafe(ends.length * 2 * HASH_BYTES)
  /** Indexes of lines whose hash the next line doesn't contain. */
  const unknown: number[] = []
  for (let line = 0; line < ends.length; line++) {
    const next = (ends[line] as number) + 1
    const carries =
      line + 1 < ends.length && bytes[next + 2] === PREVIOUS_LETTER && bytes[next + PREVIOUS_END] === QUOTE
    if (carries) bytes.copy(digits, line * 2 * HASH_BYTES, next + PREVIOUS_START, next + PREVIOUS_END)
    else {
      unknown.push(line)
      digits.fill('0', line * 2 * HASH_BYTES, (line + 1) * 2 * HASH_BYTES)
    }
  }
  let hashes = Buffer.from(digits.toString('latin1'), 'hex')
  if (hashes.length !== ends.length * HASH_BYTES) {
    for (let line = 0; line < ends.length; line++) {
      const [start, end] = [line * 2 * HASH_BYTES, (line + 1) * 2 * HASH_BYTES]
      if (HASH.test(digits.toString('latin1', start, end))) continue
      unknown.push(line)
      digits.fill('0', start, end)
    }
    hashes = Buffer.from(digits.toString('latin1'), 'hex')
  }
  for (const line of unknown) {
    const start = line === 0 ? 0 : (ends[line - 1] as number) + 1
    Bun.SHA256.hash(bytes.subarray(start, ends[line]), hashes.subarray(line * HASH_BYTES, (line + 1) * HASH_BYTES))
  }
  return { hashes, length: ends.length === 0 ? 0 : (ends.at(-1) as number) + 1 }
}

/** Returns the valid length of a segment according to the next segment's header, if any. */
export const countedBytes = (
  slotDirectory: string,
  segment: SegmentName,
  next: SegmentName | undefined,
): number | null => {
  if (next === undefined) return null
  const descriptor = openSync(join(slotDirectory, next.name), 'r')
  try {
    const start = readAt(descriptor, 0, HEADER_MAX_BYTES)
    const end = start.indexOf(NEWLINE)
    if (end < 0) return null
    const header = parseHeaderLine(start.toString('utf8', 0, end))
    return header.previous_segment === segment.name ? header.previous_length : null
  } catch (error) {
    if (error instanceof DecisionLineMalformedError) return null
    throw error
  } finally {
    closeSync(descriptor)
  }
}

export interface LineIntakeOptions {
  readonly directory: string
  readonly taken: ReadonlyMap<string, number>
  readonly runBytes?: number
}

const RUN_BYTES = 1_048_576

/** @throws DecisionDirectoryMissingError; system errors, after which the caller must create a new intake */
export const createLineIntake = (options: LineIntakeOptions) => {
  const { directory, runBytes = RUN_BYTES } = options
  const taken = new Map(options.taken)
  const unflushed = new Set<string>()
  /** Number of the first segment with lines that haven't been taken, by slot. */
  const doneBefore = new Map<string, number>()

  /** Reused for each read; replaced only if a longer line needs more space. */
  let buffer = Buffer.allocUnsafe(0)
  const read = (descriptor: number, from: number, length: number): Buffer => {
    if (buffer.length < length) buffer = Buffer.allocUnsafe(length)
    return buffer.subarray(0, readSync(descriptor, buffer, 0, length, from))
  }

  const readRun = (slot: string, segment: SegmentName, next: SegmentName | undefined): LineRun | null => {
    const slotDirectory = join(directory, slot)
    const key = `${slot}/${segment.name}`
    const from = taken.get(key) ?? 0
    // Must precede reading the size: a segment with a successor no longer grows.
    const counted = countedBytes(slotDirectory, segment, next)
    const descriptor = openSync(join(slotDirectory, segment.name), 'r')
    try {
      const end = Math.min(fstatSync(descriptor).size, counted ?? Number.POSITIVE_INFINITY)
      if (end <= from) return null
      let bytes = read(descriptor, from, Math.min(runBytes, end - from))
      if (bytes.indexOf(NEWLINE) < 0) bytes = read(descriptor, from, Math.min(MAX_LINE_BYTES + 1, end - from))
      const { hashes, length } = hashLines(bytes)
      if (length === 0) return null
      unflushed.add(join(slotDirectory, segment.name))
      taken.set(key, from + length)
      return { slot, segment: segment.name, start: from, end: from + length, hashes }
    } finally {
      closeSync(descriptor)
    }
  }

  return {
    /** Returns each new line once; null if there are none yet. */
    next: (): LineRun | null => {
      for (const slot of listSlots(directory)) {
        const segments = listSegments(join(directory, slot))
        for (const [index, segment] of segments.entries()) {
          if (segment.number < (doneBefore.get(slot) ?? 0)) continue
          const next = segments[index + 1]
          const run = readRun(slot, segment, next)
          if (run !== null) return run
          if (next !== undefined) doneBefore.set(slot, next.number)
        }
      }
      return null
    },
    /** Flushes the returned lines to disk, so that data derived from them never outlives them. */
    flush: () => {
      for (const path of unflushed) {
        const descriptor = openSync(path, 'r')
        try {
          fdatasyncSync(descriptor)
        } finally {
          closeSync(descriptor)
        }
      }
      unflushed.clear()
    },
  }
}

export type LineIntake = ReturnType<typeof createLineIntake>

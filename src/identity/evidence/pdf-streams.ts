// Inflates a PDF's streams within size and time limits. Reads each zlib stream to the end of its data, because a
// dictionary can be wrong, and the data can contain `endstream`. Source: ISO 32000-2 §7.3.8, §7.4.4; RFC 1950 §2.2.
import { createInflate } from 'node:zlib'
import { DocumentInvalidError } from './errors.ts'
import { ASCII_85, ASCII_HEX } from './pdf-ascii.ts'
import { positionsOf, UNREADABLE } from './pdf-object-streams.ts'

export interface InflateLimits {
  readonly inflatedBytesMax: number
  /** Bytes read from all streams, including nested streams. */
  readonly readBytesMax: number
  readonly streamWordsMax: number
  /** Processor time, so that a busy machine doesn't reject more documents. */
  readonly processorMsMax: number
}

export const INFLATE_LIMITS: InflateLimits = {
  inflatedBytesMax: 128 * 1_048_576,
  readBytesMax: 64 * 1_048_576,
  streamWordsMax: 20_000,
  processorMsMax: 2_000,
}

const STREAM = 'stream'
/** Inflated bytes per stream that are kept and searched for nested streams. */
const LOOKED_AT_BYTES = 4 * 1_048_576
const NESTED_MAX = 4
/** Size of a probe: enough text to decode the two bytes of a zlib header, including whitespace. */
const PROBE_BYTES = 64
/** Minimum size: shorter results aren't filter text, and are too short for the name of a script. */
const TEXT_BYTES_MIN = 8

/** Returns whether the bytes start with a deflate method and valid header checksum (RFC 1950). */
const isZlib = (bytes: Buffer): boolean =>
  bytes.length > 2 && (bytes[0]! & 0x0f) === 8 && bytes.readUInt16BE(0) % 31 === 0

interface Budget {
  inflated: number
  read: number
  readonly endsAtMs: number
}

export const TOO_LARGE = 'the PDF expands to too much data: print it to a new PDF, or send an image'
const tooLarge = (): DocumentInvalidError => new DocumentInvalidError(TOO_LARGE)

const processorMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

const spend = (budget: Budget, { inflated = 0, read = 0 }): void => {
  budget.inflated -= inflated
  budget.read -= read
  if (budget.inflated < 0 || budget.read < 0 || processorMs() > budget.endsAtMs) throw tooLarge()
}

/** Returns data that a viewer may inflate: the bytes and, for filter text, the decoded bytes. */
const readings = (bytes: Buffer, budget: Budget, look: (content: Buffer) => void): readonly Buffer[] => {
  const start = bytes.subarray(0, PROBE_BYTES)
  const packed = isZlib(start) ? [bytes] : []
  for (const { textOf, decode } of [ASCII_HEX, ASCII_85]) {
    if (decode(textOf(start)).length < TEXT_BYTES_MIN) continue
    const text = textOf(bytes)
    spend(budget, { read: text.length })
    const decoded = decode(text)
    spend(budget, { inflated: decoded.length })
    if (isZlib(decoded)) packed.push(decoded)
    else look(decoded)
  }
  return packed
}

/** Size of the overlap. Exceeds the length of any name that `look` searches for, including its value. */
const OVERLAP_BYTES = 256

/**
 * Returns the first LOOKED_AT_BYTES; passes the rest to `look`.
 * @throws DocumentInvalidError if over budget, or if the data is damaged and must be whole
 */
const inflate = async (
  bytes: Buffer,
  budget: Budget,
  look: (content: Buffer) => void,
  mustBeWhole: boolean,
): Promise<Buffer> => {
  const stream = createInflate()
  const kept: Buffer[] = []
  let length = 0
  let read = 0
  let end: Buffer = Buffer.alloc(0)
  stream.end(bytes)
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      spend(budget, { inflated: chunk.length })
      if (length < LOOKED_AT_BYTES) kept.push(chunk)
      else look(Buffer.concat([end, chunk]))
      end = chunk.subarray(-OVERLAP_BYTES)
      length += chunk.length
    }
  } catch (error) {
    // Damaged or not zlib: a viewer would show the data inflated so far.
    if (error instanceof DocumentInvalidError) throw error
    if (mustBeWhole) throw new DocumentInvalidError(UNREADABLE)
    // For damaged data, zlib doesn't report how much it read.
    read = bytes.length
  } finally {
    stream.destroy()
  }
  spend(budget, { read: Math.max(read, stream.bytesWritten) })
  return Buffer.concat(kept)
}

/**
 * Also inflates nested streams. @param objectStreams positions of data that must be whole: viewers show the start of
 * damaged data, but zlib doesn't always return it. @param look receives the data in overlapping pieces; may throw
 * @throws DocumentInvalidError if a limit is exceeded, or an object stream is damaged
 */
export const inflateStreams = async (
  document: Buffer,
  objectStreams: ReadonlySet<number>,
  look: (content: Buffer) => void,
  { inflatedBytesMax, readBytesMax, streamWordsMax, processorMsMax }: InflateLimits = INFLATE_LIMITS,
): Promise<void> => {
  const budget: Budget = { inflated: inflatedBytesMax, read: readBytesMax, endsAtMs: processorMs() + processorMsMax }
  const unpack = async (bytes: Buffer, depth: number, mustBeWhole = false): Promise<void> => {
    const content = await inflate(bytes, budget, look, mustBeWhole)
    look(content)
    const inside = readings(content, budget, look)
    if (inside.length === 0) return
    if (depth >= NESTED_MAX || content.length >= LOOKED_AT_BYTES) throw tooLarge()
    for (const each of inside) await unpack(each, depth + 1)
  }
  const words = positionsOf(STREAM, document)
  if (words.length > streamWordsMax) throw tooLarge()
  for (const at of words) {
    let start = at + STREAM.length
    if (document[start] === 0x0d) start += 1
    if (document[start] === 0x0a) start += 1
    const data = document.subarray(start)
    if (objectStreams.has(start)) await unpack(data, 1, true)
    else for (const each of readings(data, budget, look)) await unpack(each, 1)
  }
}

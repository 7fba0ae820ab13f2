// The writer of one slot's decision log. Invariant 2 rests on it: append() either returns with every line of the batch
// in the file, or throws DecisionLogError and none of them counts.
//
// How that holds:
// 1. One instance writes one file, made with O_EXCL, and never opens a file that another instance made.
// 2. A batch is encoded completely before its first byte is written, then written by one call (more only where the
//    system writes short). Length and hash in memory move only after all of it succeeded.
// 3. After any failure the file is never written again. It is cut back to its last good length; where that fails too,
//    the next segment's header says how many of its bytes count. So no line is ever appended to half a line.
// 4. The next append opens a new segment, tied to the good part of the one before by name, length and hash.
import { join } from 'node:path'
import { DecisionLineMalformedError, DecisionLogError, reasonOf } from './errors.ts'
import { type PreviousSegment, readSlotTie } from './previous-segment.ts'
import { checkRecordable, encodeHeader, encodeRecord, hashLine, MAX_LINE_BYTES } from './record.ts'
import { type SegmentFiles, systemSegmentFiles } from './segment-files.ts'
import { isSlotName, nextSegmentName, type SegmentName } from './segment-name.ts'
import type { LogRecord, SegmentWriter } from './types.ts'

const DAY_MS = 86_400_000

export interface SegmentOptions {
  /** The log's directory; the slot's is inside it. Made with mode 0700 when missing. */
  readonly directory: string
  /** See slotName. The caller ensures one writer per slot at a time. */
  readonly slot: string
  /** A segment that has reached this size is followed by a new one; the batch that reaches it is not split. */
  readonly maxBytes: number
  /** True: fdatasync after each batch and before it counts, so that a power cut loses nothing acknowledged. */
  readonly sync: boolean
  readonly clock: { /** Unix milliseconds. */ unixMs(): number }
  readonly files?: SegmentFiles
}

interface OpenSegment {
  readonly segment: SegmentName
  readonly path: string
  readonly descriptor: number
  /** UTC days since the epoch. */
  readonly day: number
  /** Bytes that count. */
  length: number
  /** Hash of the last line that counts. */
  hash: string
}

const writeFully = (files: SegmentFiles, descriptor: number, bytes: Uint8Array, length: number): void => {
  for (let done = 0; done < length; ) {
    const count = files.write(descriptor, bytes, done, length - done)
    if (count <= 0) throw new DecisionLogError('the system wrote nothing')
    done += count
  }
}

/** For cleaning up after a failure that is already being reported: false when the operation failed as well. */
const succeeds = (operation: () => void): boolean => {
  try {
    operation()
    return true
  } catch {
    return false
  }
}

/**
 * Opens a new segment in the slot. Never throws for a file system's failure: the writer's `failure` says why it can't
 * write, and each append tries again, so a worker started on a full disk heals like one that met it later.
 * @throws RangeError for a slot name that is not one path element.
 */
export const openSegment = (options: SegmentOptions): SegmentWriter => {
  const { slot, maxBytes, sync, clock, files = systemSegmentFiles } = options
  if (!isSlotName(slot)) throw new RangeError('a slot is named by lower-case letters, digits, - and _')
  const slotDirectory = join(options.directory, slot)

  let current: OpenSegment | null = null
  /** A segment whose write failed and of which the size is not known yet. */
  let failed: OpenSegment | null = null
  /** A new segment's file that could be neither completed nor removed. */
  let stray: PreviousSegment | null = null
  /** What the next segment ties to; undefined until the directory was read. */
  let tie: PreviousSegment | null | undefined
  let newest: SegmentName | null = null
  let path = ''
  let failure: DecisionLogError | null = null
  let closed = false
  let buffer = Buffer.allocUnsafe(65_536)
  const encoder = new TextEncoder()

  const tieTo = (open: OpenSegment, tornBytes: number): PreviousSegment => ({
    segment: open.segment,
    hash: open.hash,
    length: open.length,
    tornBytes,
  })

  /** Step 3: cuts the failed segment back, or learns how many bytes lie beyond its good part, for good. */
  const settleFailed = (): void => {
    if (failed === null) return
    const { descriptor, length } = failed
    const cut = succeeds(() => files.truncate(descriptor, length))
    if (cut && sync) succeeds(() => files.syncData(descriptor))
    const size = cut ? length : (files.size(failed.path) ?? length)
    tie = tieTo(failed, Math.max(0, size - length))
    succeeds(() => files.close(descriptor))
    failed = null
  }

  /** A stray with a whole header is a segment for any reader, so the chain goes through it; else it is none. */
  const settleStray = (): void => {
    if (stray === null) return
    if (files.size(join(slotDirectory, stray.segment.name)) === stray.length) tie = stray
    newest = stray.segment
    stray = null
  }

  const readTie = (): PreviousSegment | null => {
    const found = readSlotTie(slotDirectory)
    // Lines that a killed instance wrote but did not flush count from here on, so they are flushed first.
    if (sync && found.tie !== null) files.syncPath(join(slotDirectory, found.tie.segment.name))
    newest = found.newest
    return found.tie
  }

  /** Step 4. Throws with nothing changed that a later attempt would not set right. */
  const openNext = (nowMs: number): OpenSegment => {
    files.makeDirectory(slotDirectory)
    settleFailed()
    settleStray()
    if (tie === undefined) tie = readTie()
    const segment = nextSegmentName(nowMs, newest)
    const line = encodeHeader({
      kind: 'segment',
      version: 1,
      slot,
      number: segment.number,
      at: nowMs,
      previous_segment: tie?.segment.name ?? null,
      previous_hash: tie?.hash ?? null,
      previous_length: tie?.length ?? 0,
      previous_torn_bytes: tie?.tornBytes ?? 0,
    })
    const hash = hashLine(line)
    const bytes = Buffer.from(`${line}\n`)
    const segmentPath = join(slotDirectory, segment.name)
    const descriptor = files.create(segmentPath)
    try {
      writeFully(files, descriptor, bytes, bytes.length)
      if (sync) files.syncData(descriptor)
      files.syncPath(slotDirectory)
    } catch (error) {
      succeeds(() => files.close(descriptor))
      if (!succeeds(() => files.remove(segmentPath))) stray = { segment, hash, length: bytes.length, tornBytes: 0 }
      throw error
    }
    newest = segment
    path = segmentPath
    return { segment, path, descriptor, day: Math.floor(nowMs / DAY_MS), length: bytes.length, hash }
  }

  /** The segment that takes the next batch. The one before is let go first: it is never returned to. */
  const segmentFor = (nowMs: number): OpenSegment => {
    if (current !== null && current.length < maxBytes && Math.floor(nowMs / DAY_MS) === current.day) return current
    if (current !== null) {
      const { descriptor } = current
      tie = tieTo(current, 0)
      current = null
      succeeds(() => files.close(descriptor))
    }
    current = openNext(nowMs)
    return current
  }

  /** Step 2. */
  const write = (open: OpenSegment, records: readonly LogRecord[]): void => {
    let hash = open.hash
    const lines: string[] = []
    for (const record of records) {
      const line = encodeRecord(record, hash)
      if (line.length * 3 > MAX_LINE_BYTES && Buffer.byteLength(line) > MAX_LINE_BYTES) {
        throw new DecisionLineMalformedError('the line is longer than the log allows')
      }
      hash = hashLine(line)
      lines.push(line)
    }
    lines.push('')
    const text = lines.join('\n')
    // UTF-8 needs at most three bytes for a UTF-16 unit.
    if (text.length * 3 > buffer.length) buffer = Buffer.allocUnsafe(text.length * 3)
    const length = encoder.encodeInto(text, buffer).written
    try {
      writeFully(files, open.descriptor, buffer, length)
      if (sync) files.syncData(open.descriptor)
    } catch (error) {
      current = null
      failed = open
      // At once where possible; else the next append does it before it opens a new segment.
      succeeds(settleFailed)
      throw error
    }
    open.length += length
    open.hash = hash
  }

  const noteFailure = (error: unknown): DecisionLogError => {
    failure = error instanceof DecisionLogError ? error : new DecisionLogError(reasonOf(error), error)
    return failure
  }

  try {
    segmentFor(clock.unixMs())
  } catch (error) {
    noteFailure(error)
  }

  return {
    get path() {
      return path
    },
    get failure() {
      return failure
    },
    append: (records) => {
      if (closed) throw new DecisionLogError('closed')
      try {
        for (const record of records) checkRecordable(record)
        const open = segmentFor(clock.unixMs())
        if (records.length > 0) write(open, records)
        failure = null
      } catch (error) {
        // The caller's mistake and not the log's: nothing was written, and the next batch may be fine.
        if (error instanceof DecisionLineMalformedError) throw new DecisionLogError('malformed record', error)
        throw noteFailure(error)
      }
    },
    close: () => {
      closed = true
      succeeds(settleFailed)
      if (current === null) return
      const { descriptor } = current
      current = null
      succeeds(() => files.close(descriptor))
    },
  }
}

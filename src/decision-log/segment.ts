// Writes the decision log of one slot. Invariant 2 depends on it: append() returns with every line of the batch in the
// file, or throws DecisionLogError and no line is valid.
//
// 1. One instance writes one file, created with O_EXCL, and never opens another instance's file.
// 2. A batch is encoded completely before its first byte is written, and then written by one call, or more after a
//    short write. Length and hash in memory change only after complete success.
// 3. After a failure, the file is truncated to its last valid length and never written again. If truncation fails too,
//    the next segment's header records the valid length. So no line is ever appended to a partial line.
// 4. The next append opens a new segment, linked to the valid part of the previous one by name, length and hash.
import { join } from 'node:path'
import { DecisionLineMalformedError, DecisionLogError, reasonOf } from './errors.ts'
import { type PreviousSegment, readSlotTie } from './previous-segment.ts'
import { checkRecordable, encodeHeader, encodeRecord, hashLine, MAX_LINE_BYTES } from './record.ts'
import { type SegmentFiles, systemSegmentFiles } from './segment-files.ts'
import { isSlotName, nextSegmentName, type SegmentName } from './segment-name.ts'
import type { LogRecord, SegmentWriter } from './types.ts'

const DAY_MS = 86_400_000

export interface SegmentOptions {
  /** Directory of the log, which contains the slot's directory. Created with mode 0700 if missing. */
  readonly directory: string
  /** See slotName. The caller ensures that a slot has one writer at a time. */
  readonly slot: string
  /** Size at which a new segment is started. The batch that reaches the size is not split. */
  readonly maxBytes: number
  /** If true, fdatasync runs before a batch is acknowledged, so that a power failure loses no acknowledged record. */
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
  /** Valid length in bytes. */
  length: number
  /** Hash of the last valid line. */
  hash: string
}

const writeFully = (files: SegmentFiles, descriptor: number, bytes: Uint8Array, length: number): void => {
  for (let done = 0; done < length; ) {
    const count = files.write(descriptor, bytes, done, length - done)
    if (count <= 0) throw new DecisionLogError('the system wrote nothing')
    done += count
  }
}

/** Runs a cleanup step after a failure that is already reported. Returns false if the step fails too. */
const succeeds = (operation: () => void): boolean => {
  try {
    operation()
    return true
  } catch {
    return false
  }
}

/**
 * Opens a new segment in the slot. File system errors don't throw: the writer's `failure` states the reason, and each
 * append tries again. A worker started on a full disk thus recovers like a worker whose disk filled later.
 * @throws RangeError if the slot name isn't a single path element
 */
export const openSegment = (options: SegmentOptions): SegmentWriter => {
  const { slot, maxBytes, sync, clock, files = systemSegmentFiles } = options
  if (!isSlotName(slot)) throw new RangeError('a slot is named by lower-case letters, digits, - and _')
  const slotDirectory = join(options.directory, slot)

  let current: OpenSegment | null = null
  /** Segment whose write failed and whose size is still unknown. */
  let failed: OpenSegment | null = null
  /** File of a new segment that could be neither completed nor removed. */
  let stray: PreviousSegment | null = null
  /** Link for the next segment's header; undefined until the directory is read. */
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

  /** Step 3: truncates the failed segment, or records the number of bytes after its valid length. */
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

  /**
   * A stray file with a complete header is a segment to all readers, so the chain includes it; otherwise it is ignored.
   */
  const settleStray = (): void => {
    if (stray === null) return
    if (files.size(join(slotDirectory, stray.segment.name)) === stray.length) tie = stray
    newest = stray.segment
    stray = null
  }

  const readTie = (): PreviousSegment | null => {
    const found = readSlotTie(slotDirectory)
    // Unflushed lines of a killed instance become valid through the new link, so they are flushed first.
    if (sync && found.tie !== null) files.syncPath(join(slotDirectory, found.tie.segment.name))
    newest = found.newest
    return found.tie
  }

  /** Step 4. After an error, a later attempt can repeat it safely. */
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

  /** Returns the segment for the next batch. Closes the previous one first, because it is never reused. */
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
    // UTF-8 needs at most three bytes per UTF-16 unit.
    if (text.length * 3 > buffer.length) buffer = Buffer.allocUnsafe(text.length * 3)
    const length = encoder.encodeInto(text, buffer).written
    try {
      writeFully(files, open.descriptor, buffer, length)
      if (sync) files.syncData(open.descriptor)
    } catch (error) {
      current = null
      failed = open
      // At once if possible; otherwise, the next append does it before it opens a new segment.
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
        // The record is invalid, not the log: nothing was written, and the next batch may succeed.
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

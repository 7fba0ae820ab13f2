// Writes the decision log of one slot. Invariant 2 depends on it: append() returns with every line of the batch in the
// file, or throws DecisionLogError and no line is valid.
//
// 1. One instance writes one file, created with O_EXCL, and never opens another instance's file.
// 2. A batch is encoded completely before its first byte is written. Length and hash in memory change only after
//    complete success.
// 3. After a failure, the file is truncated to its last valid length and never written again. If truncation fails too,
//    the next segment's header records the valid length. So no line is ever appended to a partial line.
// 4. The next append opens a new segment, linked to the valid part of the previous one by name, length and hash.
import { join } from 'node:path'
import { withPath } from '../lib/named-error.ts'
import { DecisionLineMalformedError, DecisionLogError, reasonOf } from './errors.ts'
import { type PreviousSegment, readSlotTie } from './previous-segment.ts'
import { checkRecordable, encodeHeader, encodeRecord, hashLine, MAX_LINE_BYTES } from './record.ts'
import { type SegmentFiles, systemSegmentFiles } from './segment-files.ts'
import { isSlotName, nextSegmentName, type SegmentName } from './segment-name.ts'
import type { LogRecord, SegmentWriter } from './types.ts'

const DAY_MS = 86_400_000
/** Maximum difference by which a line may be older than a line before it, in milliseconds. */
const DISORDER_MS = 1_000

export interface SegmentOptions {
  /** Contains the slot's directory. Created with mode 0700 if missing. */
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
  readonly day: number
  /** Time of the newest append, Unix milliseconds. */
  newestMs: number
  length: number
  hash: string
}

const writeFully = (files: SegmentFiles, descriptor: number, bytes: Uint8Array, length: number): void => {
  for (let done = 0; done < length; ) {
    const count = files.write(descriptor, bytes, done, length - done)
    if (count <= 0) throw new DecisionLogError('the system wrote no bytes')
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

const tieTo = ({ segment, hash, length, newestMs }: OpenSegment, tornBytes: number): PreviousSegment => ({
  segment,
  hash,
  length,
  tornBytes,
  newestMs,
})

class SlotWriter implements SegmentWriter {
  path = ''
  failure: DecisionLogError | null = null
  private readonly slotDirectory: string
  private readonly files: SegmentFiles
  private current: OpenSegment | null = null
  /** Segment whose write failed and whose size is still unknown. */
  private failed: OpenSegment | null = null
  /** File of a new segment that could be neither completed nor removed. */
  private stray: PreviousSegment | null = null
  /** Link for the next segment's header; undefined until the directory is read. */
  private tie: PreviousSegment | null | undefined
  private newest: SegmentName | null = null
  private closed = false
  private buffer = Buffer.allocUnsafe(65_536)
  private readonly encoder = new TextEncoder()

  constructor(private readonly options: SegmentOptions) {
    this.files = options.files ?? systemSegmentFiles
    this.slotDirectory = join(options.directory, options.slot)
    try {
      this.segmentFor(options.clock.unixMs())
    } catch (error) {
      this.noteFailure(error)
    }
  }

  append(records: readonly LogRecord[]): void {
    if (this.closed) throw new DecisionLogError('closed')
    try {
      for (const record of records) checkRecordable(record)
      const open = this.segmentFor(this.options.clock.unixMs())
      if (records.length > 0) this.write(open, this.encode(records, open))
      this.failure = null
    } catch (error) {
      // The record is invalid, not the log: nothing was written, and the next batch may succeed.
      if (error instanceof DecisionLineMalformedError) throw new DecisionLogError('malformed record', error)
      throw this.noteFailure(error)
    }
  }

  close(): void {
    this.closed = true
    succeeds(() => this.settleFailed())
    if (this.current === null) return
    const { descriptor } = this.current
    this.current = null
    succeeds(() => this.files.close(descriptor))
  }

  private noteFailure(error: unknown): DecisionLogError {
    this.failure =
      error instanceof DecisionLogError
        ? error
        : new DecisionLogError(reasonOf(error), withPath(error, this.slotDirectory))
    return this.failure
  }

  /**
   * Returns the segment for the next batch. Closes the previous segment first, because it is never reused. A new segment
   * follows when the clock is set back, so that searches find a time in a segment.
   */
  private segmentFor(nowMs: number): OpenSegment {
    const { current } = this
    if (current !== null) {
      const isInOrder = Math.floor(nowMs / DAY_MS) === current.day && nowMs >= current.newestMs - DISORDER_MS
      if (isInOrder && current.length < this.options.maxBytes) {
        current.newestMs = Math.max(nowMs, current.newestMs)
        return current
      }
      this.tie = tieTo(current, 0)
      this.current = null
      succeeds(() => this.files.close(current.descriptor))
    }
    this.current = this.openNext(nowMs)
    return this.current
  }

  private encode(records: readonly LogRecord[], open: OpenSegment): { readonly length: number; readonly hash: string } {
    let { hash } = open
    const lines: string[] = []
    for (const record of records) {
      const line = encodeRecord(record, hash)
      if (line.length * 3 > MAX_LINE_BYTES && Buffer.byteLength(line) > MAX_LINE_BYTES) {
        throw new DecisionLineMalformedError('the line exceeds the maximum length')
      }
      hash = hashLine(line)
      lines.push(line)
    }
    lines.push('')
    const text = lines.join('\n')
    // UTF-8 needs at most three bytes per UTF-16 unit.
    if (text.length * 3 > this.buffer.length) this.buffer = Buffer.allocUnsafe(text.length * 3)
    return { length: this.encoder.encodeInto(text, this.buffer).written, hash }
  }

  private write(open: OpenSegment, { length, hash }: { readonly length: number; readonly hash: string }): void {
    try {
      writeFully(this.files, open.descriptor, this.buffer, length)
      if (this.options.sync) this.files.syncData(open.descriptor)
    } catch (error) {
      this.current = null
      this.failed = open
      // Settles the failed segment immediately if possible. Otherwise, the next append settles it before it opens a new
      // segment.
      succeeds(() => this.settleFailed())
      throw error
    }
    open.length += length
    open.hash = hash
  }

  /** Step 3: truncates the failed segment, or records the number of bytes after its valid length. */
  private settleFailed(): void {
    const { files, failed } = this
    if (failed === null) return
    const { descriptor, length } = failed
    const cut = succeeds(() => files.truncate(descriptor, length))
    if (cut && this.options.sync) succeeds(() => files.syncData(descriptor))
    const size = cut ? length : (files.size(failed.path) ?? length)
    this.tie = tieTo(failed, Math.max(0, size - length))
    succeeds(() => files.close(descriptor))
    this.failed = null
  }

  /** Step 4. After an error, a later attempt can repeat it safely. */
  private openNext(nowMs: number): OpenSegment {
    const { files, slotDirectory } = this
    files.makeDirectory(slotDirectory)
    this.settleFailed()
    this.settleStray()
    if (this.tie === undefined) this.tie = this.readTie()
    const { tie } = this
    const segment = nextSegmentName(Math.max(nowMs, tie?.newestMs ?? 0), this.newest)
    const line = encodeHeader({
      kind: 'segment',
      version: 1,
      slot: this.options.slot,
      number: segment.number,
      at: nowMs,
      previous_segment: tie?.segment.name ?? null,
      previous_hash: tie?.hash ?? null,
      previous_length: tie?.length ?? 0,
      previous_torn_bytes: tie?.tornBytes ?? 0,
    })
    const hash = hashLine(line)
    const bytes = Buffer.from(`${line}\n`)
    const path = join(slotDirectory, segment.name)
    const descriptor = files.create(path)
    try {
      writeFully(files, descriptor, bytes, bytes.length)
      if (this.options.sync) files.syncData(descriptor)
      files.syncPath(slotDirectory)
    } catch (error) {
      succeeds(() => files.close(descriptor))
      if (!succeeds(() => files.remove(path)))
        this.stray = { segment, hash, length: bytes.length, tornBytes: 0, newestMs: nowMs }
      throw error
    }
    this.newest = segment
    this.path = path
    return { segment, path, descriptor, day: Math.floor(nowMs / DAY_MS), newestMs: nowMs, length: bytes.length, hash }
  }

  /** A stray file with a complete header is a segment to all readers, so the chain must include it. */
  private settleStray(): void {
    const { stray } = this
    if (stray === null) return
    if (this.files.size(join(this.slotDirectory, stray.segment.name)) === stray.length) this.tie = stray
    this.newest = stray.segment
    this.stray = null
  }

  private readTie(): PreviousSegment | null {
    const { tie, newest } = readSlotTie(this.slotDirectory)
    // The new link makes unflushed lines of a killed instance valid, so flush them first.
    if (this.options.sync && tie !== null) this.files.syncPath(join(this.slotDirectory, tie.segment.name))
    this.newest = newest
    return tie
  }
}

/** File system errors don't throw: `failure` states the reason, and each append tries again. */
export const openSegment = (options: SegmentOptions): SegmentWriter => {
  if (!isSlotName(options.slot))
    throw new RangeError('a slot name must contain only lowercase letters, digits, hyphens and underscores')
  return new SlotWriter(options)
}

// Yields new records across slots and rotations. Polls, because file watching misses events on network file systems.
import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { MAX_LINE_BYTES } from './record.ts'
import { listSegments, listSlots, type SegmentName } from './segment-name.ts'
import { type FollowPosition, readEntry, type TailEntry } from './tail.ts'

const READ_BYTES = 262_144

export interface FollowOptions {
  readonly directory: string
  /** Positions from readTail. A slot without a position is read from its beginning. */
  readonly position: ReadonlyMap<string, FollowPosition>
  /** Resolves when the log must be polled again; never rejects. */
  readonly wait: () => Promise<void>
  readonly signal: AbortSignal
}

interface SlotRead {
  readonly entries: readonly TailEntry[]
  readonly position: FollowPosition | null
  readonly more: boolean
}

/** A line larger than the read buffer is read separately. */
const readLines = (path: string, offset: number, onLine: (line: Buffer) => void): { read: number; full: boolean } => {
  const descriptor = openSync(path, 'r')
  try {
    for (const size of [READ_BYTES, MAX_LINE_BYTES + 1]) {
      const buffer = Buffer.allocUnsafe(size)
      const filled = readSync(descriptor, buffer, 0, size, offset)
      let lineStart = 0
      for (;;) {
        const newline = buffer.subarray(0, filled).indexOf(10, lineStart)
        if (newline < 0) break
        onLine(buffer.subarray(lineStart, newline))
        lineStart = newline + 1
      }
      if (lineStart > 0 || filled < size) return { read: lineStart, full: filled === size }
    }
    // A line above the maximum length is damaged, so the rest of the segment can't be split into lines.
    return { read: 0, full: false }
  } finally {
    closeSync(descriptor)
  }
}

const readSlot = (directory: string, slot: string, position: FollowPosition | null): SlotRead => {
  // List segments before reading: a segment that already has a successor is never written again.
  const segments = listSegments(join(directory, slot))
  const index = position === null ? 0 : segments.findIndex(({ number }) => number >= position.segment.number)
  const segment: SegmentName | undefined = segments[index]
  if (segment === undefined) return { entries: [], position, more: false }
  const offset = segment.name === position?.segment.name ? position.offset : 0
  const entries: TailEntry[] = []
  const { read, full } = readLines(join(directory, slot, segment.name), offset, (line) => {
    const entry = readEntry(slot, segment.name, line)
    if (entry !== null) entries.push(entry)
  })
  const following = segments[index + 1]
  if (!full && following !== undefined) {
    return { entries, position: { segment: following, offset: 0 }, more: true }
  }
  return { entries, position: { segment, offset: offset + read }, more: full }
}

/** May yield a record of a batch that failed partway and was never answered. @throws DecisionDirectoryMissingError */
export async function* followDecisions(options: FollowOptions): AsyncGenerator<TailEntry> {
  const { directory, wait, signal } = options
  const positions = new Map(options.position)
  while (!signal.aborted) {
    const entries: TailEntry[] = []
    let more = false
    for (const slot of listSlots(directory)) {
      const read = readSlot(directory, slot, positions.get(slot) ?? null)
      entries.push(...read.entries)
      if (read.position !== null) positions.set(slot, read.position)
      more ||= read.more
    }
    entries.sort((a, b) => a.record.at - b.record.at)
    for (const entry of entries) {
      if (signal.aborted) return
      yield entry
    }
    if (!more && !signal.aborted) await wait()
  }
}

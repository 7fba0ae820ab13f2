// Reads the newest records of all slots, merged by time, for display and for `decisions tail`.
import { join } from 'node:path'
import { type BackwardLine, findSlotEnd, slotLinesBackwards } from './backwards.ts'
import { DecisionLineMalformedError } from './errors.ts'
import { parseRecordLine } from './record.ts'
import { listSlots, type SegmentName } from './segment-name.ts'
import type { LogRecord } from './types.ts'

export interface TailEntry {
  readonly slot: string
  readonly segment: string
  readonly record: LogRecord
  readonly line: string
}

/** Number of bytes of a segment that a follower has read. */
export interface FollowPosition {
  readonly segment: SegmentName
  readonly offset: number
}

export interface Tail {
  /** Entries, oldest first. */
  readonly entries: readonly TailEntry[]
  /** Position by slot. Resuming there neither skips nor repeats records. */
  readonly position: ReadonlyMap<string, FollowPosition>
  /** Number of unreadable lines; `decisions verify` lists them. */
  readonly unreadable: number
  readonly unreadableAt: string | null
}

export const readEntry = (slot: string, segment: string, bytes: Buffer): TailEntry | null => {
  const line = bytes.toString('utf8')
  try {
    return { slot, segment, record: parseRecordLine(line).record, line }
  } catch (error) {
    if (error instanceof DecisionLineMalformedError) return null
    throw error
  }
}

interface SlotCursor {
  readonly slot: string
  readonly lines: Generator<BackwardLine>
  /** Newest entry of the slot that was not taken yet. */
  next: TailEntry | null
}

/** If a slot's clock was set back, its lines keep their order. @throws DecisionDirectoryMissingError */
export const readTail = (directory: string, count: number): Tail => {
  const position = new Map<string, FollowPosition>()
  const cursors: SlotCursor[] = []
  let unreadable = 0
  let unreadableAt: string | null = null

  const advance = (cursor: SlotCursor): void => {
    cursor.next = null
    while (cursor.next === null) {
      const step = cursor.lines.next()
      if (step.done === true) return
      if (step.value.start === 0) continue
      cursor.next = readEntry(cursor.slot, step.value.segment.name, step.value.bytes)
      if (cursor.next !== null) return
      unreadable++
      unreadableAt ??= `${cursor.slot}/${step.value.segment.name} at byte ${step.value.start}`
    }
  }

  try {
    for (const slot of listSlots(directory)) {
      const slotDirectory = join(directory, slot)
      const { position: end } = findSlotEnd(slotDirectory)
      if (end === null) continue
      position.set(slot, { segment: end.segment, offset: end.end })
      const cursor: SlotCursor = { slot, lines: slotLinesBackwards(slotDirectory, end), next: null }
      cursors.push(cursor)
      if (count > 0) advance(cursor)
    }
    const entries: TailEntry[] = []
    while (entries.length < count) {
      let newest: SlotCursor | null = null
      for (const cursor of cursors) {
        if (cursor.next !== null && (newest?.next == null || cursor.next.record.at > newest.next.record.at)) {
          newest = cursor
        }
      }
      if (newest?.next == null) break
      entries.push(newest.next)
      advance(newest)
    }
    return { entries: entries.reverse(), position, unreadable, unreadableAt }
  } finally {
    // An unfinished generator keeps its file open.
    for (const cursor of cursors) cursor.lines.return(undefined)
  }
}

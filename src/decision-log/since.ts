// Which files of a log may hold decisions since a time, so that looking at the last week does not read the last year.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { listSegments, listSlots, stampOf } from './segment-name.ts'

export interface SegmentFile {
  readonly slot: string
  readonly name: string
  readonly path: string
  /** Bytes, now: the newest of a slot may grow. */
  readonly size: number
}

/**
 * A segment is over when the next one of its slot begins.
 * @throws DecisionDirectoryMissingError
 */
export const segmentsSince = (directory: string, sinceMs: number): SegmentFile[] =>
  listSlots(directory).flatMap((slot) => {
    const segments = listSegments(join(directory, slot))
    const stamp = stampOf(sinceMs)
    return segments.flatMap(({ name }, index) => {
      const next = segments[index + 1]
      if (next !== undefined && next.stamp < stamp) return []
      const path = join(directory, slot, name)
      return [{ slot, name, path, size: statSync(path).size }]
    })
  })

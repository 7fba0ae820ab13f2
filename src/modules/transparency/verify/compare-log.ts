// Compares lines of a log with the leaves that the tree's tables assign to them.
import { join } from 'node:path'
import { DecisionLineMalformedError } from '../../../decision-log/errors.ts'
import { forEachLine } from '../../../decision-log/forwards.ts'
import {
  listSegments,
  listSlots,
  parseSegmentName,
  type SegmentName,
  stampOf,
} from '../../../decision-log/segment-name.ts'
import { firstHeader } from '../../../decision-log/verify.ts'
import type { TreeSegment, TreeSpan } from '../store/types.ts'
import { HASH_BYTES, leafHashOf } from '../tree/hash.ts'
import type { ReadTiles } from '../tree/prove.ts'
import { createLeafReader } from './stored-leaves.ts'

/** Lines before `takenBytes` without a leaf await the next head. */
export interface TakenPlace extends TreeSegment {
  readonly takenBytes: number
}

/** Findings, to which each comparison adds. */
export interface Findings {
  compared: number
  newer: number
  elsewhere: number
  readonly problems: string[]
  readonly warnings: string[]
}

export interface LogComparison {
  readonly readTiles: ReadTiles
  readonly readSpans: (place: TreeSegment) => Promise<readonly TreeSpan[]>
  /**
   * Returns the first span of a segment. Doesn't count its spans, because they are counted when that segment is
   * compared.
   */
  readonly firstSpan: (place: TreeSegment) => Promise<TreeSpan | null>
  readonly saltKey: Uint8Array
  readonly found: Findings
  /** Whether the log is a copy, which may lack the latest lines. */
  readonly mayBeBehind: boolean
  /** Missing segments may have been archived if the headers of present segments show that they are older. */
  readonly archivedBefore: string | null
  readonly namesNodes: boolean
  readonly onChunk: (bytes: number) => void
}

interface NextSegment {
  readonly next: SegmentName | undefined
  readonly nextPlaces: readonly TakenPlace[]
  readonly isNextHeld: boolean
}

interface LineSeen {
  readonly start: number
  readonly end: number
  readonly hash: Uint8Array
}

const readLines = async (path: string, onChunk: (bytes: number) => void): Promise<readonly LineSeen[]> => {
  const lines: LineSeen[] = []
  let start = 0
  await forEachLine(
    path,
    Number.POSITIVE_INFINITY,
    (bytes) => {
      const hash = new Uint8Array(HASH_BYTES)
      Bun.SHA256.hash(bytes, hash)
      lines.push({ start, end: start + bytes.length + 1, hash })
      start += bytes.length + 1
    },
    onChunk,
  )
  return lines
}

export const linesOf = (spans: readonly TreeSpan[]): number => spans.reduce((sum, { leaves }) => sum + leaves, 0)

/** The returned function compares the log in a directory with its segments in the tree. */
export const createLogComparison = (options: LogComparison) => {
  const { readTiles, readSpans, firstSpan, saltKey, found, mayBeBehind, archivedBefore, namesNodes, onChunk } = options
  const leafAt = createLeafReader(readTiles)

  /**
   * Returns whether the next segment's header, itself a leaf, records this length, so the missing lines were never
   * counted.
   */
  const isCutKnown = async (
    directory: string,
    { slot, segment }: TreeSegment,
    next: SegmentName | undefined,
    nextPlaces: readonly TakenPlace[],
    bytes: number,
  ): Promise<boolean> => {
    const header = next === undefined ? null : firstHeader(join(directory, slot, next.name))
    if (header?.previous_segment !== segment || header.previous_length !== bytes) return false
    for (const place of nextPlaces) if ((await firstSpan(place))?.startByte === 0) return true
    return false
  }

  /** Returns the end of the compared lines; null after a problem. */
  const compareLines = async (
    lines: readonly LineSeen[],
    name: string,
    spans: readonly TreeSpan[],
    isCut: (bytes: number) => Promise<boolean>,
    isLast: boolean,
  ): Promise<number | null> => {
    let position = 0
    let span = 0
    let index = 0
    let known = 0
    let wrong: number | null = null
    for (const [number, line] of lines.entries()) {
      while (span < spans.length && line.start >= (spans[span] as TreeSpan).endByte) {
        span += 1
        index = 0
      }
      const of = spans[span]
      if (of === undefined) break
      position = line.end
      known += 1
      const holds =
        line.start >= of.startByte &&
        index < of.leaves &&
        Buffer.compare(await leafAt(of.firstLeaf + index), leafHashOf(line.hash, saltKey)) === 0
      index += 1
      if (holds) found.compared += 1
      else wrong ??= number + 1
    }
    if (wrong !== null) {
      found.problems.push(`${name}: line ${wrong} differs from the line in the tree`)
      return null
    }
    const missing = linesOf(spans) - known
    if (missing > 0) {
      const what = `${name}: ${missing} lines of the tree are missing at its end`
      if (await isCut(position)) found.warnings.push(`${what}: a failed write, recorded in the next segment`)
      else if (mayBeBehind && isLast) found.warnings.push(`${what}: not copied yet, or removed`)
      else found.problems.push(what)
    }
    return position
  }

  /** @param held places of the file in the tree; several if its node was renamed */
  const compareSegment = async (
    directory: string,
    held: readonly { readonly place: TakenPlace; readonly spans: readonly TreeSpan[] }[],
    { next, nextPlaces, isNextHeld }: NextSegment,
  ): Promise<void> => {
    const [{ slot, segment }] = held.map(({ place }) => place) as [TakenPlace]
    const name = `${slot}/${segment}`
    let lines: readonly LineSeen[]
    try {
      lines = await readLines(join(directory, slot, segment), onChunk)
    } catch (error) {
      if (!(error instanceof DecisionLineMalformedError)) throw error
      found.problems.push(`${name}: ${error.detail}`)
      return
    }
    let position = 0
    for (const { place, spans } of held) {
      const isCut = (bytes: number) => isCutKnown(directory, place, next, nextPlaces, bytes)
      const end = await compareLines(lines, name, spans, isCut, next === undefined)
      if (end === null) return
      position = Math.max(position, end)
    }
    if (!isNextHeld) {
      found.newer += lines.filter(({ end }) => end > position).length
      return
    }
    const takenBytes = Math.max(...held.map(({ place }) => place.takenBytes))
    const counted = next === undefined ? null : firstHeader(join(directory, slot, next.name))?.previous_length
    const submittedBytes = Math.max(position, takenBytes)
    const extra = lines.filter(({ end }) => end > submittedBytes && end <= (counted ?? Number.POSITIVE_INFINITY)).length
    found.newer += lines.filter(({ end }) => end > position && end <= takenBytes).length
    if (extra > 0) found.problems.push(`${name}: ${extra} lines at its end are not in the tree`)
  }

  return async (directory: string, places: readonly TakenPlace[]): Promise<void> => {
    const bySlot = Map.groupBy(places, ({ slot }) => slot)
    const present = listSlots(directory)
    const missing: {
      readonly name: string
      readonly spans: readonly TreeSpan[]
      readonly archivedEnd: number | undefined
      readonly mayBeUncopied: boolean
    }[] = []
    // First leaf of the files that are not old enough to be archived. Limits the leaves of workers without a file.
    let firstLater: number | undefined
    for (const slot of [...new Set([...present, ...bySlot.keys()])].sort()) {
      // The tables also name slots, which must not lead to files outside the log.
      const files = present.includes(slot) ? listSegments(join(directory, slot)) : []
      const held = Map.groupBy(bySlot.get(slot) ?? [], ({ segment }) => segment)
      // First leaf of the newest file that follows a segment old enough to be archived.
      let archivedEnd: number | undefined
      const lastHeld = Math.max(-1, ...[...held.keys()].map((name) => parseSegmentName(name)?.number ?? -1))
      for (const [index, file] of files.entries()) {
        const placesOfFile = held.get(file.name) ?? []
        held.delete(file.name)
        const taken: { place: TakenPlace; spans: readonly TreeSpan[] }[] = []
        for (const place of placesOfFile) {
          const spans = await readSpans(place)
          if (spans.length > 0) taken.push({ place, spans })
        }
        if (taken.length > 0) {
          const next = files[index + 1]
          const nextPlaces = held.get(next?.name ?? '') ?? []
          const isNextHeld = next !== undefined && next.number <= lastHeld
          await compareSegment(directory, taken, { next, nextPlaces, isNextHeld })
          const header = firstHeader(join(directory, slot, file.name))
          const start = taken.flatMap(({ spans }) => spans).find(({ startByte }) => startByte === 0)
          if (archivedBefore === null || header === null || start === undefined) continue
          if (stampOf(header.at) >= archivedBefore)
            firstLater = Math.min(firstLater ?? start.firstLeaf, start.firstLeaf)
          const before = parseSegmentName(header.previous_segment ?? '')
          if (before !== null) archivedEnd = before.stamp < archivedBefore ? start.firstLeaf : (archivedEnd ?? 0)
        } else {
          const { length } = await readLines(join(directory, slot, file.name), onChunk)
          if (file.number < lastHeld && length > 0)
            found.problems.push(`${slot}/${file.name}: the tree does not contain it`)
          else found.newer += length
        }
      }
      const numberOf = ({ segment }: TakenPlace): number => parseSegmentName(segment)?.number ?? -1
      const absent: { place: TakenPlace; spans: readonly TreeSpan[] }[] = []
      for (const place of [...held.values()].flat()) {
        const spans = await readSpans(place)
        if (linesOf(spans) > 0) absent.push({ place, spans })
      }
      // A file is copied with its first decision.
      const newest = mayBeBehind ? Math.max(...absent.map(({ place }) => numberOf(place))) : Number.POSITIVE_INFINITY
      for (const { place, spans } of absent) {
        const name = `${namesNodes ? `${place.node}/` : ''}${slot}/${place.segment}`
        const number = numberOf(place)
        const mayBeUncopied = number === newest && number > (files.at(-1)?.number ?? -1)
        missing.push({ name, spans, archivedEnd, mayBeUncopied })
      }
    }
    for (const { name, spans, archivedEnd, mayBeUncopied } of missing) {
      // Not the timestamps of the names, which an attacker can change: headers are leaves, and leaves are in order.
      const end = archivedEnd ?? firstLater ?? 0
      const lines = linesOf(spans)
      const report = `${name}: the file is missing, with ${lines} lines that the tree contains`
      if (spans.every(({ firstLeaf, leaves }) => firstLeaf + leaves <= end)) found.elsewhere += lines
      else if (mayBeUncopied) found.warnings.push(`${report}: not copied yet, or removed`)
      else found.problems.push(report)
    }
  }
}

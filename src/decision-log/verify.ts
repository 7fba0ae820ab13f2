// Verifies every hash, link and line format, and that every uuid is decided once, in constant memory. Only the tree
// reveals recomputed hashes, truncation, or a removed slot (verify-tree.ts).
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DecisionLineMalformedError } from './errors.ts'
import { forEachLine } from './forwards.ts'
import { parseHeaderLine, peekUuid } from './record.ts'
import { listSegments, listSlots, parseSegmentName, type SegmentName } from './segment-name.ts'
import type { SegmentHeader } from './types.ts'
import { createUuidLedger, LEDGER_MAX_UUIDS, type UuidUse } from './uuid-ledger.ts'
import {
  countedBytes,
  emptySegmentReport,
  type SegmentInChain,
  type SegmentProblem,
  type SegmentReport,
  verifySegment,
} from './verify-segment.ts'

export interface VerifyProgress {
  /** Pass 1 checks all lines; later passes check uuids that didn't fit into memory before. */
  readonly pass: number
  readonly bytesRead: number
  readonly bytesTotal: number
}

export interface VerifyOptions {
  readonly onProgress?: (progress: VerifyProgress) => void
  /** Called for each decision with an already decided uuid. */
  readonly onRepeated?: (uuid: string) => void
  /** Maximum uuids in memory; see uuid-ledger.ts. */
  readonly maxUuids?: number
}

export interface VerifyReport {
  readonly ok: boolean
  /** Sorted by slot, oldest first. */
  readonly segments: readonly SegmentReport[]
  readonly bytes: number
  readonly decisions: number
  readonly withheld: number
  readonly passes: number
}

const HEADER_MAX_BYTES = 4_096

const useOf = (kind: string): UuidUse => (kind === 'withheld' ? 'withheld' : 'decision')

const repeatedUuid = (uuid: string): string => `uuid ${uuid} is recorded a second time`

/** If the pool loses the worker that was to record an answer as withheld, another worker records it again. */
const withheldAgain = (count: number): string =>
  `${count} answer${count === 1 ? ' is' : 's are'} recorded as withheld more than once, because a worker was lost while recording ${count === 1 ? 'it' : 'them'}`

interface SegmentStart {
  readonly segment: SegmentName
  readonly bytes: number
  /** False if the file has no newline and is no longer than the longest header. */
  readonly hasLine: boolean
  readonly header: SegmentHeader | null
  readonly headerProblem: string | null
}

const readStart = (path: string, segment: SegmentName): SegmentStart => {
  const descriptor = openSync(path, 'r')
  try {
    const bytes = fstatSync(descriptor).size
    const start = Buffer.alloc(Math.min(bytes, HEADER_MAX_BYTES))
    const count = readSync(descriptor, start, 0, start.length, 0)
    const newline = start.subarray(0, count).indexOf(10)
    if (newline < 0) {
      const hasLine = bytes > HEADER_MAX_BYTES
      return { segment, bytes, hasLine, header: null, headerProblem: 'the first line is not a header' }
    }
    try {
      const header = parseHeaderLine(start.toString('utf8', 0, newline))
      return { segment, bytes, hasLine: true, header, headerProblem: null }
    } catch (error) {
      if (!(error instanceof DecisionLineMalformedError)) throw error
      return { segment, bytes, hasLine: true, header: null, headerProblem: `header: ${error.detail}` }
    }
  } finally {
    closeSync(descriptor)
  }
}

export const firstHeader = (path: string): SegmentHeader | null => {
  const segment = parseSegmentName(basename(path))
  return segment === null ? null : readStart(path, segment).header
}

const readSlot = (directory: string, slot: string): { chain: SegmentInChain[]; empty: SegmentStart[] } => {
  const starts = listSegments(join(directory, slot)).map((segment) =>
    readStart(join(directory, slot, segment.name), segment),
  )
  const filled = starts.filter((start) => start.hasLine)
  const empty = starts.filter((start) => !start.hasLine)
  const emptyNames = new Set(empty.map((start) => start.segment.name))
  const chain = filled.map((start, index) => ({
    slot,
    ...start,
    successor: filled[index + 1]?.header ?? null,
    previousIsEmpty: emptyNames.has(start.header?.previous_segment ?? ''),
  }))
  return { chain, empty }
}

/** Returns true if the line is a decision with the uuid of an earlier decision. */
type NoteUuid = (chained: SegmentInChain, record: { readonly kind: string; readonly uuid: string }) => boolean

/** Searches again for the first repeated decision whose uuid is in the ledger's range. */
const findRepeatedUuid = async (
  directory: string,
  chained: SegmentInChain,
  note: NoteUuid,
  onChunk: (bytes: number) => void,
): Promise<SegmentProblem | null> => {
  let problem: SegmentProblem | null = null
  let line = 0
  const onLine = (bytes: Buffer): void => {
    line++
    const peeked = peekUuid(bytes)
    if (peeked === null || !note(chained, peeked)) return
    problem ??= { line, detail: repeatedUuid(peeked.uuid) }
  }
  await forEachLine(join(directory, chained.slot, chained.segment.name), countedBytes(chained), onLine, onChunk)
  return problem
}

interface SlotInLog {
  readonly log: number
  readonly slot: string
  readonly chain: readonly SegmentInChain[]
  readonly empty: readonly SegmentStart[]
}

const reportOf = (
  slots: readonly SlotInLog[],
  reports: ReadonlyMap<SegmentInChain, SegmentReport>,
  counts: { readonly decision: number; readonly withheld: number },
  passes: number,
): VerifyReport => {
  const segments = slots.flatMap(({ slot, chain, empty }) => [
    ...chain.map((chained) => reports.get(chained) as SegmentReport),
    ...empty.map((start) => emptySegmentReport(slot, start.segment.name, start.bytes)),
  ])
  segments.sort((a, b) => (a.slot === b.slot ? (a.name < b.name ? -1 : 1) : a.slot < b.slot ? -1 : 1))
  return {
    ok: segments.every((segment) => segment.ok),
    segments,
    bytes: segments.reduce((sum, segment) => sum + segment.bytes, 0),
    decisions: counts.decision,
    withheld: counts.withheld,
    passes,
  }
}

/** One report per log. Also checks that no uuid occurs twice across all logs. @throws DecisionDirectoryMissingError */
export const verifyLogs = async (
  directories: readonly string[],
  options: VerifyOptions = {},
): Promise<readonly VerifyReport[]> => {
  const { onProgress = () => undefined, onRepeated = () => undefined, maxUuids = LEDGER_MAX_UUIDS } = options
  const slots: SlotInLog[] = directories.flatMap((directory, log) =>
    listSlots(directory).map((slot) => ({ log, slot, ...readSlot(directory, slot) })),
  )
  const bytesTotal = slots.flatMap(({ chain }) => chain).reduce((sum, chained) => sum + countedBytes(chained), 0)
  const ledger = createUuidLedger(maxUuids)
  const reports = new Map<SegmentInChain, SegmentReport>()
  const counts = directories.map(() => ({ decision: 0, withheld: 0 }))
  const repeatedWithheld = new Map<SegmentInChain, number>()
  let pass = 1
  let bytesRead = 0
  const note: NoteUuid = (chained, { kind, uuid }) => {
    const use = useOf(kind)
    if (!ledger.add(uuid, use)) return false
    if (use === 'decision') onRepeated(uuid)
    else repeatedWithheld.set(chained, (repeatedWithheld.get(chained) ?? 0) + 1)
    return use === 'decision'
  }
  const onChunk = (bytes: number): void => {
    bytesRead += bytes
    onProgress({ pass, bytesRead, bytesTotal })
  }

  for (const { log, chain } of slots) {
    let before: SegmentReport | null = null
    for (const chained of chain) {
      const onRecord = (record: { kind: string; uuid: string }): string | null => {
        const count = counts[log]
        if (count !== undefined) count[useOf(record.kind)]++
        return note(chained, record) ? repeatedUuid(record.uuid) : null
      }
      before = await verifySegment(directories[log] ?? '', chained, before, { onRecord, onChunk })
      reports.set(chained, before)
    }
  }

  while (ledger.nextRange()) {
    pass++
    bytesRead = 0
    for (const { log, chain } of slots) {
      for (const chained of chain) {
        const report = reports.get(chained) as SegmentReport
        const problem = await findRepeatedUuid(directories[log] ?? '', chained, note, onChunk)
        if (problem !== null && report.problem === null) reports.set(chained, { ...report, ok: false, problem })
      }
    }
  }

  for (const [chained, count] of repeatedWithheld) {
    const report = reports.get(chained) as SegmentReport
    reports.set(chained, { ...report, warnings: [...report.warnings, withheldAgain(count)] })
  }

  return directories.map((_, log) =>
    reportOf(
      slots.filter((slot) => slot.log === log),
      reports,
      counts[log] ?? { decision: 0, withheld: 0 },
      pass,
    ),
  )
}

/** Problems are data in the report. The log may be in use. @throws DecisionDirectoryMissingError */
export const verifyDecisions = async (directory: string, options: VerifyOptions = {}): Promise<VerifyReport> => {
  const [report] = await verifyLogs([directory], options)
  return report as VerifyReport
}

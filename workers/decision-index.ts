// Keeps the decision index up with the log and answers what is asked of it. Runs in a process of its own at the lowest
// priority: what it does can't slow signing down, and can be thrown away and done again.
import { type ProvenLine, readPlaces, readProven } from '../src/decisions/located.ts'
import { createSlotScanner, type ScannedLine, type SlotScanner } from '../src/decisions/scan.ts'
import { listSlots } from '../src/decisions/segment-name.ts'
import type { DecisionRecord } from '../src/decisions/types.ts'
import { type IndexFile, openIndexFile } from '../src/store/decision-index/file.ts'
import { createIndexReader, type IndexReader } from '../src/store/decision-index/reader.ts'
import type {
  DecisionCount,
  DecisionFilter,
  DecisionPosition,
  IndexedDecision,
  IndexedLine,
} from '../src/store/decision-index/types.ts'
import { type CutSegment, createIndexWriter, type IndexWriter } from '../src/store/decision-index/writer.ts'

export interface DecisionIndexOptions {
  readonly directory: string
  /** The index's own file. */
  readonly path: string
  readonly monotonicMs: () => number
  /** For tests. */
  readonly generationRows?: number
}

export interface FoundDecision {
  /** As the log has it, without the hash of the line before. */
  readonly record: DecisionRecord
  readonly withheld: boolean
  readonly position: DecisionPosition
}

export interface FoundDecisions {
  readonly decisions: readonly FoundDecision[]
  readonly next: DecisionPosition | null
  readonly complete: boolean
}

export interface IndexStatus {
  readonly decisions: number
  /** Lines that could not be read; `decisions verify` says which. */
  readonly unreadable: number
  /** Unix milliseconds of the newest decision taken in; null before the first. */
  readonly newestAtMs: number | null
  /** Nothing of the log was left to read at the last look. */
  readonly upToDate: boolean
}

export interface DecisionIndex {
  /** Takes in some of what is new. False: there was nothing. */
  ingest(): boolean
  /** Does one of the chores that make searching quicker. False: there was none. */
  improve(): boolean
  search(filter: DecisionFilter, after: DecisionPosition | null, limit: number): FoundDecisions
  find(organizationId: string, uuid: string): (ProvenLine & { readonly withheld: boolean }) | null
  count(filter: DecisionFilter): DecisionCount
  status(): IndexStatus
  /** Forgets everything and begins again. */
  rebuild(): void
  close(): void
}

const BATCH_LINES = 5_000
/** A batch is cut short after this, so that questions don't wait. */
const BATCH_MS = 50
const SEARCH_LIMIT_MS = 700

interface ParsedLine {
  readonly line: ScannedLine
  /** Null: not a line of ours. */
  readonly parsed: Record<string, unknown> | null
}

const parse = (line: ScannedLine): ParsedLine => {
  try {
    const parsed: unknown = JSON.parse(line.text)
    return { line, parsed: typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : null }
  } catch {
    return { line, parsed: null }
  }
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

const shadowOf = (parsed: Record<string, unknown>): IndexedDecision['shadow'] => {
  const shadow = parsed['shadow']
  if (typeof shadow !== 'object' || shadow === null) return null
  const { revision, compliant, rule } = shadow as Record<string, unknown>
  const isSame = compliant === parsed['compliant'] && rule === parsed['rule']
  return { revisionId: text(revision), outcome: compliant === null ? 'failed' : isSame ? 'same' : 'different' }
}

/** Not checked like a verification does: a line that lies here is found out when it is shown. */
const toIndexed = ({ line, parsed }: ParsedLine): IndexedLine | null => {
  if (parsed === null || typeof parsed['uuid'] !== 'string' || parsed['uuid'].length !== 36) return null
  const uuid = parsed['uuid']
  if (parsed['kind'] === 'withheld') return { kind: 'withheld', uuid }
  if (parsed['kind'] !== 'attestation' && parsed['kind'] !== 'task') return null
  const at = parsed['at']
  if (typeof at !== 'number' || !Number.isSafeInteger(at)) return null
  const { slot, segment, offset, length } = line
  return {
    kind: 'decision',
    place: { slot, segment, offset, length },
    atMs: at,
    uuid,
    organizationId: text(parsed['organization']),
    projectId: text(parsed['project']),
    policyId: text(parsed['policy']),
    rule: parsed['rule'] === null ? null : text(parsed['rule']),
    chain: text(parsed['chain']),
    wallet: text(parsed['from']),
    compliant: parsed['compliant'] === true,
    shadow: shadowOf(parsed),
  }
}

/** What the numbers of the index can't tell apart, the record does. */
const matches = (record: DecisionRecord, filter: DecisionFilter): boolean =>
  record.organization === filter.organizationId && (filter.wallet === undefined || record.from === filter.wallet)

const recordOf = (line: string | null): DecisionRecord | null => {
  if (line === null) return null
  try {
    const { prev: _, ...record } = JSON.parse(line) as DecisionRecord & { prev: string }
    return record
  } catch {
    return null
  }
}

/** @throws DecisionDirectoryMissingError and system errors from what reads the log */
export const createDecisionIndex = (options: DecisionIndexOptions): DecisionIndex => {
  const { directory, path, monotonicMs, generationRows } = options
  const scanners = new Map<string, SlotScanner>()
  const heads = new Map<string, ParsedLine>()
  let file: IndexFile
  let writer: IndexWriter
  let reader: IndexReader
  let unreadable = 0
  let newestAtMs: number | null = null
  let upToDate = false

  const open = (fresh: boolean): void => {
    file = openIndexFile(path, fresh)
    writer = createIndexWriter(file, generationRows)
    reader = createIndexReader(file, { monotonicMs, limitMs: SEARCH_LIMIT_MS })
    unreadable = 0
    newestAtMs = null
  }

  const closeScanners = (): void => {
    for (const scanner of scanners.values()) scanner.close()
    scanners.clear()
    heads.clear()
  }

  const openScanners = (): void => {
    const known = [...scanners.keys()]
    const slots = listSlots(directory)
    if (slots.length === known.length) return
    const positions = writer.positions()
    for (const slot of slots) {
      if (!scanners.has(slot)) scanners.set(slot, createSlotScanner(directory, slot, positions.get(slot) ?? null))
    }
  }

  const headOf = (slot: string, scanner: SlotScanner): ParsedLine | null => {
    const known = heads.get(slot)
    if (known !== undefined) return known
    const line = scanner.peek()
    if (line === null) return null
    const head = parse(line)
    heads.set(slot, head)
    return head
  }

  /** The oldest of what the slots hold next, so that a log read at once is taken in by time. */
  const oldest = (): { slot: string; scanner: SlotScanner; head: ParsedLine } | null => {
    let found: { slot: string; scanner: SlotScanner; head: ParsedLine } | null = null
    let lowest = Number.POSITIVE_INFINITY
    for (const [slot, scanner] of scanners) {
      const head = headOf(slot, scanner)
      if (head === null) continue
      const at = typeof head.parsed?.['at'] === 'number' ? head.parsed['at'] : 0
      if (found === null || at < lowest) {
        found = { slot, scanner, head }
        lowest = at
      }
    }
    return found
  }

  open(false)

  return {
    ingest: () => {
      const startedMs = monotonicMs()
      openScanners()
      const lines: IndexedLine[] = []
      let read = 0
      try {
        for (; read < BATCH_LINES && monotonicMs() - startedMs < BATCH_MS; read++) {
          const next = oldest()
          if (next === null) break
          const indexed = toIndexed(next.head)
          if (indexed === null) unreadable += 1
          else lines.push(indexed)
          if (indexed?.kind === 'decision') newestAtMs = Math.max(newestAtMs ?? 0, indexed.atMs)
          next.scanner.take()
          heads.delete(next.slot)
        }
        const positions = [...scanners].flatMap(([slot, scanner]) => {
          const position = scanner.position()
          return position === null ? [] : [{ slot, ...position }]
        })
        const cuts: CutSegment[] = [...scanners].flatMap(([slot, scanner]) =>
          scanner.takeCuts().map((cut) => ({ slot, ...cut })),
        )
        if (lines.length > 0 || cuts.length > 0 || read > 0) writer.append(lines, positions, cuts)
      } catch (error) {
        // What was read and not stored is read again from where the index stands.
        closeScanners()
        throw error
      }
      upToDate = read === 0
      return read > 0
    },
    improve: () => writer.improve(),
    search: (filter, after, limit) => {
      const { places, next, complete } = reader.find(filter, after, limit)
      const texts = readPlaces(directory, places)
      const decisions = places.flatMap((place, index): FoundDecision[] => {
        const record = recordOf(texts[index] ?? null)
        if (record === null || !matches(record, filter)) return []
        return [{ record, withheld: place.withheld, position: { atMs: place.atMs, number: place.number } }]
      })
      return { decisions, next, complete }
    },
    find: (organizationId, uuid) => {
      for (const place of reader.findByUuid(uuid)) {
        const record = recordOf(readPlaces(directory, [place])[0] ?? null)
        if (record?.uuid !== uuid || record.organization !== organizationId) continue
        const proven = readProven(directory, place)
        if (proven !== null) return { ...proven, withheld: place.withheld }
      }
      return null
    },
    count: (filter) => reader.count(filter),
    status: () => ({ decisions: writer.count(), unreadable, newestAtMs, upToDate }),
    rebuild: () => {
      closeScanners()
      file.close()
      upToDate = false
      open(true)
    },
    close: () => {
      closeScanners()
      file.close()
    },
  }
}

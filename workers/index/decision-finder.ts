// Finds decisions with the index and reads them from the log, so that users always see the log's own record. Read-only.
import { type ProvenLine, readPlaces, readProven } from '../../src/decision-log/located.ts'
import type { DecisionRecord } from '../../src/decision-log/types.ts'
import type { IndexFile } from '../../src/store/decision-index/file.ts'
import { createIndexReader } from '../../src/store/decision-index/reader.ts'
import type { DecisionFilter, DecisionPlace, DecisionPosition } from '../../src/store/decision-index/types.ts'

export interface FoundDecision {
  /** The log's record, without the hash of the previous line. */
  readonly record: DecisionRecord
  readonly withheld: boolean
  readonly position: DecisionPosition
}

export interface FoundDecisions {
  readonly decisions: readonly FoundDecision[]
  readonly next: DecisionPosition | null
  readonly complete: boolean
  /** Number of decisions on this page whose lines are unavailable. */
  readonly missing: number
}

export interface DecisionFinderOptions {
  readonly directory: string
  readonly file: Pick<IndexFile, 'database'>
  readonly monotonicMs: () => number
}

const SEARCH_LIMIT_MS = 700

/** Compares the record itself, because two wallets may share a number in the index. */
const matches = (record: DecisionRecord, filter: DecisionFilter): boolean =>
  record.organization === filter.organizationId && (filter.wallet === undefined || record.from === filter.wallet)

export const recordOf = (line: string | null): DecisionRecord | null => {
  if (line === null) return null
  try {
    const { prev: _, ...record } = JSON.parse(line) as DecisionRecord & { prev: string }
    return record
  } catch {
    return null
  }
}

export const foundOf = (
  places: readonly DecisionPlace[],
  lines: readonly (string | null)[],
  filter: DecisionFilter,
): Pick<FoundDecisions, 'decisions' | 'missing'> => {
  const records = lines.map(recordOf)
  const decisions = places.flatMap(({ withheld, atMs, number }, index): FoundDecision[] => {
    const record = records[index] ?? null
    return record === null || !matches(record, filter) ? [] : [{ record, withheld, position: { atMs, number } }]
  })
  return { decisions, missing: records.filter((record) => record === null).length }
}

/** @throws system errors if the log cannot be read */
export const createDecisionFinder = ({ directory, file, monotonicMs }: DecisionFinderOptions) => {
  const reader = createIndexReader(file, { monotonicMs, limitMs: SEARCH_LIMIT_MS })
  return {
    search: (filter: DecisionFilter, after: DecisionPosition | null, limit: number): FoundDecisions => {
      const { places, next, complete } = reader.find(filter, after, limit)
      return { ...foundOf(places, readPlaces(directory, places), filter), next, complete }
    },
    find: (organizationId: string, uuid: string): (ProvenLine & { readonly withheld: boolean }) | null => {
      for (const place of reader.findByUuid(uuid)) {
        const record = recordOf(readPlaces(directory, [place])[0] ?? null)
        if (record?.uuid !== uuid || record.organization !== organizationId) continue
        const proven = readProven(directory, place)
        if (proven !== null) return { ...proven, withheld: place.withheld }
      }
      return null
    },
    count: reader.count,
    tally: reader.tally,
  }
}

export type DecisionFinder = ReturnType<typeof createDecisionFinder>

// Metrics of fact sources. Labels name only sources defined by operators; organizations' lists are aggregated.
import type { Exposition, Sample } from './exposition.ts'
import { METRICS } from './metric-table.ts'

export interface FactMetrics {
  /** Shared lists by name; others as `organizations`. */
  readonly lists: readonly {
    readonly name: string
    readonly entries: number
    readonly ageSeconds: number | null
  }[]
  readonly listsBehind: number
  readonly listLoads: Readonly<Record<'loaded' | 'confirmed' | 'failed', number>>
  readonly geographyAgeSeconds: number | null
  readonly sources: readonly {
    /** `screener`, `chain` for reads by policies, or the kind of a source. */
    readonly kind: string
    readonly name: string
    readonly kept: number
    readonly answered: number
    readonly failed: number
    readonly refused: number
    readonly open: boolean
  }[]
}

const OUTCOMES = ['kept', 'answered', 'failed', 'refused'] as const

export const addFactMetrics = (exposition: Exposition, read: () => FactMetrics | null): void => {
  const samples = (of: (facts: FactMetrics) => readonly Sample[]) => (): readonly Sample[] => {
    const facts = read()
    return facts === null ? [] : of(facts)
  }
  exposition.add(
    METRICS.listEntries,
    samples(({ lists }) => lists.map(({ name, entries }) => ({ labels: { list: name }, value: entries }))),
  )
  exposition.add(
    METRICS.listAge,
    samples(({ lists }) =>
      lists.flatMap(({ name, ageSeconds }) =>
        ageSeconds === null ? [] : [{ labels: { list: name }, value: ageSeconds }],
      ),
    ),
  )
  exposition.add(
    METRICS.listsBehind,
    samples(({ listsBehind }) => [{ labels: {}, value: listsBehind }]),
  )
  exposition.add(
    METRICS.listLoads,
    samples(({ listLoads }) => Object.entries(listLoads).map(([outcome, value]) => ({ labels: { outcome }, value }))),
  )
  exposition.add(
    METRICS.geographyAge,
    samples(({ geographyAgeSeconds }) =>
      geographyAgeSeconds === null ? [] : [{ labels: {}, value: geographyAgeSeconds }],
    ),
  )
  exposition.add(
    METRICS.factQuestions,
    samples(({ sources }) =>
      sources.flatMap((source) =>
        OUTCOMES.map((outcome) => ({
          labels: { kind: source.kind, source: source.name, outcome },
          value: source[outcome],
        })),
      ),
    ),
  )
  exposition.add(
    METRICS.factSourceOpen,
    samples(({ sources }) =>
      sources.map(({ kind, name, open }) => ({ labels: { kind, source: name }, value: open ? 1 : 0 })),
    ),
  )
}

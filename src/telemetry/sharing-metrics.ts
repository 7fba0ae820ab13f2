// What processes have in common, as metrics: how many there are, and whether this one does the duties.
import type { Exposition, Sample } from './exposition.ts'
import { METRICS } from './metric-table.ts'

export interface SharingMetrics {
  readonly leads: boolean
  readonly liveProcesses: number
  /** Rate limits can't be settled with the others: each process keeps to its equal part. */
  readonly limitsCut: boolean
}

/** `read` is asked once for each metric of a scrape. */
export const addSharingMetrics = (exposition: Exposition, read: () => SharingMetrics | null): void => {
  const sample = (of: (sharing: SharingMetrics) => number) => (): readonly Sample[] => {
    const sharing = read()
    return sharing === null ? [] : [{ labels: {}, value: of(sharing) }]
  }
  exposition.add(
    METRICS.leads,
    sample(({ leads }) => (leads ? 1 : 0)),
  )
  exposition.add(
    METRICS.liveProcesses,
    sample(({ liveProcesses }) => liveProcesses),
  )
  exposition.add(
    METRICS.limitsCut,
    sample(({ limitsCut }) => (limitsCut ? 1 : 0)),
  )
}

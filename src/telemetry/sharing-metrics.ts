// Metrics of what the processes share: how many there are, and whether this one leads.
import type { Exposition, Sample } from './exposition.ts'
import { METRICS } from './metric-table.ts'

export interface SharingMetrics {
  readonly leads: boolean
  readonly liveProcesses: number
  /** Whether rate limits can't be settled with the other processes, so that each uses only its equal share. */
  readonly limitsCut: boolean
}

/** @param read called once per metric and scrape */
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

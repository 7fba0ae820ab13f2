// How the tree over the decision log stands, as metrics of the node's first process.
import type { Exposition, Sample } from './exposition.ts'
import { METRICS } from './metric-table.ts'

export interface TreeMetrics {
  /** Leaves; null where another node makes the tree. */
  readonly size: number | null
  /** Since the last pass over the log that failed in nothing. */
  readonly ageSeconds: number
  readonly failures: number
  /** No head is signed until somebody has looked. */
  readonly refused: boolean
}

/** `read` is asked once for each metric of a scrape; null: not this process's. */
export const addTreeMetrics = (exposition: Exposition, read: () => TreeMetrics | null): void => {
  const sample = (of: (metrics: TreeMetrics) => number | null) => (): readonly Sample[] => {
    const metrics = read()
    const value = metrics === null ? null : of(metrics)
    return value === null ? [] : [{ labels: {}, value }]
  }
  exposition.add(
    METRICS.treeSize,
    sample(({ size }) => size),
  )
  exposition.add(
    METRICS.treeAge,
    sample(({ ageSeconds }) => ageSeconds),
  )
  exposition.add(
    METRICS.treeFailures,
    sample(({ failures }) => failures),
  )
  exposition.add(
    METRICS.treeRefused,
    sample(({ refused }) => Number(refused)),
  )
}

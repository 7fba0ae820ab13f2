// Metrics of the tree over the decision log, reported by the node's first process.
import type { Exposition, Sample } from './exposition.ts'
import { METRICS } from './metric-table.ts'

export interface TreeMetrics {
  /** Number of leaves; null when another node makes the tree. */
  readonly size: number | null
  /** Seconds since the last pass over the log without an error. */
  readonly ageSeconds: number
  readonly failures: number
  /** Whether signing heads is suspended until an operator has looked. */
  readonly refused: boolean
  /** Null where no witness is set, or another node makes the tree. */
  readonly cosigning: {
    readonly ageMs: number
    readonly isLate: boolean
    readonly witnesses: readonly { readonly name: string; readonly problem: string | null }[]
  } | null
}

/** @param read called once per metric and scrape; null when this process has no tree */
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
  exposition.add(
    METRICS.cosignedAge,
    sample(({ cosigning }) => (cosigning === null ? null : cosigning.ageMs / 1_000)),
  )
  exposition.add(
    METRICS.cosignaturesLate,
    sample(({ cosigning }) => (cosigning === null ? null : Number(cosigning.isLate))),
  )
  exposition.add(METRICS.witnessCosigns, () =>
    (read()?.cosigning?.witnesses ?? []).map(({ name, problem }) => ({
      labels: { witness: name },
      value: Number(problem === null),
    })),
  )
}

// Metrics of the tree over the decision log, reported by the node's first process.
import type { Exposition, Sample } from '../../../telemetry/exposition.ts'
import { defineMetric } from '../../../telemetry/metric-table.ts'

export const TREE_METRICS = {
  treeSize: defineMetric(
    'countersign_decision_tree_leaves',
    'gauge',
    'Lines of the decision log that the newest signed head covers. Only where the tree is made.',
  ),
  treeAge: defineMetric(
    'countersign_decision_tree_age_seconds',
    'gauge',
    'Seconds since this node last submitted its complete decision log.',
  ),
  treeFailures: defineMetric(
    'countersign_decision_tree_failures_total',
    'counter',
    'Passes over the decision log that could not continue the tree or ship its head. They are tried again.',
  ),
  treeRefused: defineMetric(
    'countersign_decision_tree_refused',
    'gauge',
    'Whether no head is signed: 1 if so, because the tree does not hold one that was signed before: look into it.',
  ),
  cosignedAge: defineMetric(
    'countersign_decision_tree_cosigned_age_seconds',
    'gauge',
    'Seconds since a head of the log last had the required cosignatures, if witnesses are configured.',
  ),
  cosignaturesLate: defineMetric(
    'countersign_decision_tree_cosignatures_late',
    'gauge',
    'Whether that is longer than witnesses-within-seconds: 1 if so. Heads are signed all the same.',
  ),
  witnessCosigns: defineMetric(
    'countersign_witness_cosigns',
    'gauge',
    'Whether the witness cosigned the last head that it was given: 1 if so. The log says why where it did not.',
    { witness: 'name of its key' },
  ),
}

export interface TreeMetrics {
  /** Number of leaves. Null if another node builds the tree. */
  readonly size: number | null
  /** Seconds since the last successful pass over the log. */
  readonly ageSeconds: number
  readonly failures: number
  /** Whether the signing of heads is suspended until an operator has investigated. */
  readonly refused: boolean
  /** Null if no witness is configured or another node builds the tree. */
  readonly cosigning: {
    readonly ageMs: number
    readonly isLate: boolean
    readonly witnesses: readonly { readonly name: string; readonly problem: string | null }[]
  } | null
}

/** @param read called once per metric and scrape; returns null if this process has no tree */
export const addTreeMetrics = (exposition: Exposition, read: () => TreeMetrics | null): void => {
  const sample = (of: (metrics: TreeMetrics) => number | null) => (): readonly Sample[] => {
    const metrics = read()
    const value = metrics === null ? null : of(metrics)
    return value === null ? [] : [{ labels: {}, value }]
  }
  exposition.add(
    TREE_METRICS.treeSize,
    sample(({ size }) => size),
  )
  exposition.add(
    TREE_METRICS.treeAge,
    sample(({ ageSeconds }) => ageSeconds),
  )
  exposition.add(
    TREE_METRICS.treeFailures,
    sample(({ failures }) => failures),
  )
  exposition.add(
    TREE_METRICS.treeRefused,
    sample(({ refused }) => Number(refused)),
  )
  exposition.add(
    TREE_METRICS.cosignedAge,
    sample(({ cosigning }) => (cosigning === null ? null : cosigning.ageMs / 1_000)),
  )
  exposition.add(
    TREE_METRICS.cosignaturesLate,
    sample(({ cosigning }) => (cosigning === null ? null : Number(cosigning.isLate))),
  )
  exposition.add(TREE_METRICS.witnessCosigns, () =>
    (read()?.cosigning?.witnesses ?? []).map(({ name, problem }) => ({
      labels: { witness: name },
      value: Number(problem === null),
    })),
  )
}

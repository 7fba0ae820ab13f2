// Reported by the node's first process.
import type { Exposition } from '../../../telemetry/exposition.ts'
import { defineMetric } from '../../../telemetry/metric-table.ts'

export const TREE_METRICS = {
  treeSize: defineMetric(
    'countersign_decision_tree_leaves',
    'gauge',
    'Lines of the decision log that the newest signed head covers. Present only on the node that builds the tree.',
  ),
  treeAge: defineMetric(
    'countersign_decision_tree_age_seconds',
    'gauge',
    'Seconds since this node last submitted its complete decision log.',
  ),
  treeFailures: defineMetric(
    'countersign_decision_tree_failures_total',
    'counter',
    'Failed attempts to extend the tree or ship its head, which are retried.',
  ),
  treeRefused: defineMetric(
    'countersign_decision_tree_refused',
    'gauge',
    'Whether the signing of heads is suspended (1), because the tree does not match an earlier signed head. Investigate.',
  ),
  cosignedAge: defineMetric(
    'countersign_decision_tree_cosigned_age_seconds',
    'gauge',
    'Seconds since a head of the log last had the required cosignatures, if witnesses are configured.',
  ),
  cosignaturesLate: defineMetric(
    'countersign_decision_tree_cosignatures_late',
    'gauge',
    'Whether cosignatures take longer than witnesses-within-seconds (1). Heads are still signed.',
  ),
  witnessCosigns: defineMetric(
    'countersign_witness_cosigns',
    'gauge',
    'Whether the witness cosigned the last head that it received (1). If not, the log states the reason.',
    { witness: 'name of the witness key' },
  ),
}

export interface TreeMetrics {
  readonly size: number | null
  /** Time since the last successful pass over the log. */
  readonly ageSeconds: number
  readonly failures: number
  /** Whether signing is suspended until an operator has investigated. */
  readonly refused: boolean
  /** Null if there are no witnesses, or if another node builds the tree. */
  readonly cosigning: {
    readonly ageMs: number
    readonly isLate: boolean
    readonly witnesses: readonly { readonly name: string; readonly problem: string | null }[]
  } | null
}

const READINGS = [
  [TREE_METRICS.treeSize, ({ size }) => size],
  [TREE_METRICS.treeAge, ({ ageSeconds }) => ageSeconds],
  [TREE_METRICS.treeFailures, ({ failures }) => failures],
  [TREE_METRICS.treeRefused, ({ refused }) => Number(refused)],
  [TREE_METRICS.cosignedAge, ({ cosigning }) => (cosigning === null ? null : cosigning.ageMs / 1_000)],
  [TREE_METRICS.cosignaturesLate, ({ cosigning }) => (cosigning === null ? null : Number(cosigning.isLate))],
] as const satisfies readonly (readonly [metric: unknown, reading: (metrics: TreeMetrics) => number | null])[]

export const addTreeMetrics = (exposition: Exposition, read: () => TreeMetrics | null): void => {
  for (const [metric, reading] of READINGS) {
    exposition.add(metric, () => {
      const metrics = read()
      const value = metrics === null ? null : reading(metrics)
      return value === null ? [] : [{ labels: {}, value }]
    })
  }
  exposition.add(TREE_METRICS.witnessCosigns, () =>
    (read()?.cosigning?.witnesses ?? []).map(({ name, problem }) => ({
      labels: { witness: name },
      value: Number(problem === null),
    })),
  )
}

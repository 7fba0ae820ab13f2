// The capacity of a node: the rates at which the sweep measured each setting's p99, and the number of nodes that a rate
// needs. Rates and settings that were not measured are never used.
import { type Measurement, whole } from './result.ts'
import { describeSetting, type SweepSetting, sweepName } from './sweep.ts'

/** Shares of a setting's closed-loop throughput at which the sweep measures latency. */
export const LOAD_SHARES = [0.25, 0.5, 0.75] as const
/** A rate counts as measured if at least this share was attested in time. */
const ANSWERED = 0.98

/** A setting under a fixed rate. */
export interface LoadPoint extends SweepSetting {
  readonly ratePerSecond: number
  readonly p99Ms: number
}

export interface CapacityPlan extends LoadPoint {
  /** Nodes without a spare. */
  readonly nodes: number
}

export const loadKind = (share: number): string => `load${Math.round(share * 100)}`

/** Returns the rates that each setting held. */
export const loadPoints = (measurements: readonly Measurement[]): LoadPoint[] =>
  measurements.flatMap(({ name, median }) => {
    const [, processes, workers, kind] = /^sweep\.p(\d+)w(\d+)\.(load\d+)\.rate$/.exec(name) ?? []
    if (kind === undefined) return []
    const setting = { processes: Number(processes), workers: Number(workers) }
    const value = (what: string): number =>
      measurements.find((other) => other.name === `${sweepName(setting)}.${kind}.${what}`)?.median ?? Number.NaN
    if (!(value('throughput') >= median * ANSWERED)) return []
    return [{ ...setting, ratePerSecond: median, p99Ms: value('p99') }]
  })

const threads = ({ processes, workers }: SweepSetting): number => processes * (1 + workers)

const isSame = (one: SweepSetting, other: SweepSetting | null): boolean =>
  one.processes === other?.processes && one.workers === other.workers

/**
 * Returns the plan with the fewest nodes. Among several, the preferred setting wins, otherwise the plan with the fewest
 * threads. Null if no rate has this p99.
 */
export const planCapacity = (
  points: readonly LoadPoint[],
  ratePerSecond: number,
  p99Ms: number,
  preferred: SweepSetting | null = null,
): CapacityPlan | null =>
  points
    .filter((point) => point.p99Ms <= p99Ms)
    .map((point) => ({ ...point, nodes: Math.ceil(ratePerSecond / point.ratePerSecond) }))
    .toSorted(
      (one, other) =>
        one.nodes - other.nodes ||
        Number(isSame(other, preferred)) - Number(isSame(one, preferred)) ||
        threads(one) - threads(other) ||
        one.p99Ms - other.p99Ms,
    )[0] ?? null

const describePoint = (point: LoadPoint): string =>
  `${whole(point.ratePerSecond)}/s with a p99 of ${point.p99Ms.toFixed(1)} ms (${describeSetting(point)})`

export interface CapacityReport {
  readonly ratePerSecond: number
  readonly p99Ms: number
  readonly defaultSetting: SweepSetting
  readonly measured: readonly LoadPoint[]
  /** Null if no measured rate has the p99. */
  readonly plan: CapacityPlan | null
}

/** Prefers the default setting if it needs no more nodes than the others. */
export const reportCapacity = (wanted: Omit<CapacityReport, 'plan'>): CapacityReport => ({
  ...wanted,
  plan: planCapacity(wanted.measured, wanted.ratePerSecond, wanted.p99Ms, wanted.defaultSetting),
})

const pointAsJson = ({ processes, workers, ratePerSecond, p99Ms }: LoadPoint) => ({
  processes,
  workers,
  rate_per_second: ratePerSecond,
  p99_ms: p99Ms,
})

export const reportAsJson = ({ ratePerSecond, p99Ms, defaultSetting, measured, plan }: CapacityReport) => ({
  rate_per_second: ratePerSecond,
  p99_ms: p99Ms,
  recommended: plan === null ? null : { ...pointAsJson(plan), nodes: plan.nodes },
  default: defaultSetting,
  measured: measured.map(pointAsJson),
})

/** Describes the highest rate of the default setting with the p99 or, if none has it, the rate with the lowest p99. */
const describeDefault = ({ measured, defaultSetting: setting, p99Ms }: CapacityReport): string => {
  const own = measured.filter((point) => isSame(point, setting))
  const held = own.filter((point) => point.p99Ms <= p99Ms)
  const [shown] =
    held.length > 0
      ? held.toSorted((one, other) => other.ratePerSecond - one.ratePerSecond)
      : own.toSorted((one, other) => one.p99Ms - other.p99Ms)
  return shown === undefined
    ? `The default (${describeSetting(setting)}) held no measured rate.`
    : `The default: ${describePoint(shown)}.`
}

/** Recommends a setting and a number of nodes for a rate and a p99. */
export const describePlan = (report: CapacityReport): string => {
  const { plan, measured: points, ratePerSecond, p99Ms, defaultSetting: setting } = report
  if (plan !== null) {
    const nodes = plan.nodes === 1 ? '1 node' : `${plan.nodes} nodes`
    const isDefault = isSame(plan, setting)
    return [
      `For ${whole(ratePerSecond)}/s with a p99 of at most ${p99Ms} ms: ${nodes} like this machine, plus one spare, each with ${isDefault ? 'the default, ' : ''}${describeSetting(plan)}.`,
      `Measured on one node: ${describePoint(plan)}.`,
      ...(isDefault ? [] : [describeDefault(report)]),
    ].join('\n')
  }
  const fastest = points.toSorted((one, other) => one.p99Ms - other.p99Ms)[0]
  return fastest === undefined
    ? 'No setting held a measured rate: the machine is busy.'
    : `No measured rate has a p99 of at most ${p99Ms} ms on this machine. The lowest: ${describePoint(fastest)}.`
}

const TABLE_RATES = [1_000, 5_000, 20_000] as const
const TABLE_P99_MS = [5, 20, 50] as const

export const CAPACITY_HEAD = ['Rate', 'p99', 'Processes', 'Workers per process', 'Nodes', 'Measured per node'] as const

/** Rows of the capacity table; empty without measured rates. */
export const capacityRows = (points: readonly LoadPoint[]): string[][] =>
  points.length === 0
    ? []
    : TABLE_RATES.flatMap((rate) =>
        TABLE_P99_MS.map((p99Ms) => {
          const plan = planCapacity(points, rate, p99Ms)
          const goal = [`${whole(rate)}/s`, `${p99Ms} ms`]
          if (plan === null) return [...goal, '–', '–', 'not reached', '–']
          const { processes, workers, nodes, ratePerSecond, p99Ms: measuredMs } = plan
          const measured = `${whole(ratePerSecond)}/s at ${measuredMs.toFixed(1)} ms`
          return [...goal, String(processes), String(workers), `${nodes} + 1`, measured]
        }),
      )

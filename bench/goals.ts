// The goals of the service, as ratios within one run, and the values computed from the rounds. Each ratio is computed
// round by round, because the parts of a round run within seconds of each other, under the same conditions.
import type { Collector, Goal, MeasurementDefinition } from './result.ts'
import { median } from './stages/harness.ts'
import { sweepName, sweepPoints } from './sweep.ts'

const ratio = (name: string, label: string, better: 'lower' | 'higher'): MeasurementDefinition => ({
  name,
  label,
  unit: 'ratio',
  better,
})

const BARE_RATIO = ratio('summary.throughput_over_bare', 'throughput, default setting / bare server in C', 'higher')
const SWEPT_RATIO = ratio(
  'summary.best_setting_over_bare',
  'throughput, best setting of the sweep / bare server in C',
  'higher',
)
const CPU_RATIO = ratio(
  'summary.cpu_over_bare',
  'CPU per attestation, best setting of the sweep / bare server in C',
  'lower',
)
const BATCH_RATIO = ratio(
  'summary.batch_over_bare',
  'attestations, 100 per call / single requests of the bare server',
  'higher',
)
const KEYED_RATIO = ratio(
  'summary.keyed_over_unkeyed',
  'requests with an Idempotency-Key / requests without one',
  'higher',
)
const TAIL_RATIO = ratio(
  'summary.half_p99_over_bare',
  'p99 at half of capacity / p99 of the bare server at half of its capacity',
  'lower',
)

type GoalDefinition = Pick<Goal, 'name' | 'label' | 'unit' | 'bound' | 'limit'>

const atLeast = (name: string, label: string, limit: number): GoalDefinition => ({
  label,
  limit,
  name: `identity.${name}.throughput`,
  unit: '/s',
  bound: 'at least',
})

const IDENTITY_GOALS: readonly GoalDefinition[] = [
  atLeast('create_300', 'sessions created, QR code of 300 px', 1_500),
  atLeast('create_2000', 'sessions created, QR code of 2,000 px', 400),
  atLeast('status', 'status requests', 15_000),
  atLeast('verify', 'wallets verified', 20_000),
  { name: 'identity.streams.memory', label: 'memory of 10,000 streams', unit: 'MB', bound: 'at most', limit: 200 },
  {
    name: 'identity.delivery.p99',
    label: 'change delivered to its stream, p99',
    unit: 'ms',
    bound: 'at most',
    limit: 50,
  },
  {
    name: 'identity.attestations.loss',
    label: 'attestation throughput lost to session changes',
    unit: '%',
    bound: 'at most',
    limit: 10,
  },
]

/** At ten times the capacity, a refusal waits for the requests that other connections sent before it. */
const OVERLOAD_GOALS: readonly GoalDefinition[] = (
  [
    [2, 5],
    [10, 100],
  ] as const
).flatMap(([multiple, refusalMs]): GoalDefinition[] => [
  {
    name: `overload.x${multiple}.goodput_share`,
    label: `goodput / peak at ${multiple}× capacity`,
    unit: '%',
    bound: 'at least',
    limit: 90,
  },
  {
    name: `overload.x${multiple}.refusal_p99`,
    label: `p99 of a refusal at ${multiple}× capacity`,
    unit: 'ms',
    bound: 'at most',
    limit: refusalMs,
  },
])

const SOAK_GOALS: readonly GoalDefinition[] = [
  { name: 'soak.errors', label: 'errors during the soak test', unit: 'count', bound: 'at most', limit: 0 },
  // The heap's normal variation is about this large, so less growth in an hour can't be detected.
  { name: 'soak.memory_growth', label: 'growth of memory, flat', unit: 'MB/h', bound: 'at most', limit: 5 },
]

const reach = ({ name, label, unit, better }: MeasurementDefinition, limit: number): GoalDefinition => ({
  name,
  label,
  unit,
  bound: better === 'lower' ? 'at most' : 'at least',
  limit,
})

const GOALS: readonly GoalDefinition[] = [
  reach(SWEPT_RATIO, 0.85),
  reach(BARE_RATIO, 0.75),
  reach(CPU_RATIO, 1.4),
  reach(TAIL_RATIO, 1.3),
  reach(BATCH_RATIO, 1.3),
  reach(KEYED_RATIO, 0.85),
  { name: 'service.open.p50', label: 'p50 at 1,000/s', unit: 'ms', bound: 'at most', limit: 1 },
  { name: 'service.open.p99', label: 'p99 at 1,000/s', unit: 'ms', bound: 'at most', limit: 5 },
  { name: 'stages.policy-conditions', label: 'a rule of six conditions', unit: 'µs', bound: 'at most', limit: 2 },
  { name: 'stages.list-evm', label: 'an EVM address in a list of a million', unit: 'µs', bound: 'at most', limit: 0.5 },
  {
    name: 'stages.list-solana',
    label: 'a Solana address in a list of a million',
    unit: 'µs',
    bound: 'at most',
    limit: 0.5,
  },
  { name: 'stages.policy-calldata', label: 'a decoded ERC-20 transfer', unit: 'µs', bound: 'at most', limit: 6 },
  ...OVERLOAD_GOALS,
  ...SOAK_GOALS,
  ...IDENTITY_GOALS,
  { name: 'scale.cpu_growth', label: 'CPU growth of a full deployment', unit: '%', bound: 'at most', limit: 10 },
  { name: 'scale.list.memory_many', label: 'memory of a list of a million', unit: 'MB', bound: 'at most', limit: 40 },
]

/**
 * Adds the ratios: one measurement divided by another, round by round. Omits a ratio if either measurement is missing.
 */
export const addDerived = (collector: Collector): void => {
  const divide = (ratioOf: MeasurementDefinition, over: string, under: string): void => {
    const divisors = collector.rounds(under)
    for (const [round, value] of collector.rounds(over).entries()) {
      const divisor = divisors[round]
      if (divisor !== undefined) collector.add(ratioOf, value / divisor)
    }
  }
  divide(BARE_RATIO, 'service.closed.throughput', 'bare.closed.throughput')
  divide(BATCH_RATIO, 'batch.100.throughput', 'bare.closed.throughput')
  divide(KEYED_RATIO, 'keyed.closed.throughput', 'service.closed.throughput')
  divide(TAIL_RATIO, 'service.half.p99', 'bare.half.p99')
  const best = sweepPoints(collector.measurements()).toSorted((one, other) => other.throughput - one.throughput)[0]
  if (best === undefined) return
  const setting = sweepName(best)
  divide(SWEPT_RATIO, `${setting}.closed.throughput`, `${setting}.bare.closed.throughput`)
  divide(CPU_RATIO, `${setting}.closed.cpu`, `${setting}.bare.closed.cpu`)
}

/** The measurements that `--ratios` prints, in this order: only ratios, no rate or time of this machine alone. */
const TABLE: readonly string[] = [
  SWEPT_RATIO.name,
  BARE_RATIO.name,
  CPU_RATIO.name,
  TAIL_RATIO.name,
  BATCH_RATIO.name,
  KEYED_RATIO.name,
  'identity.attestations.loss',
  'scale.cpu_growth',
  'overload.x10.refusal_p99',
]

export const tableOfRatios = (goals: readonly Goal[]): Goal[] =>
  TABLE.flatMap((wanted) => goals.filter(({ name }) => name === wanted))

/** Judges the goals that were measured. The latency goals apply only at 1,000/s. */
export const judgeGoals = (collector: Collector, ratePerSecond: number): Goal[] =>
  GOALS.flatMap((goal) => {
    const rounds = collector.rounds(goal.name)
    if (rounds.length === 0 || (goal.name.startsWith('service.open.') && ratePerSecond !== 1_000)) return []
    const value = median(rounds)
    return [{ ...goal, value, reached: goal.bound === 'at most' ? value <= goal.limit : value >= goal.limit }]
  })

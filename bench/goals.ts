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

const FLOOR: MeasurementDefinition = {
  name: 'floor.cpu',
  label: 'floor: bare echo + one bare signature + one Keccak',
  unit: 'µs',
  better: 'lower',
}
const CPU_RATIO = ratio('summary.cpu_over_floor', 'service CPU per attestation / floor', 'lower')
const BARE_RATIO = ratio('summary.throughput_over_bare', 'service throughput / bare server in C', 'higher')
const THROUGHPUT_RATIO = ratio('summary.throughput_over_naive', 'service throughput / Elysia with viem', 'higher')

const SWEPT_RATIO = ratio(
  'summary.best_setting_over_bare',
  'single requests, best setting of the sweep / bare server in C',
  'higher',
)
const INDEXED_RATIO = ratio('summary.indexed_cpu_over_floor', 'CPU per attestation, index included / floor', 'lower')
const BATCH_RATIO = ratio(
  'summary.batch_over_bare',
  'attestations, 100 per call / single requests of the bare server',
  'higher',
)
const KEYED_RATIO = ratio('summary.keyed_over_unkeyed', 'requests with an Idempotency-Key / without', 'higher')
const TAIL_RATIO = ratio('summary.half_p99_over_p50', 'p99 / p50 at half of capacity', 'lower')
/**
 * The tail that the machine alone causes: the bare server has no garbage collection and no threads that wait for
 * others.
 */
export const BARE_TAIL_RATIO = ratio('summary.bare_half_p99_over_p50', 'p99 / p50 of the bare server in C', 'lower')

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

/** The goals of the npm prebuilt and of @noble hold for every machine; the first goal needs a system's libsecp256k1. */
const SIGNER_GOALS: readonly (readonly [string, number])[] = [
  ['libsecp256k1', 35_000],
  ['secp256k1-node', 25_000],
  ['noble', 9_000],
]
const signerFloor = (name: string): MeasurementDefinition =>
  ratio(`signers.${name}.cpu_over_floor`, `CPU per attestation / its floor, signing by ${name}`, 'lower')

const THROUGHPUT_GOALS: readonly GoalDefinition[] = [
  ...SIGNER_GOALS.map(
    ([name, limit]): GoalDefinition => ({
      name: `signers.${name}.closed.throughput`,
      label: `EVM attestations, signing by ${name}`,
      limit,
      unit: '/s',
      bound: 'at least',
    }),
  ),
  {
    name: signerFloor('libsecp256k1').name,
    label: 'service CPU / floor, signing by libsecp256k1',
    unit: 'ratio',
    bound: 'at most',
    limit: 1.25,
  },
  ...[100, 1_000].map(
    (size): GoalDefinition => ({
      name: `batch.${size}.throughput`,
      label: `EVM attestations, ${size.toLocaleString('en-US')} per call`,
      unit: '/s',
      bound: 'at least',
      limit: 50_000,
    }),
  ),
  {
    name: 'solana.closed.throughput',
    label: 'Solana attestations',
    unit: '/s',
    bound: 'at least',
    limit: 40_000,
  },
]

/** At ten times the capacity, a refusal waits for the requests that other connections sent before it. */
const OVERLOAD_GOALS: readonly GoalDefinition[] = (
  [
    [2, 5],
    [10, 50],
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
  reach(SWEPT_RATIO, 0.75),
  reach(INDEXED_RATIO, 1.5),
  reach(BATCH_RATIO, 1.3),
  reach(KEYED_RATIO, 0.85),
  reach(TAIL_RATIO, 8),
  { name: CPU_RATIO.name, label: CPU_RATIO.label, unit: 'ratio', bound: 'at most', limit: 1.5 },
  { name: THROUGHPUT_RATIO.name, label: THROUGHPUT_RATIO.label, unit: 'ratio', bound: 'at least', limit: 4 },
  { name: 'service.open.p50', label: 'p50 at 1,000/s', unit: 'ms', bound: 'at most', limit: 1 },
  { name: 'service.open.p99', label: 'p99 at 1,000/s', unit: 'ms', bound: 'at most', limit: 5 },
  { name: 'service.half.p50', label: 'p50 at half of capacity', unit: 'ms', bound: 'at most', limit: 1 },
  { name: 'service.half.p99', label: 'p99 at half of capacity', unit: 'ms', bound: 'at most', limit: 5 },
  { name: 'service.half.p99_9', label: 'p99.9 at half of capacity', unit: 'ms', bound: 'at most', limit: 15 },
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
  ...THROUGHPUT_GOALS,
  ...OVERLOAD_GOALS,
  ...SOAK_GOALS,
  ...IDENTITY_GOALS,
  { name: 'scale.cpu_growth', label: 'CPU growth of a full deployment', unit: '%', bound: 'at most', limit: 10 },
  { name: 'scale.list.memory_many', label: 'memory of a list of a million', unit: 'MB', bound: 'at most', limit: 40 },
]

/** Combines two measurements round by round; nothing when one of them is missing. */
const derive = (
  collector: Collector,
  definition: MeasurementDefinition,
  names: readonly string[],
  combine: (...values: number[]) => number,
): void => {
  const columns = names.map((name) => collector.rounds(name))
  const rounds = Math.min(...columns.map((column) => column.length))
  for (let round = 0; round < rounds; round++) {
    collector.add(definition, combine(...columns.map((column) => column[round]!)))
  }
}

/** Adds the floor and the ratios. `backend` is the one the service signs with. */
export const addDerived = (collector: Collector, backend: string): void => {
  const floorParts = ['floor.echo.closed.cpu', `floor.sign.${backend}`, 'floor.keccak']
  derive(collector, FLOOR, floorParts, (echo, sign, keccak) => echo! + sign! + keccak!)
  derive(collector, CPU_RATIO, ['service.closed.cpu', FLOOR.name], (service, floor) => service! / floor!)
  derive(
    collector,
    THROUGHPUT_RATIO,
    ['service.closed.throughput', 'naive.closed.throughput'],
    (service, naive) => service! / naive!,
  )
  derive(
    collector,
    BARE_RATIO,
    ['service.closed.throughput', 'bare.closed.throughput'],
    (service, bare) => service! / bare!,
  )
  const best = sweepPoints(collector.measurements()).toSorted((one, other) => other.throughput - one.throughput)[0]
  const swept = best === undefined ? '' : `${sweepName(best)}.closed.throughput`
  const besideBest = best === undefined ? '' : `${sweepName(best)}.bare.closed.throughput`
  derive(collector, SWEPT_RATIO, [swept, besideBest], (service, bare) => service! / bare!)
  derive(
    collector,
    INDEXED_RATIO,
    ['service.closed.cpu', 'service.closed.cpu_index', FLOOR.name],
    (service, index, floor) => (service! + index!) / floor!,
  )
  derive(collector, BATCH_RATIO, ['batch.100.throughput', 'bare.closed.throughput'], (batch, bare) => batch! / bare!)
  derive(
    collector,
    KEYED_RATIO,
    ['keyed.closed.throughput', 'service.closed.throughput'],
    (keyed, unkeyed) => keyed! / unkeyed!,
  )
  derive(collector, TAIL_RATIO, ['service.half.p99', 'service.half.p50'], (p99, p50) => p99! / p50!)
  derive(collector, BARE_TAIL_RATIO, ['bare.half.p99', 'bare.half.p50'], (p99, p50) => p99! / p50!)
  for (const [name] of SIGNER_GOALS) {
    derive(
      collector,
      signerFloor(name),
      [`signers.${name}.closed.cpu`, 'floor.echo.closed.cpu', `floor.sign.${name}`, 'floor.keccak'],
      (service, echo, sign, keccak) => service! / (echo! + sign! + keccak!),
    )
  }
}

/** The measurements that `--ratios` prints, in this order: only ratios, no rate or time of this machine alone. */
const TABLE: readonly string[] = [
  SWEPT_RATIO.name,
  INDEXED_RATIO.name,
  BATCH_RATIO.name,
  KEYED_RATIO.name,
  TAIL_RATIO.name,
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

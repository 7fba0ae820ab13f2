// What the service is meant to reach, as ratios within one run, and what follows from the rounds. Each ratio is taken
// round by round, since a round's parts ran within seconds of each other and share the machine's mood.
import type { Collector, Goal, MeasurementDefinition } from './result.ts'
import { median } from './stages/harness.ts'

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
const THROUGHPUT_RATIO = ratio('summary.throughput_over_naive', 'service throughput / naive way', 'higher')

type GoalDefinition = Pick<Goal, 'name' | 'label' | 'unit' | 'bound' | 'limit'>

const atLeast = (name: string, label: string, limit: number): GoalDefinition => ({
  ...{ label, limit, name: `identity.${name}.throughput`, unit: '/s', bound: 'at least' },
})

const IDENTITY_GOALS: readonly GoalDefinition[] = [
  atLeast('create_300', 'sessions made, QR code of 300 px', 1_500),
  atLeast('create_2000', 'sessions made, QR code of 2,000 px', 400),
  atLeast('status', 'status read', 15_000),
  atLeast('verify', 'wallets verified', 20_000),
  { name: 'identity.streams.memory', label: 'memory of 10,000 streams', unit: 'MB', bound: 'at most', limit: 200 },
  { name: 'identity.delivery.p99', label: 'a change at its stream, p99', unit: 'ms', bound: 'at most', limit: 50 },
  {
    ...{ name: 'identity.attestations.loss', label: 'what attestations lose meanwhile', unit: '%' },
    ...{ bound: 'at most', limit: 10 },
  },
]

const GOALS: readonly GoalDefinition[] = [
  { name: CPU_RATIO.name, label: CPU_RATIO.label, unit: 'ratio', bound: 'at most', limit: 1.5 },
  { name: THROUGHPUT_RATIO.name, label: THROUGHPUT_RATIO.label, unit: 'ratio', bound: 'at least', limit: 4 },
  { name: 'service.open.p50', label: 'p50 at 1,000/s', unit: 'ms', bound: 'at most', limit: 1 },
  { name: 'service.open.p99', label: 'p99 at 1,000/s', unit: 'ms', bound: 'at most', limit: 5 },
  { name: 'stages.policy-conditions', label: 'a rule of six conditions', unit: 'µs', bound: 'at most', limit: 2 },
  { name: 'stages.list-evm', label: 'an EVM address in a list of a million', unit: 'µs', bound: 'at most', limit: 0.5 },
  { name: 'stages.list-solana', label: 'a Solana address in one', unit: 'µs', bound: 'at most', limit: 0.5 },
  { name: 'stages.policy-calldata', label: 'a decoded ERC-20 transfer', unit: 'µs', bound: 'at most', limit: 6 },
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
}

/** The goals whose measurement is there. The latency goals are about 1,000/s and no other rate. */
export const judgeGoals = (collector: Collector, ratePerSecond: number): Goal[] =>
  GOALS.flatMap((goal) => {
    const rounds = collector.rounds(goal.name)
    if (rounds.length === 0 || (goal.name.startsWith('service.open.') && ratePerSecond !== 1_000)) return []
    const value = median(rounds)
    return [{ ...goal, value, reached: goal.bound === 'at most' ? value <= goal.limit : value >= goal.limit }]
  })

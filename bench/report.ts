// Formats a result as text for people.
import { CAPACITY_HEAD, capacityRows, loadPoints } from './capacity.ts'
import { tableOfRatios } from './goals.ts'
import type { BenchResult, Goal, Measurement, Unit } from './result.ts'
import { type StageShare, stageShares } from './stage-shares.ts'
import { describeRecommendation, type SweepPoint, sweepPoints } from './sweep.ts'

const PART_TITLES: Readonly<Record<string, string>> = {
  floor: 'The floor: what no attestation can do without',
  bare: 'A bare server in C that signs and does nothing else',
  service: 'The service: key, policy and decision record, through HTTP',
  keyed: 'The same with an Idempotency-Key of its own in each request',
  batch: 'Batch: many attestations in one call',
  solana: 'Solana: the service signing by Ed25519',
  overload: 'Overload: noble on one worker, at its capacity and above',
  soak: 'Soak: an hour or more at a steady rate',
  deployment: 'The deployment',
  stages: 'Stages, each alone in one process',
  identity: 'Identity: sessions, streams, wallets',
  scale: 'Scale: 10,000 policies of one template, 100,000 keys, a list of a million',
  peers: 'Peers in the same rounds',
  summary: 'Summary',
}

/** Formats a number with its unit, with three significant digits or as a whole number. */
export const formatValue = (value: number, unit: Unit): string => {
  if (unit === 'count') return value.toLocaleString('en-US')
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  const number = value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
  return unit === 'ratio' ? `${number}×` : unit === '/s' ? `${number}/s` : `${number} ${unit}`
}

/** Formats rows as columns, the first left-aligned, the others right-aligned. */
export const formatTable = (rows: readonly (readonly string[])[]): string => {
  const widths = rows.reduce<number[]>(
    (known, row) => row.map((cell, column) => Math.max(known[column] ?? 0, cell.length)),
    [],
  )
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `  ${line}`)
    .join('\n')
}

/** Outcomes that are not throughput; they have a separate table. */
const OUTCOMES = ['refused', 'late', 'errors'] as const
export const isOutcome = ({ name, unit }: Measurement): boolean =>
  unit === '/s' && OUTCOMES.some((what) => name.endsWith(`.${what}`))

const measurementRow = ({ label, median, rounds, unit }: Measurement): string[] => [
  label,
  formatValue(median, unit),
  `${formatValue(Math.min(...rounds), unit)} to ${formatValue(Math.max(...rounds), unit)}`,
]

const goalRow = ({ label, value, unit, bound, limit, reached }: Goal): string[] => [
  label,
  formatValue(value, unit),
  `goal ${bound} ${formatValue(limit, unit)}`,
  reached ? 'reached' : 'not reached',
]

const shareRow = ({ label, microseconds, share }: StageShare): string[] => [
  label,
  formatValue(microseconds, 'µs'),
  `${Math.round(share * 100)}%`,
]

const sweepRow = ({ processes, workers, throughput, cpu, p99 }: SweepPoint): string[] => [
  String(processes),
  String(workers),
  formatValue(throughput, '/s'),
  Number.isNaN(cpu) ? '' : formatValue(cpu, 'µs'),
  formatValue(p99, 'ms'),
]

const formatCapacity = (measurements: readonly Measurement[]): string[] => {
  const rows = capacityRows(loadPoints(measurements))
  return rows.length === 0 ? [] : ['', 'Capacity: nodes like this machine', formatTable([CAPACITY_HEAD, ...rows])]
}

/** Formats the sweep as a table and a sentence; empty without a sweep. */
const formatSweep = (measurements: readonly Measurement[]): string[] => {
  const points = sweepPoints(measurements)
  const sentence = describeRecommendation(points)
  if (sentence === null) return []
  const head = ['processes', 'workers of each', 'throughput', 'CPU per attestation', 'p99']
  return [
    '',
    'Sweep: closed loop, medians of the rounds',
    formatTable([head, ...points.map(sweepRow)]),
    '',
    `  ${sentence}`,
    ...formatCapacity(measurements),
  ]
}

/** Loads with a request that was not attested in time, and all loads on a deployment. */
const outcomeRows = (measurements: readonly Measurement[]): string[][] =>
  measurements.flatMap(({ name, label, median }) => {
    const load = /^(.+)\.throughput$/.exec(name)?.[1]
    const lost = OUTCOMES.map((what) => measurements.find((other) => other.name === `${load}.${what}`)?.median ?? 0)
    if (load === undefined || (lost.every((each) => each === 0) && !load.startsWith('deployment.'))) return []
    return [
      [
        `${load.split('.')[0]}: ${label.replace('throughput, ', '')}`,
        ...[median, ...lost].map((value) => formatValue(value, '/s')),
      ],
    ]
  })

const formatOutcomes = (measurements: readonly Measurement[]): string[] => {
  const rows = outcomeRows(measurements)
  const head = ['', 'attested', 'refused', 'late', 'errors']
  return rows.length === 0 ? [] : ['', 'Requests by outcome, per second', formatTable([head, ...rows])]
}

const findingLines = (findings: readonly string[]): string[] =>
  findings.length === 0 ? [] : ['', 'Findings', ...findings.map((finding) => `  ${finding}`)]

/** Formats the table of `--ratios` and the findings that cast doubt on it. */
export const formatRatios = ({ goals, findings }: BenchResult): string => {
  const rows = tableOfRatios(goals).map(({ label, value, unit, bound, limit }) => [
    label,
    formatValue(value, unit),
    `${bound} ${formatValue(limit, unit)}`,
  ])
  return [formatTable([['', 'today', 'goal'], ...rows]), ...findingLines(findings)].join('\n')
}

export const formatResult = (result: BenchResult): string => {
  const { machine, runtime, commit, measurements, goals, findings } = result
  const lines = [
    `Machine   ${machine.cpu}, ${machine.cores} cores, ${machine.system} ${machine.architecture}, load ${machine.loadAverage}`,
    `Runtime   Bun ${runtime.version} (${runtime.revision.slice(0, 9)})`,
    `Commit    ${commit === null ? 'unknown' : `${commit.id.slice(0, 12)}${commit.modified ? ', modified' : ''}`}`,
    `Date      ${result.startedAt}`,
  ]
  const url = result.settings['url']
  if (typeof url === 'string') lines.push(`Target    ${url}; the machine and the commit are of the load generator`)
  const parts = [...new Set(measurements.map(({ name }) => name.split('.')[0] ?? name))].filter(
    (part) => part !== 'sweep',
  )
  for (const part of parts) {
    const own = measurements.filter((measurement) => measurement.name.split('.')[0] === part && !isOutcome(measurement))
    const rows = own.map(measurementRow)
    lines.push('', PART_TITLES[part] ?? part, formatTable([['', 'median', 'rounds'], ...rows]))
  }
  lines.push(...formatSweep(measurements), ...formatOutcomes(measurements))
  const shares = stageShares(measurements)
  if (shares.length > 0) {
    lines.push(
      '',
      'Where the service’s CPU per attestation goes (stages were measured alone)',
      formatTable(shares.map(shareRow)),
    )
  }
  if (goals.length > 0) lines.push('', 'Goals', formatTable(goals.map(goalRow)))
  lines.push(...findingLines(findings))
  return lines.join('\n')
}

// Writes measured results into docs/speed.md: bun bench/speed-page.ts result.json [more.json …]
// Refuses a result of a quick run, and one with findings unless --with-findings quotes them too. The page has two sections,
// speed and the long run (an hour, often of another day). Each says where, on what and when it was measured; a section
// stays as it is when no result belongs to it.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { answerHelp } from '../test/support/head-help.ts'
import { CAPACITY_HEAD, capacityRows, loadPoints } from './capacity.ts'
import { PEER_NOTES, peerRows } from './peers/peer-table.ts'
import { formatValue, isOutcome } from './report.ts'
import { type BenchResult, type Measurement, parseResult, ResultInvalidError } from './result.ts'
import { stageShares } from './stage-shares.ts'
import { describeRecommendation, sweepPoints } from './sweep.ts'

answerHelp(import.meta)

export interface Section {
  readonly begin: string
  readonly end: string
  /** Whether a measurement or a goal belongs to this section. */
  readonly holds: (named: { readonly name: string }) => boolean
  readonly make: (result: BenchResult, hasDrawing?: HasDrawing, quoting?: Quoting) => string
}

const isOfSoak = ({ name }: { readonly name: string }): boolean => name.startsWith('soak.')

const marks = (name: string) => ({ begin: `<!-- ${name}: made by bench/speed-page.ts -->`, end: `<!-- /${name} -->` })

/** Parts of a result that the page shows in the details, with the text before each table. The result file has all. */
const PARTS: readonly { readonly part: string; readonly words: string }[] = [
  { part: 'service', words: 'The service, with key check, a policy of six rules and decision record:' },
  { part: 'batch', words: 'Batches:' },
  { part: 'solana', words: 'Attestations on Solana, signing with Ed25519:' },
]

/** Escapes a cell, so that it does not end its row. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const align = head.map((_, column) => (column === 0 ? '---' : '--:'))
  return [head, align, ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n')
}

const ratioTable = (measurements: readonly Measurement[]): string =>
  table(
    ['Ratio', 'Median', 'Rounds'],
    measurements.map(({ label, median, rounds, unit }) => [
      label,
      formatValue(median, unit),
      `${formatValue(Math.min(...rounds), unit)} to ${formatValue(Math.max(...rounds), unit)}`,
    ]),
  )

/** Lateness of the generator, CPU by thread and throughput at a fixed rate; only the result file has them. */
const NOT_SHOWN = /generator_p99$|cpu_(?:main|index)$|(?:open|half)\.throughput$/

const medianTable = (measurements: readonly Measurement[]): string =>
  table(
    ['Measurement', 'Median'],
    measurements
      .filter((measurement) => !NOT_SHOWN.test(measurement.name) && !isOutcome(measurement))
      .map(({ label, median, unit }) => [label, formatValue(median, unit)]),
  )

/** Whether docs/images has a drawing of this name. */
export type HasDrawing = (name: string) => boolean

const drawing = (name: string, words: string, hasDrawing: HasDrawing): string[] =>
  hasDrawing(name) ? ['', `![${words}](images/bench-${name}.svg)`] : []

const goalTable = ({ goals }: BenchResult): string[] => {
  const rows = goals.map(({ label, value, unit, bound, limit, reached }) => [
    label,
    formatValue(value, unit),
    `${bound} ${formatValue(limit, unit)}`,
    reached ? 'yes' : 'no',
  ])
  return rows.length === 0
    ? []
    : ['', 'Goals of the project:', '', table(['Goal', 'Measured', 'Limit', 'Reached'], rows)]
}

const sweepTable = ({ measurements }: BenchResult, hasDrawing: HasDrawing): string[] => {
  const points = sweepPoints(measurements)
  const sentence = describeRecommendation(points)
  if (sentence === null) return []
  const rows = points.map(({ processes, workers, throughput, cpu, p99 }) => [
    String(processes),
    String(workers),
    formatValue(throughput, '/s'),
    Number.isNaN(cpu) ? '' : formatValue(cpu, 'µs'),
    formatValue(p99, 'ms'),
  ])
  const head = ['Processes', 'Workers per process', 'Throughput', 'CPU per attestation', 'p99']
  const image = drawing('sweep', 'Attestations by workers and processes', hasDrawing)
  const capacity = capacityRows(loadPoints(measurements))
  const words =
    'Nodes like this machine, plus one spare. Each row uses the setting that held the highest rate with this p99.'
  const lines = ['', 'Workers and processes, closed loop:', '', table(head, rows), '', sentence, ...image]
  if (capacity.length > 0) lines.push('', '### Capacity', '', words, '', table(CAPACITY_HEAD, capacity))
  return lines
}

const peerTable = ({ measurements }: BenchResult, hasDrawing: HasDrawing): string[] => {
  const peers = peerRows(measurements)
  if (peers.length === 0) return []
  const rows = peers.map(({ label, throughput, relative, cpu, p99 }) => [
    label,
    formatValue(throughput, '/s'),
    formatValue(relative, 'ratio'),
    Number.isNaN(cpu) ? '' : formatValue(cpu, 'µs'),
    Number.isNaN(p99) ? '' : formatValue(p99, 'ms'),
  ])
  const rules = measurements.filter(({ name }) => name.startsWith('peers.rules.'))
  const head = ['Server', 'Requests', 'Relative to Countersign', 'CPU per request', 'p99']
  const lines = ['', '### Peers', '', 'In alternating rounds, closed loop:', '', table(head, rows)]
  lines.push(...drawing('peers', 'Requests per second of Countersign and its peers', hasDrawing))
  const ruleRows = rules.map(({ label, median }) => [label, formatValue(median, 'µs')])
  if (rules.length > 0)
    lines.push('', 'Rules alone, in one thread:', '', table(['Engine', 'CPU per evaluation'], ruleRows))
  lines.push('', 'Set-up and limits:', '', ...PEER_NOTES.map((note) => `- ${note}`))
  return lines
}

const shareTable = ({ measurements }: BenchResult): string[] => {
  const rows = stageShares(measurements).map(({ label, microseconds, share }) => [
    label,
    formatValue(microseconds, 'µs'),
    `${Math.round(share * 100)}%`,
  ])
  return rows.length === 0 ? [] : ['', 'CPU of one attestation:', '', table(['Work', 'CPU', 'Share'], rows)]
}

export interface Quoting {
  /** Quotes a result with findings, and shows the findings below the numbers, instead of refusing it. */
  readonly withFindings?: boolean
}

/** @throws ResultInvalidError for a result that must not be quoted */
const checkQuotable = ({ findings, settings, commit }: BenchResult, { withFindings = false }: Quoting): void => {
  if (findings.length > 0 && !withFindings) throw new ResultInvalidError(`it has findings: ${findings[0]}`)
  if (settings['interrupted'] === true) throw new ResultInvalidError('its run was interrupted')
  if (settings['quick'] === true) throw new ResultInvalidError('it is of a quick run')
  if (commit?.modified === true) throw new ResultInvalidError('the working tree was modified')
}

/**
 * Merges the results of several runs that measured different parts.
 * @throws ResultInvalidError when they are not of one machine, runtime and commit, or measured the same thing.
 */
export const mergeResults = (results: readonly BenchResult[], quoting: Quoting = {}): BenchResult => {
  const [first, ...others] = results
  if (first === undefined) throw new ResultInvalidError('there is no result')
  for (const result of results) checkQuotable(result, quoting)
  const placeOf = ({ machine, runtime, commit }: BenchResult): string =>
    JSON.stringify([machine.cpu, machine.cores, runtime.version, commit?.id ?? null])
  if (others.some((other) => placeOf(other) !== placeOf(first))) {
    throw new ResultInvalidError('the results are of different machines, runtimes or commits')
  }
  const measurements = results.flatMap((result) => result.measurements)
  const names = measurements.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new ResultInvalidError(`${twice} is in two of the results`)
  return {
    ...first,
    measurements,
    goals: results.flatMap(({ goals }) => goals),
    findings: results.flatMap(({ findings }) => findings),
  }
}

const findingList = ({ findings }: BenchResult): string[] =>
  findings.length === 0 ? [] : ['', 'Findings of the bench:', '', ...findings.map((text) => `- ${text}`)]

const tableOf = ({ measurements }: BenchResult, part: string): string[] => {
  const own = measurements.filter(({ name }) => name.split('.')[0] === part)
  return own.length === 0 ? [] : [part === 'summary' ? ratioTable(own) : medianTable(own)]
}

const details = (lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', '<details><summary>More numbers</summary>', ...lines, '', '</details>']

/** One sentence: when, on which machine, and with which runtime and commit. */
const describePlace = ({ startedAt, machine, runtime, commit, settings }: BenchResult): string => {
  const system = `${machine.cpu}, ${machine.cores} cores, ${machine.system} ${machine.architecture}`
  const of = commit === null ? '' : `, commit ${commit.id.slice(0, 12)}`
  return (
    `on ${startedAt.slice(0, 10)}: ${system}, Bun ${runtime.version}${of}, load generator on the same cores, ` +
    `${settings['connections']} connections, signing by ${settings['signer']}.`
  )
}

const SPEED = marks('speed')
const LONG_RUN = marks('long run')

/** The section's Markdown, markers included. @throws ResultInvalidError for a result that must not be quoted */
const speedSection: Section['make'] = (result, hasDrawing = () => false, quoting = {}) => {
  checkQuotable(result, quoting)
  const summary = tableOf(result, 'summary').flatMap((rows) => ['', 'Ratios of one run, round by round:', '', rows])
  return [
    SPEED.begin,
    `Measured by \`bun run bench\` ${describePlace(result)}`,
    ...summary,
    ...goalTable(result),
    ...peerTable(result, hasDrawing),
    ...sweepTable(result, hasDrawing),
    ...details([
      ...PARTS.flatMap(({ part, words }) => tableOf(result, part).flatMap((rows) => ['', words, '', rows])),
      ...shareTable(result),
      ...findingList(result),
    ]),
    SPEED.end,
  ].join('\n')
}

const longRunSection: Section['make'] = (result, hasDrawing = () => false, quoting = {}) => {
  checkQuotable(result, quoting)
  const minutes = Number(result.settings['minutes'])
  return [
    LONG_RUN.begin,
    `${minutes} minutes at a steady rate, measured by \`bun run bench --only soak\` ${describePlace(result)}`,
    ...goalTable(result),
    ...drawing('soak', 'Memory and latency over time', hasDrawing),
    ...details([...tableOf(result, 'soak').flatMap((rows) => ['', rows]), ...findingList(result)]),
    LONG_RUN.end,
  ].join('\n')
}

export const SECTIONS = {
  speed: { ...SPEED, holds: (named) => !isOfSoak(named), make: speedSection },
  longRun: { ...LONG_RUN, holds: isOfSoak, make: longRunSection },
} as const satisfies Record<string, Section>

/** The results that have measurements for a section. */
export const resultsFor = ({ holds }: Section, results: readonly BenchResult[]): BenchResult[] =>
  results
    .map((result) => ({
      ...result,
      measurements: result.measurements.filter(holds),
      goals: result.goals.filter(holds),
    }))
    .filter(({ measurements }) => measurements.length > 0)

/**
 * The page with one section replaced.
 * @throws ResultInvalidError when it has no such section, or more than one.
 */
export const withSection = (page: string, { begin, end }: Pick<Section, 'begin' | 'end'>, text: string): string => {
  const [before, rest, more] = page.split(begin)
  const endsAt = rest?.indexOf(end) ?? -1
  if (before === undefined || rest === undefined || more !== undefined || endsAt === -1) {
    throw new ResultInvalidError(`the page needs one section between ${begin} and ${end}`)
  }
  return before + text + rest.slice(endsAt + end.length)
}

if (import.meta.main) {
  const words = process.argv.slice(2)
  const paths = words.filter((word) => word !== '--with-findings')
  const quoting: Quoting = { withFindings: paths.length < words.length }
  if (paths.length === 0 || paths.some((path) => path.startsWith('--'))) {
    console.error(
      'bun bench/speed-page.ts [--with-findings] result.json [more.json …], made by: bun run bench --json > result.json',
    )
    process.exit(2)
  }
  const root = join(import.meta.dir, '..')
  const path = join(root, 'docs', 'speed.md')
  const hasDrawing: HasDrawing = (name) => existsSync(join(root, 'docs', 'images', `bench-${name}.svg`))
  try {
    const results = paths.map((each) => parseResult(readFileSync(each, 'utf8')))
    let page = readFileSync(path, 'utf8')
    for (const section of Object.values(SECTIONS)) {
      const own = resultsFor(section, results)
      if (own.length === 0) continue
      page = withSection(page, section, section.make(mergeResults(own, quoting), hasDrawing, quoting))
    }
    writeFileSync(path, page)
  } catch (error) {
    if (!(error instanceof ResultInvalidError)) throw error
    console.error(`${paths.join(', ')}: ${error.message}`)
    process.exit(1)
  }
}

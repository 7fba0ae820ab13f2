// Writes measured results into docs/speed.md: bun bench/speed-page.ts result.json [more.json …]
// Refuses results of quick runs, and results with findings unless --with-findings quotes the findings too. The page has
// two sections, speed and the long run (an hour, often on another day). Each describes its machine and time. A section
// without new results stays unchanged.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { answerHelp } from '../test/support/head-help.ts'
import { type BenchResult, parseResult, ResultInvalidError } from './result.ts'
import { drawing, goalTable, type HasDrawing, peerTable, sweepTable } from './speed-tables.ts'

answerHelp(import.meta)

export interface Section {
  readonly begin: string
  readonly end: string
  /** Returns whether a measurement or a goal belongs to this section. */
  readonly holds: (named: { readonly name: string }) => boolean
  readonly make: (result: BenchResult, hasDrawing?: HasDrawing, quoting?: Quoting) => string
}

const isOfSoak = ({ name }: { readonly name: string }): boolean => name.startsWith('soak.')

const marks = (name: string) => ({ begin: `<!-- ${name}: made by bench/speed-page.ts -->`, end: `<!-- /${name} -->` })

export interface Quoting {
  /** Accepts a result with findings, and shows the findings below the numbers. */
  readonly withFindings?: boolean
}

/** @throws ResultInvalidError if the result must not be quoted */
const checkQuotable = ({ findings, settings, commit }: BenchResult, { withFindings = false }: Quoting): void => {
  if (findings.length > 0 && !withFindings) throw new ResultInvalidError(`it has findings: ${findings[0]}`)
  if (settings['interrupted'] === true) throw new ResultInvalidError('its run was interrupted')
  if (settings['quick'] === true) throw new ResultInvalidError('it is of a quick run')
  if (commit?.modified === true) throw new ResultInvalidError('the working tree was modified')
}

/**
 * Merges the results of runs that measured different parts.
 * @throws ResultInvalidError if they differ in machine, runtime or commit, or measured the same part
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

/** Describes the time, the machine, the runtime and the commit in one sentence. */
const describePlace = ({ startedAt, machine, runtime, commit, settings }: BenchResult): string => {
  const system = `${machine.cpu}, ${machine.cores} cores, ${machine.system} ${machine.architecture}`
  const of = commit === null ? '' : `, commit ${commit.id.slice(0, 12)}`
  return (
    `on ${startedAt.slice(0, 10)}: ${system}, Bun ${runtime.version}${of}, load generator on the same cores, load average ` +
    `of other programs ${machine.loadAverage}, ` +
    `${settings['connections']} connections, signing by ${settings['signer']}.`
  )
}

const SPEED = marks('speed')
const LONG_RUN = marks('long run')

/** Returns the section's Markdown with its markers. @throws ResultInvalidError if the result must not be quoted */
const speedSection: Section['make'] = (result, hasDrawing = () => false, quoting = {}) => {
  checkQuotable(result, quoting)
  return [
    SPEED.begin,
    `Measured by \`bun run bench\` ${describePlace(result)}`,
    ...goalTable(result),
    ...peerTable(result, hasDrawing),
    ...sweepTable(result, hasDrawing),
    ...findingList(result),
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
    ...findingList(result),
    LONG_RUN.end,
  ].join('\n')
}

export const SECTIONS = {
  speed: { ...SPEED, holds: (named) => !isOfSoak(named), make: speedSection },
  longRun: { ...LONG_RUN, holds: isOfSoak, make: longRunSection },
} as const satisfies Record<string, Section>

/** Returns the results with measurements for a section. */
export const resultsFor = ({ holds }: Section, results: readonly BenchResult[]): BenchResult[] =>
  results
    .map((result) => ({
      ...result,
      measurements: result.measurements.filter(holds),
      goals: result.goals.filter(holds),
    }))
    .filter(({ measurements }) => measurements.length > 0)

/** Replaces one section of the page. @throws ResultInvalidError unless the page has exactly one such section */
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

// Prints a result into the README, so that no number there was typed by hand: bun bench/readme.ts result.json
// A result to quote has no findings and was no quick one; the section says where, on what and when it was measured.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatValue } from './report.ts'
import { type BenchResult, type Measurement, parseResult, ResultInvalidError } from './result.ts'
import { stageShares } from './stage-shares.ts'

export const SECTION_BEGIN = '<!-- speed: made by bench/readme.ts -->'
export const SECTION_END = '<!-- /speed -->'

/** Parts of a result that the README shows, in this order, with what precedes their table. */
const PARTS: readonly { readonly part: string; readonly words: string }[] = [
  { part: 'summary', words: 'In short, round by round against the floor and the naive way of the same run:' },
  {
    part: 'service',
    words: 'The service as a user runs it, with its key check, a policy of six rules and its decision record:',
  },
  { part: 'naive', words: 'The naive way, Elysia with viem signing in the handler:' },
  { part: 'floor', words: 'The floor, what no attestation over HTTP can do without:' },
  { part: 'identity', words: 'Identity, with its sessions, streams and wallets:' },
  { part: 'scale', words: 'A deployment with 10,000 policies, 100,000 keys and a list of a million:' },
]

/** A cell never ends its row. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const align = head.map((_, column) => (column === 0 ? '---' : '--:'))
  return [head, align, ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n')
}

const measurementTable = (measurements: readonly Measurement[]): string =>
  table(
    ['', 'median', 'rounds'],
    measurements.map(({ label, median, rounds, unit }) => [
      label,
      formatValue(median, unit),
      `${formatValue(Math.min(...rounds), unit)} to ${formatValue(Math.max(...rounds), unit)}`,
    ]),
  )

/**
 * The section's Markdown, markers included.
 * @throws ResultInvalidError for a result that is not fit to be quoted.
 */
export const speedSection = (result: BenchResult): string => {
  const { machine, runtime, commit, settings, measurements, goals, findings } = result
  if (findings.length > 0) throw new ResultInvalidError(`it has findings: ${findings[0]}`)
  if (settings['quick'] === true) throw new ResultInvalidError('it is of a quick run')
  if (commit?.modified === true) throw new ResultInvalidError('the working tree was modified')
  const system = `${machine.cpu}, ${machine.cores} cores, ${machine.system} ${machine.architecture}`
  const of = commit === null ? '' : `, commit ${commit.id.slice(0, 12)}`
  const lines = [
    SECTION_BEGIN,
    `Measured by \`bun run bench\` on ${result.startedAt.slice(0, 10)}: ${system}, Bun ${runtime.version}${of}, load generator ` +
      `on the same cores, ${settings['connections']} connections, signing by ${settings['signer']}. ` +
      'Another machine has other numbers: run it on yours.',
  ]
  for (const { part, words } of PARTS) {
    const own = measurements.filter(({ name }) => name.split('.')[0] === part)
    if (own.length > 0) lines.push('', words, '', measurementTable(own))
  }
  const shares = stageShares(measurements).map(({ label, microseconds, share }) => [
    label,
    formatValue(microseconds, 'µs'),
    `${Math.round(share * 100)}%`,
  ])
  if (shares.length > 0) {
    lines.push('', 'Where the CPU of one attestation goes:', '', table(['', 'CPU', 'share'], shares))
  }
  if (goals.length > 0) {
    const rows = goals.map(({ label, value, unit, bound, limit, reached }) => [
      label,
      formatValue(value, unit),
      `${bound} ${formatValue(limit, unit)}`,
      reached ? 'yes' : 'no',
    ])
    lines.push('', 'Goals of the project:', '', table(['', 'measured', 'goal', 'reached'], rows))
  }
  return [...lines, SECTION_END].join('\n')
}

/**
 * The README with its speed section replaced.
 * @throws ResultInvalidError when it has no such section, or more than one.
 */
export const withSpeedSection = (readme: string, section: string): string => {
  const [before, rest, more] = readme.split(SECTION_BEGIN)
  const end = rest?.indexOf(SECTION_END) ?? -1
  if (before === undefined || rest === undefined || more !== undefined || end === -1) {
    throw new ResultInvalidError(`the README needs one section between ${SECTION_BEGIN} and ${SECTION_END}`)
  }
  return before + section + rest.slice(end + SECTION_END.length)
}

if (import.meta.main) {
  const [path] = process.argv.slice(2)
  if (path === undefined) {
    console.error('bun bench/readme.ts result.json, made by: bun run bench --json > result.json')
    process.exit(2)
  }
  const readme = join(import.meta.dir, '..', 'README.md')
  try {
    const section = speedSection(parseResult(readFileSync(path, 'utf8')))
    writeFileSync(readme, withSpeedSection(readFileSync(readme, 'utf8'), section))
  } catch (error) {
    if (!(error instanceof ResultInvalidError)) throw error
    console.error(`${path}: ${error.message}`)
    process.exit(1)
  }
}

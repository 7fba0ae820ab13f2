// `bun run test:mutate`: inserts random faults into a copy of the source, one at a time, and reports those that no test
// detects.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { copyTree, type TreeCopy } from '../support/tree-copy.ts'
import { coverTest, listTests, type TestCoverage } from './coverage.ts'
import type { Mutant } from './mutants.ts'
import { reportOf, tableOf } from './report.ts'
import { endRuns } from './run-tests.ts'
import { allMutants, areaOf, drawSample } from './sample.ts'
import { type Trial, tryMutant } from './trial.ts'

const ROOT = join(import.meta.dir, '..', '..')

const HELP = `Usage: bun run test:mutate [options]

Draws mutants of src and workers at random, puts one after another into a copy of the tree in the temporary folder, and
runs the tests that cover the changed line. Exits with 1 if fewer than 90% are noticed, or 97% in guarded areas.
The first run records which lines each test covers, which takes about 15 minutes on two cores.

  --sample <n>       number of mutants (default 300)
  --seed <n>         seed of the sample (default 1)
  --area <name>      draw from this area only
  --only <text>      draw from files whose path contains the text; may be repeated
  --jobs <n>         trials that run at once (default 2)
  --coverage <file>  where to keep the coverage (default: in the temporary folder)
  --cover            record the coverage again, even if the file exists
  --list             print the sample without trying it
  --json             print the results as JSON instead of a table
  --help             print this help
`

class UsageError extends Error {}

const readOptions = () => {
  try {
    const { values } = parseArgs({
      options: {
        sample: { type: 'string', default: '300' },
        seed: { type: 'string', default: '1' },
        area: { type: 'string' },
        only: { type: 'string', multiple: true, default: [] },
        jobs: { type: 'string', default: '2' },
        coverage: { type: 'string', default: join(tmpdir(), 'countersign-coverage.json') },
        cover: { type: 'boolean', default: false },
        list: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
    for (const name of ['sample', 'seed', 'jobs'] as const) {
      if (!/^[1-9]\d{0,8}$/.test(values[name])) throw new UsageError(`--${name} must be a positive whole number`)
    }
    return { ...values, sample: Number(values.sample), seed: Number(values.seed), jobs: Number(values.jobs) }
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'could not read the options')
  }
}

/** Runs `work` for each item, `jobs` at a time, each job in a copy of the tree. */
const inCopies = async <Item>(
  items: readonly Item[],
  jobs: number,
  work: (item: Item, copy: TreeCopy) => Promise<void>,
): Promise<void> => {
  const waiting = [...items]
  const copies: TreeCopy[] = []
  const stop = (): never => {
    endRuns()
    for (const copy of copies) copy.remove()
    process.exit(130)
  }
  process.on('SIGINT', stop).on('SIGTERM', stop)
  try {
    await Promise.all(
      Array.from({ length: Math.min(jobs, items.length) }, async () => {
        const copy = copyTree()
        copies.push(copy)
        for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item, copy)
      }),
    )
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop)
    for (const copy of copies) copy.remove()
  }
}

const progress = (done: number, total: number, text: string): void =>
  void process.stderr.write(`[${String(done).padStart(String(total).length)}/${total}] ${text}\n`)

const recordCoverage = async (path: string, jobs: number): Promise<readonly TestCoverage[]> => {
  const tests = listTests(ROOT)
  const covered: TestCoverage[] = []
  let done = 0
  await inCopies(tests, jobs, async (test, copy) => {
    const coverage = await coverTest(copy.path, copy.temporary, test)
    if (coverage !== null) covered.push(coverage)
    done += 1
    progress(done, tests.length, coverage === null ? `skipped, because it fails without a change: ${test}` : test)
  })
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, JSON.stringify(covered))
  return covered
}

const readCoverage = (path: string): readonly TestCoverage[] | null => {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as readonly TestCoverage[]
  } catch {
    // Not recorded yet, or interrupted while it was written.
    return null
  }
}

const describe = ({ file, line, rule, replacement }: Mutant): string =>
  `${file}:${line} ${rule}: ${replacement.replaceAll(/\s+/g, ' ').slice(0, 80)}`

const main = async (): Promise<number> => {
  const { sample, seed, area, only, jobs, coverage: path, cover, list, json, help } = readOptions()
  if (help) {
    process.stdout.write(HELP)
    return 0
  }
  const mutants = allMutants(ROOT)
    .filter(({ file }) => area === undefined || areaOf(file) === area)
    .filter(({ file }) => only.length === 0 || only.some((text) => file.includes(text)))
  if (mutants.length === 0) throw new UsageError('no mutants match the options')
  const drawn = drawSample(mutants, sample, seed)
  if (list) {
    process.stdout.write(`${drawn.map(describe).join('\n')}\n`)
    return 0
  }
  const coverage = (cover ? null : readCoverage(path)) ?? (await recordCoverage(path, jobs))
  const trials: Trial[] = []
  await inCopies(drawn, jobs, async (mutant, copy) => {
    const trial = await tryMutant(copy, coverage, mutant)
    trials.push(trial)
    const by = trial.by === null ? '' : ` (${trial.by})`
    progress(
      trials.length,
      drawn.length,
      `${trial.result} after ${trial.seconds.toFixed(1)} s: ${describe(mutant)}${by}`,
    )
  })
  const report = reportOf(trials)
  if (json) process.stdout.write(`${JSON.stringify({ seed, sample, ...report, trials }, null, 2)}\n`)
  else {
    const survivors = trials.filter(({ result }) => result === 'survived' || result === 'no test')
    for (const { mutant, result } of survivors) process.stdout.write(`${result}: ${describe(mutant)}\n`)
    process.stdout.write(`\nSeed ${seed}\n\n${tableOf(report)}`)
  }
  return report.isGoalMet ? 0 : 1
}

try {
  process.exitCode = await main()
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message}\n\n${HELP}`)
  process.exitCode = 2
}

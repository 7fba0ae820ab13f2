// `bun run test:mutate`: puts small faults into a copy of the source, one at a time, and says which of them no test
// notices. Not part of the suite: the whole list takes an hour.
import { parseArgs } from 'node:util'
import { copyTree, type TreeCopy } from './copy.ts'
import { PLACES } from './list.ts'
import { AREAS, type Area, type Place } from './place.ts'
import { reportOf, type Tried, tableOf } from './report.ts'
import { createTrials, endRuns } from './trial.ts'

const HELP = `Usage: bun run test:mutate [options]

Changes the source at one place after another, in a copy of the tree in the temporary folder, and runs the tests that
must notice. Ends with 1 when fewer than 95% are noticed, or one survives in a guarded area.

  --area <name>   only this area; may be repeated: ${AREAS.join(', ')}
  --only <text>   only places whose file or description holds the text; may be repeated
  --jobs <n>      copies that work at once (default 1)
  --list          prints the places and tries none
  --json          prints the results as JSON instead of a table
  --help          prints this
`

class UsageError extends Error {}

const readOptions = () => {
  try {
    return parseArgs({
      options: {
        area: { type: 'string', multiple: true, default: [] },
        only: { type: 'string', multiple: true, default: [] },
        jobs: { type: 'string', default: '1' },
        list: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'the options can not be read')
  }
}

interface Chosen {
  readonly area: Area
  readonly place: Place
}

const choose = (areas: readonly string[], texts: readonly string[]): readonly Chosen[] => {
  const unknown = areas.find((area) => !AREAS.some((known) => known === area))
  if (unknown !== undefined) throw new UsageError(`there is no area ${unknown}; there are ${AREAS.join(', ')}`)
  const chosen = AREAS.filter((area) => areas.length === 0 || areas.includes(area))
    .flatMap((area) => PLACES[area].map((place) => ({ area, place })))
    .filter(
      ({ place }) => texts.length === 0 || texts.some((text) => place.file.includes(text) || place.what.includes(text)),
    )
  if (chosen.length === 0) throw new UsageError('no place of the list is chosen by that')
  return chosen
}

const readJobs = (text: string): number => {
  if (!/^[1-9]\d?$/.test(text)) throw new UsageError('--jobs must be a number from 1 to 99')
  return Number(text)
}

const tryAll = async (chosen: readonly Chosen[], jobs: number): Promise<readonly Tried[]> => {
  const waiting = [...chosen]
  const tried: Tried[] = []
  const copies: TreeCopy[] = []
  const stop = (): never => {
    endRuns()
    for (const copy of copies) copy.remove()
    process.exit(130)
  }
  process.on('SIGINT', stop).on('SIGTERM', stop)
  const work = async (): Promise<void> => {
    const copy = copyTree()
    copies.push(copy)
    const attempt = createTrials(copy)
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const outcome = await attempt(next.place)
      tried.push({ ...next, ...outcome })
      const { result, by, seconds } = outcome
      const { file, what } = next.place
      const count = `[${String(tried.length).padStart(3)}/${chosen.length}]`
      const noticed = by === null ? '' : `\n            by: ${by}`
      process.stderr.write(`${count} ${result} after ${seconds.toFixed(1)} s: ${file}: ${what}${noticed}\n`)
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(jobs, chosen.length) }, work))
  } finally {
    for (const copy of copies) copy.remove()
  }
  return tried
}

const main = async (): Promise<number> => {
  const { area, only, jobs, list, json, help } = readOptions()
  if (help) {
    process.stdout.write(HELP)
    return 0
  }
  const chosen = choose(area, only)
  if (list) {
    for (const { area, place } of chosen) process.stdout.write(`${area}  ${place.file}: ${place.what}\n`)
    process.stdout.write(`${chosen.length} places\n`)
    return 0
  }
  const tried = await tryAll(chosen, readJobs(jobs))
  const report = reportOf(tried)
  if (json) {
    const places = tried.map(({ place, ...outcome }) => ({ ...outcome, file: place.file, what: place.what }))
    process.stdout.write(`${JSON.stringify({ ...report, places }, null, 2)}\n`)
    return report.met ? 0 : 1
  }
  const unkilled = tried.filter(({ result }) => result !== 'killed' && result !== 'timed out')
  for (const { area, place, result } of unkilled) {
    process.stdout.write(`${result}: ${area}, ${place.file}: ${place.what}\n`)
  }
  process.stdout.write(`${unkilled.length > 0 ? '\n' : ''}${tableOf(report)}`)
  return report.met ? 0 : 1
}

try {
  process.exitCode = await main()
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message}\n\n${HELP}`)
  process.exitCode = 2
}

// Compares two results: bun bench/compare.ts before.json after.json
// A difference counts only if the rounds of the two runs don't overlap and the medians differ by more than a few
// percent. Everything else is noise.

import { answerHelp } from '../test/support/head-help.ts'
import { formatTable, formatValue } from './report.ts'
import { type BenchResult, type Measurement, parseResult, ResultInvalidError } from './result.ts'

answerHelp(import.meta)

export type Change = 'better' | 'worse' | 'same' | 'unclear'

export interface Comparison {
  readonly name: string
  readonly label: string
  readonly before: Measurement
  readonly after: Measurement
  /** after / before. */
  readonly ratio: number
  readonly change: Change
}

/** Smaller differences count as equal, even on a quiet machine. */
const SMALLEST_CHANGE = 0.03
/** Two runs of five equal rounds fail to overlap by chance once in 126 times; of three rounds, once in ten. */
const FEWEST_ROUNDS = 5
/** Measurements that contain no service code. If they differ, the machines differed. */
const MACHINE_PROBES = ['floor.echo.closed.cpu', 'floor.keccak'] as const
const MACHINE_DRIFT = 0.05

export const judgeChange = (before: Measurement, after: Measurement): Change => {
  if (Math.min(before.rounds.length, after.rounds.length) < FEWEST_ROUNDS) return 'unclear'
  const isLower = Math.max(...after.rounds) < Math.min(...before.rounds)
  const isHigher = Math.min(...after.rounds) > Math.max(...before.rounds)
  const differs = Math.abs(after.median - before.median) > SMALLEST_CHANGE * Math.abs(before.median)
  if (!differs || (!isLower && !isHigher)) return 'same'
  return isLower === (before.better === 'lower') ? 'better' : 'worse'
}

/** Measurements that both results have, in the order of the first. */
export const compareResults = (before: BenchResult, after: BenchResult): Comparison[] =>
  before.measurements.flatMap((measurement) => {
    const other = after.measurements.find(({ name }) => name === measurement.name)
    if (other === undefined) return []
    return [
      {
        name: measurement.name,
        label: measurement.label,
        before: measurement,
        after: other,
        ratio: measurement.median === 0 ? Number.NaN : other.median / measurement.median,
        change: judgeChange(measurement, other),
      },
    ]
  })

/** Reasons to doubt a comparison, for people. */
export const comparisonWarnings = (before: BenchResult, after: BenchResult): string[] => {
  const warnings: string[] = []
  if (before.machine.cpu !== after.machine.cpu || before.machine.cores !== after.machine.cores) {
    warnings.push('The machines differ: only the ratios in the summary can be compared.')
  }
  if (before.runtime.version !== after.runtime.version) warnings.push('The runtimes differ.')
  if (JSON.stringify(before.settings) !== JSON.stringify(after.settings)) warnings.push('The settings differ.')
  for (const { name, ratio } of compareResults(before, after)) {
    const isProbe = MACHINE_PROBES.some((probe) => probe === name)
    if (isProbe && Math.abs(ratio - 1) > MACHINE_DRIFT) {
      warnings.push(`${name}, which no change here can touch, moved by ${ratio.toFixed(2)}×: the machine did.`)
    }
  }
  return warnings
}

const readResult = async (path: string): Promise<BenchResult> => parseResult(await Bun.file(path).text())

const main = async (paths: readonly string[]): Promise<number> => {
  const [beforePath, afterPath] = paths
  if (beforePath === undefined || afterPath === undefined) {
    console.error('bun bench/compare.ts before.json after.json')
    return 2
  }
  try {
    const [before, after] = await Promise.all([readResult(beforePath), readResult(afterPath)])
    const rows = compareResults(before, after).map(({ name, before: was, after: is, ratio, change }) => [
      name,
      formatValue(was.median, was.unit),
      formatValue(is.median, is.unit),
      Number.isNaN(ratio) ? '' : `${ratio.toFixed(2)}×`,
      change,
    ])
    for (const warning of comparisonWarnings(before, after)) console.log(warning)
    console.log(formatTable([['', 'before', 'after', 'ratio', ''], ...rows]))
    return 0
  } catch (cause) {
    console.error(`bench/compare: ${cause instanceof ResultInvalidError ? cause.message : `can't read the results`}`)
    return 1
  }
}

if (import.meta.main) process.exit(await main(process.argv.slice(2)))

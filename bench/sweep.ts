// The result of a sweep: a table, and the recommended setting. The settings are read from the measurements' names, so
// that a stored result gives the same recommendation as the run.
import type { Measurement } from './result.ts'

export interface SweepSetting {
  readonly processes: number
  /** Workers per process; with 0, the main thread signs. */
  readonly workers: number
}

export interface SweepPoint extends SweepSetting {
  /** Medians: attestations per second, microseconds of CPU per attestation, milliseconds. */
  readonly throughput: number
  readonly cpu: number
  readonly p99: number
}

/** Settings with smaller differences count as equal. */
const SAME = 0.03
const COUNTS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64]
/** Maximum signing threads per core. */
const WORKERS_PER_CORE = 2

/** Returns the settings to try on this number of cores. Numbers from the command line are always tried. */
export const sweepSettings = (
  cores: number,
  given: { readonly workers: readonly number[] | null; readonly processes: readonly number[] | null },
): SweepSetting[] => {
  const processes = given.processes ?? COUNTS.filter((count) => count <= cores)
  const workers = given.workers ?? [0, ...COUNTS.filter((count) => count <= cores * WORKERS_PER_CORE)]
  return processes.flatMap((processCount) =>
    workers
      .filter((workerCount) => given.workers !== null || processCount * workerCount <= cores * WORKERS_PER_CORE)
      .map((workerCount) => ({ processes: processCount, workers: workerCount })),
  )
}

export const sweepName = ({ processes, workers }: SweepSetting): string => `sweep.p${processes}w${workers}`

export const sweepPoints = (measurements: readonly Measurement[]): SweepPoint[] =>
  measurements.flatMap(({ name, median }) => {
    const match = /^sweep\.p(\d+)w(\d+)\.closed\.throughput$/.exec(name)
    if (match === null) return []
    const setting = { processes: Number(match[1]), workers: Number(match[2]) }
    const value = (what: string): number =>
      measurements.find((other) => other.name === `${sweepName(setting)}.closed.${what}`)?.median ?? Number.NaN
    return [{ ...setting, throughput: median, cpu: value('cpu'), p99: value('p99') }]
  })

export const describeSetting = ({ processes, workers }: SweepSetting): string =>
  `--processes ${processes} --workers ${workers}`
const perSecond = (value: number): string => `${Math.round(value).toLocaleString('en-US')}/s`

/** Orders by CPU time, then by the number of processes, then by the number of workers. */
const byCost = (one: SweepPoint, other: SweepPoint): number =>
  Math.abs(one.cpu - other.cpu) > SAME * Math.min(one.cpu, other.cpu)
    ? one.cpu - other.cpu
    : one.processes - other.processes || one.workers - other.workers

/** Returns the recommended setting; null without a sweep. */
export const recommendedSetting = (points: readonly SweepPoint[]): SweepPoint | null => {
  const best = points.reduce<SweepPoint | null>(
    (top, point) => (top === null || point.throughput > top.throughput ? point : top),
    null,
  )
  if (best === null) return null
  const asFast = points.filter(({ throughput }) => throughput >= best.throughput * (1 - SAME))
  const cheapest = Math.min(...asFast.map(({ cpu }) => cpu))
  // Compares each setting with the cheapest: "about equal" is not transitive, so it can't be used to sort.
  const asCheap = Number.isNaN(cheapest) ? asFast : asFast.filter(({ cpu }) => cpu <= cheapest * (1 + SAME))
  return asCheap.toSorted(byCost)[0] ?? best
}

/** Describes the recommended setting and the reason in one sentence. */
export const describeRecommendation = (points: readonly SweepPoint[]): string | null => {
  const chosen = recommendedSetting(points)
  if (chosen === null) return null
  const best = points.reduce((top, point) => (point.throughput > top.throughput ? point : top))
  const cost = Number.isNaN(chosen.cpu) ? '' : ` at ${chosen.cpu.toFixed(1)} µs of CPU each`
  const reason =
    best === chosen
      ? 'the highest measured throughput'
      : `within ${SAME * 100}% of the highest measured throughput (${perSecond(best.throughput)} with ${describeSetting(best)}), for less CPU or fewer threads`
  return `Recommended on this machine: ${describeSetting(chosen)}, with ${perSecond(chosen.throughput)}${cost}, ${reason}.`
}

// Runs the service for an hour or a given time, at 70% of its capacity or at a given rate, and measures whether memory
// grows, requests fail or answers become slower. The open loop runs for a minute at a time, so that each minute has its
// own latency. Memory is read every few seconds.
import { readdirSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Chart } from '../draw/line-chart.ts'
import { writeDrawing } from '../draw/write-drawing.ts'
import type { LoadReport, LoadShape } from '../load/plan.ts'
import { treeResidentMegabytes } from '../process-memory.ts'
import type { Unit } from '../result.ts'
import type { RunningService } from '../scale/running-service.ts'
import { fitSlope } from '../slope.ts'
import { median } from '../stages/harness.ts'
import { watchStolenTime } from '../stolen-time.ts'
import type { BenchContext } from './context.ts'
import { findingsOf, type LoadTarget, loadPlan } from './measure-load.ts'
import { startPolicyService, targetOf } from './policy-service.ts'

const SHARE = 0.7
/** More than half a minute, because the rate of the whole hour depends on it. */
const CAPACITY_WINDOWS = 8
const MINUTE_MS = 60_000
const MEMORY_EVERY_MS = 5_000
/**
 * A request still unanswered this long after its minute is an error. The next minute starts after these late answers
 * and then catches up, so that the service gets no pause.
 */
const ANSWER_LIMIT_MS = 60_000
/** First part of the run, in which memory grows because caches fill and code is compiled. */
const SETTLING_PART = 0.2
/** In megabytes per hour. */
const ERROR_LIMIT = 20
/** Disk space that stays free for other data. */
const SPARE_BYTES = 2e9

export interface SoakMinute {
  /** Minutes from the start of the soak to the end of this minute. */
  readonly minute: number
  readonly p50: number
  readonly p99: number
  readonly errors: number
  /** Percentage of CPU time that the host gave to other machines; null if unknown. */
  readonly stolen: number | null
}

/** Minutes since the start, megabytes. */
export type MemorySample = readonly [minutes: number, megabytes: number]

/** Counts other statuses than 200, and requests without an answer. */
export const errorsOf = ({ statuses, failures }: Pick<LoadReport, 'statuses' | 'failures'>): number =>
  Object.entries(statuses).reduce((sum, [status, count]) => sum + (status === '200' ? 0 : count), 0) +
  Object.values(failures).reduce((sum, count) => sum + count, 0)

/** Returns the growth in megabytes per hour after the first part of the run; null with too few samples. */
export const memorySlope = (samples: readonly MemorySample[]) => {
  const last = samples.at(-1)?.[0] ?? 0
  const settled = samples.filter(([minutes]) => minutes >= last * SETTLING_PART)
  return fitSlope(settled.map(([minutes, megabytes]) => [minutes / 60, megabytes] as const))
}

const folderBytes = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce(
      (sum, entry) => sum + (statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0),
      0,
    )

/**
 * Each attestation leaves a decision record, which the bench must not remove.
 * @throws Error if the disk has no room for the records of the soak
 */
export const checkRoom = (bytesEach: number, attestations: number, freeBytes: number): void => {
  const needed = bytesEach * attestations + SPARE_BYTES
  if (needed <= freeBytes) return
  const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(0)} GB`
  throw new Error(
    `the decision records of this soak need ${gigabytes(needed)}, and ${gigabytes(freeBytes)} are free: ` +
      'lower --minutes, or set TMPDIR to a larger disk',
  )
}

const stolenPanel = (minutes: readonly SoakMinute[]): Chart['panels'] => {
  const points = minutes.flatMap(({ minute, stolen }) => (stolen === null ? [] : [[minute, stolen] as const]))
  if (points.length === 0) return []
  return [{ label: 'processor time that the host gave to others, in %', series: [{ name: 'stolen', points }] }]
}

/** Attestations per second: the rate of the run, and the service's capacity at its start. */
export interface SoakRate {
  readonly ratePerSecond: number
  readonly capacity: number
}

/** @param asked attestations per second; null for the default share of the capacity */
export const rateOf = (capacity: number, asked: number | null): SoakRate => ({
  capacity,
  ratePerSecond: asked ?? Math.max(1, Math.round(capacity * SHARE)),
})

const shareOf = ({ ratePerSecond, capacity }: SoakRate): string =>
  `${Math.round((ratePerSecond / capacity) * 100)}% of the capacity measured before`

export const soakChart = (memory: readonly MemorySample[], minutes: readonly SoakMinute[], rate: SoakRate): Chart => ({
  title: 'Memory and latency over time',
  subtitle: `${rate.ratePerSecond.toLocaleString('en-US')}/s, ${shareOf(rate)}.`,
  xLabel: 'minutes',
  wholeX: true,
  panels: [
    {
      label: 'memory in MB (RSS)',
      // The last reading may be milliseconds after the last minute, but must not add a minute to the axis.
      series: [{ name: 'memory', points: memory.map(([x, y]) => [Math.min(x, minutes.at(-1)?.minute ?? x), y]) }],
    },
    {
      label: 'p99 in ms, of each minute',
      series: [{ name: 'p99', points: minutes.map(({ minute, p99 }) => [minute, p99]) }],
    },
    ...stolenPanel(minutes),
  ],
})

/** Measures the capacity in closed loop and chooses the rate. Also checks that the disk has room for the run. */
const chooseRate = async (context: BenchContext, service: RunningService, target: LoadTarget): Promise<SoakRate> => {
  const { client, options, progress } = context
  const { durations, connections } = options
  const closed: LoadShape = { mode: 'closed', connections }
  progress.step('soak warm-up')
  await client.run(loadPlan(target, 'soak warm-up', closed, 0, durations.firstWarmupMs))
  const before = folderBytes(service.dataDirectory)
  const peaks: number[] = []
  let attested = 0
  for (let window = 0; window < CAPACITY_WINDOWS; window++) {
    progress.step(`soak capacity, window ${window + 1} of ${CAPACITY_WINDOWS}`)
    const report = await client.run(loadPlan(target, 'soak capacity', closed, 0, durations.closedMs))
    peaks.push(report.throughputPerSecond)
    attested += report.completed
  }
  const rate = rateOf(median(peaks), options.soakRatePerSecond)
  const bytesEach = (folderBytes(service.dataDirectory) - before) / Math.max(1, attested)
  const { bavail, bsize } = statfsSync(service.dataDirectory)
  checkRoom(bytesEach, rate.ratePerSecond * options.minutes * 60, bavail * bsize)
  return rate
}

/** Adds measurements named `soak.…` and draws bench-soak.svg. */
export const measureSoak = async (context: BenchContext, signer: string): Promise<void> => {
  const { processes, progress, client, collector, options } = context
  const add = (name: string, label: string, unit: Unit, value: number): void =>
    collector.add({ label, unit, name: `soak.${name}`, better: unit === '/s' ? 'higher' : 'lower' }, value)
  progress.step('soak service starts')
  const service = await startPolicyService(processes, { environment: { COUNTERSIGN_SIGNER: signer } })
  const target = targetOf(service, 'soak')
  const rate = await chooseRate(context, service, target)
  const { capacity, ratePerSecond } = rate
  const queueLimit = Math.ceil((ratePerSecond * ANSWER_LIMIT_MS) / 1000)
  const shape: LoadShape = { mode: 'open', connections: options.connections, ratePerSecond, queueLimit }
  // Printed immediately, so that an operator who knows the machine notices a low capacity.
  const [most, part] = [capacity, ratePerSecond].map((value) => Math.round(value).toLocaleString('en-US'))
  progress.note(`soak: ${most}/s is the capacity, ${part}/s the rate`)

  const stolenTime = watchStolenTime()
  const startMs = performance.now()
  const minutesPast = (): number => (performance.now() - startMs) / MINUTE_MS
  const memory: MemorySample[] = []
  const minutes: SoakMinute[] = []
  let overdueMs = 0
  let prompt = 0
  const readMemory = (): void => {
    const megabytes = treeResidentMegabytes(service.managed.pid)
    if (megabytes !== null) memory.push([minutesPast(), megabytes])
  }
  const timer = setInterval(readMemory, MEMORY_EVERY_MS)
  try {
    for (let minute = 1; minute <= options.minutes; minute++) {
      const plan = loadPlan(target, `soak minute ${minute}`, shape, 0, MINUTE_MS)
      const report = await client.run({ ...plan, overdueMs, drainMs: ANSWER_LIMIT_MS })
      overdueMs = report.drainedMs
      prompt += report.outcomes.answered
      for (const finding of findingsOf(report, true)) collector.find(finding)
      const { p50, p99 } = report.latencyMs
      const stolen = stolenTime.since()
      minutes.push({ minute, p50, p99, stolen, errors: errorsOf(report) })
      add('p50', `p50 at ${ratePerSecond.toLocaleString('en-US')}/s, by minute`, 'ms', p50)
      add('p99', 'p99, by minute', 'ms', p99)
      const lateness = 'generator lateness, p99'
      if (report.generatorDelayMs !== null) add('generator_p99', lateness, 'ms', report.generatorDelayMs.p99)
      if (stolen !== null) add('stolen', 'stolen CPU time by minute', '%', stolen)
      const slope = memorySlope(memory)
      const growth = slope === null ? '' : `, ${slope.slope.toFixed(1)} ± ${slope.error.toFixed(1)} MB/h`
      const held = `${(memory.at(-1)?.[1] ?? Number.NaN).toFixed(0)} MB${growth}`
      const lost = stolen === null ? '' : `, ${stolen.toFixed(0)}% stolen`
      progress.note(
        `soak minute ${minute} of ${options.minutes}: p99 ${p99.toFixed(2)} ms, ${held}, ${errorsOf(report)} errors${lost}`,
      )
    }
  } finally {
    clearInterval(timer)
    if (minutes.length > 0) writeDrawing(context, 'soak', soakChart(memory, minutes, rate))
  }
  add('capacity', 'the capacity measured before, closed loop', '/s', capacity)
  add('rate', `the rate, ${shareOf(rate)}`, '/s', ratePerSecond)
  add(
    'errors',
    'requests not answered 200',
    'count',
    minutes.reduce((sum, { errors }) => sum + errors, 0),
  )
  const due = (ratePerSecond * options.minutes * MINUTE_MS) / 1000
  add('late', 'requests not answered within a second', '%', (1 - prompt / due) * 100)
  const slope = memorySlope(memory)
  if (slope !== null) {
    const { slope: hourly, error } = slope
    add('memory', 'memory at the end', 'MB', memory.at(-1)?.[1] ?? 0)
    add('memory_slope', `growth of memory, ± ${error.toFixed(1)} MB/h`, 'MB/h', hourly)
    // With a large standard error, any growth would pass.
    if (error <= ERROR_LIMIT)
      add('memory_growth', 'growth beyond twice its error', 'MB/h', Math.max(0, hourly - 2 * error))
    else progress.note(`soak: growth is known to ${error.toFixed(0)} MB/h only, which is too little to call it flat`)
  }
  await service.managed.stop()
}

// Sums the counters of several processes, which may start and exit, from their growth between two readings.
import type { HistogramSnapshot } from '../../lib/histogram.ts'
import { type PoolStats, predictWaitMs } from '../../pool/pool-statistics.ts'
import type { MetricTotals } from '../../telemetry/metrics.ts'
import type { LiveReading } from './point.ts'
import type { ProcessesLook } from './processes.ts'

type Decision = MetricTotals['decisions'][number]
type EventLoop = NonNullable<LiveReading['eventLoop']>
type PoolCounter = 'answered' | 'refused' | 'expired' | 'failed' | 'withheld'
type HistogramName = 'wait' | 'run'

const COUNTERS: readonly PoolCounter[] = ['answered', 'refused', 'expired', 'failed', 'withheld']

interface Grown {
  readonly decisions: Map<string, Decision>
  readonly errors: Map<string, number>
  readonly latency: number[]
  readonly pool: Record<PoolCounter, number>
  readonly histograms: Record<HistogramName, { boundsMs: readonly number[]; counts: number[]; sumMs: number }>
  cpuSeconds: number
}

const addTo = (sums: number[], after: ArrayLike<number>, before: ArrayLike<number>): void => {
  for (let index = 0; index < after.length; index++) {
    sums[index] = (sums[index] ?? 0) + (after[index] ?? 0) - (before[index] ?? 0)
  }
}

const grow = (grown: Grown, after: LiveReading, before: LiveReading): void => {
  const keyOf = ({ kind, chain, compliant }: Decision): string => `${kind} ${chain} ${compliant}`
  const earlier = new Map(before.totals.decisions.map((decision) => [keyOf(decision), decision.count]))
  for (const decision of after.totals.decisions) {
    const key = keyOf(decision)
    const count = (grown.decisions.get(key)?.count ?? 0) + decision.count - (earlier.get(key) ?? 0)
    grown.decisions.set(key, { ...decision, count })
  }
  const errorsBefore: Readonly<Record<string, number>> = before.totals.errors
  for (const [code, count] of Object.entries(after.totals.errors)) {
    grown.errors.set(code, (grown.errors.get(code) ?? 0) + count - (errorsBefore[code] ?? 0))
  }
  addTo(grown.latency, after.latency, before.latency)
  for (const name of COUNTERS) grown.pool[name] += after.pool[name] - before.pool[name]
  for (const name of ['wait', 'run'] as const) {
    const of = grown.histograms[name]
    of.boundsMs = after.pool[name].boundsMs
    of.sumMs += after.pool[name].sumMs - before.pool[name].sumMs
    addTo(of.counts, after.pool[name].counts, before.pool[name].counts)
  }
  grown.cpuSeconds += after.cpuSeconds - before.cpuSeconds
}

const sumOf = <Item>(items: readonly Item[], read: (item: Item) => number): number =>
  items.reduce((sum, item) => sum + read(item), 0)

const meanServiceMs = (newest: readonly { readonly pool: PoolStats; readonly answered: number }[]): number => {
  const jobs = sumOf(newest, ({ answered }) => answered)
  if (jobs > 0) return sumOf(newest, ({ pool, answered }) => pool.meanServiceMs * answered) / jobs
  const measured = newest.filter(({ pool }) => pool.meanServiceMs > 0)
  return measured.length === 0 ? 0 : sumOf(measured, ({ pool }) => pool.meanServiceMs) / measured.length
}

const worst = (figures: readonly LiveReading['eventLoop'][]): EventLoop | null =>
  figures.reduce<EventLoop | null>(
    (highest, each) =>
      each === null || highest === null
        ? (each ?? highest)
        : {
            p50Ms: Math.max(highest.p50Ms, each.p50Ms),
            p99Ms: Math.max(highest.p99Ms, each.p99Ms),
            maxMs: Math.max(highest.maxMs, each.maxMs),
          },
    null,
  )

const histogramOf = ({ boundsMs, counts, sumMs }: Grown['histograms'][HistogramName]): HistogramSnapshot => {
  const copied = [...counts]
  return { boundsMs, counts: copied, count: sumOf(copied, (count) => count), sumMs }
}

/** Gauges of the processes that responded, and counters of all processes since the first reading. */
const poolOf = (
  grown: Grown,
  newest: readonly { readonly pool: PoolStats; readonly answered: number }[],
): PoolStats => {
  const sum = (read: (pool: PoolStats) => number): number => sumOf(newest, ({ pool }) => read(pool))
  const mean = meanServiceMs(newest)
  const queued = sum((pool) => pool.queued)
  const workers = sum((pool) => pool.workers)
  return {
    workers,
    queued,
    meanServiceMs: mean,
    predictedWaitMs: predictWaitMs(queued, mean, workers),
    busy: sum((pool) => pool.busy),
    wanted: sum((pool) => pool.wanted),
    abandoned: sum((pool) => pool.abandoned),
    queueLimit: sum((pool) => pool.queueLimit),
    inFlight: sum((pool) => pool.inFlight),
    pending: sum((pool) => pool.pending),
    restarts: {
      crash: sum(({ restarts }) => restarts.crash),
      hang: sum(({ restarts }) => restarts.hang),
      start: sum(({ restarts }) => restarts.start),
    },
    shadows: {
      same: sum(({ shadows }) => shadows.same),
      different: sum(({ shadows }) => shadows.different),
      failed: sum(({ shadows }) => shadows.failed),
    },
    ...grown.pool,
    wait: histogramOf(grown.histograms.wait),
    run: histogramOf(grown.histograms.run),
  }
}

/** Returns a function that takes readings in order and returns the sum; null if no process responded. */
export const createLiveSum = (): ((look: ProcessesLook) => LiveReading | null) => {
  const emptyHistogram = () => ({ boundsMs: [], counts: [], sumMs: 0 })
  const grown: Grown = {
    decisions: new Map(),
    errors: new Map(),
    latency: [],
    cpuSeconds: 0,
    pool: { answered: 0, refused: 0, expired: 0, failed: 0, withheld: 0 },
    histograms: { wait: emptyHistogram(), run: emptyHistogram() },
  }
  let known = new Map<number, LiveReading>()
  return ({ processes }) => {
    const next = new Map<number, LiveReading>()
    const newest: { pool: PoolStats; answered: number }[] = []
    const readings: LiveReading[] = []
    for (const { pid, reading } of processes) {
      if (pid === null) continue
      const before = known.get(pid)
      // A busy process keeps its last reading, so that its next reading adds all growth.
      if (reading !== null || before !== undefined) next.set(pid, (reading ?? before) as LiveReading)
      if (reading === null) continue
      if (before !== undefined) grow(grown, reading, before)
      newest.push({ pool: reading.pool, answered: reading.pool.answered - (before ?? reading).pool.answered })
      readings.push(reading)
    }
    known = next
    if (readings.length === 0) return null
    return {
      atMs: Math.max(...readings.map(({ atMs }) => atMs)),
      monotonicMs: 0,
      totals: {
        decisions: [...grown.decisions.values()],
        errors: Object.fromEntries(grown.errors) as MetricTotals['errors'],
      },
      latency: Float64Array.from(grown.latency),
      pool: poolOf(grown, newest),
      cpuSeconds: grown.cpuSeconds,
      eventLoop: worst(readings.map(({ eventLoop }) => eventLoop)),
      memoryBytes: sumOf(readings, ({ memoryBytes }) => memoryBytes),
      activeRequests: sumOf(readings, ({ activeRequests }) => activeRequests),
      streams: sumOf(readings, ({ streams }) => streams),
    }
  }
}

// Figures of one second or minute for the live page: rates between two readings, and gauges.
import { ERRORS, type ErrorCode } from '../../domain/errors.ts'
import { finePercentileMs, type HistogramSnapshot } from '../../lib/histogram.ts'
import type { PoolStats } from '../../pool/pool-statistics.ts'
import type { MetricTotals } from '../../telemetry/metrics.ts'
import { closed, nullable, type Static, Type } from '../schema.ts'

/** Counters since startup, and gauges. */
export interface LiveReading {
  /** Unix milliseconds. Rates use the monotonic clock below. */
  readonly atMs: number
  readonly monotonicMs: number
  readonly totals: MetricTotals
  /** Attestation API responses by duration (src/lib/histogram.ts). */
  readonly latency: Float64Array
  readonly pool: PoolStats
  readonly cpuSeconds: number
  /** Delays since the last reading; null if nothing was measured. */
  readonly eventLoop: { readonly p50Ms: number; readonly p99Ms: number; readonly maxMs: number } | null
  readonly memoryBytes: number
  readonly activeRequests: number
  readonly streams: number
}

const perSecond = (description: string) => Type.Number({ description: `${description}, per second` })

const percentiles = (description: string) =>
  nullable(
    Type.Object({ p50: Type.Number(), p90: Type.Number(), p99: Type.Number(), p999: Type.Number() }, { description }),
  )

export const LIVE_POINT = closed({
  at: Type.Number({ description: 'End of the interval, Unix milliseconds' }),
  seconds: Type.Number({ description: 'Length of the interval in seconds' }),
  decisions: closed({ compliant: perSecond('Compliant verdicts'), denied: perSecond('Denials') }),
  decisions_by_chain: Type.Record(Type.String(), closed({ compliant: Type.Number(), denied: Type.Number() }), {
    description: 'Decisions by chain; chains without decisions are omitted',
  }),
  errors: Type.Record(Type.String(), Type.Number(), {
    description: 'Error responses per second, by code; codes without errors are omitted',
  }),
  refused: perSecond('Requests refused because of their content or a limit'),
  failed: perSecond('Requests that failed because of the service'),
  latency_ms: percentiles('Response time of the attestation API; null if there were no responses'),
  queue_wait_ms: percentiles('Time from the submission of a job to its dispatch'),
  run_ms: percentiles('Time from the dispatch of a job to the worker’s response'),
  workers: closed({
    live: Type.Number(),
    busy: Type.Number({ description: 'Busy workers at the end of the interval' }),
    wanted: Type.Number(),
    abandoned: Type.Number(),
    utilization: Type.Number({ description: 'Share of the interval in which the workers were busy, 0 to 1' }),
  }),
  queue: closed({ waiting: Type.Number(), limit: Type.Number(), in_flight: Type.Number() }),
  jobs: closed({
    answered: perSecond('Jobs completed'),
    refused: perSecond('Jobs refused'),
    expired: perSecond('Jobs expired'),
    failed: perSecond('Jobs failed'),
    withheld: perSecond('Responses withheld'),
  }),
  cpu: closed({
    cores: Type.Number({ description: 'CPU cores in use on average; 1 is one fully used core' }),
    per_decision_us: Type.Union([Type.Number(), Type.Null()], {
      description: 'CPU time divided by the number of decisions',
    }),
  }),
  event_loop_ms: nullable(
    closed({ p50: Type.Number(), p99: Type.Number(), max: Type.Number() }, 'Delay of timers on the main thread'),
  ),
  memory_bytes: Type.Number(),
  active_requests: Type.Number(),
  streams: Type.Number({ description: 'Open event streams' }),
})

export type LivePoint = Static<typeof LIVE_POINT>

type Percentiles = { p50: number; p90: number; p99: number; p999: number }
const SHARES = { p50: 0.5, p90: 0.9, p99: 0.99, p999: 0.999 } as const

const percentilesBy = (valueAt: (share: number) => number | null): Percentiles | null => {
  const entries = Object.entries(SHARES).map(([name, share]) => [name, valueAt(share)] as const)
  return entries.some(([, value]) => value === null)
    ? null
    : (Object.fromEntries(entries.map(([name, value]) => [name, round(value ?? 0)])) as Percentiles)
}

/** Four digits are enough for charts and take a third of the bytes. */
const round = (value: number): number => (Number.isFinite(value) ? Number(value.toPrecision(4)) : 0)

const difference = (after: ArrayLike<number>, before: ArrayLike<number>): number[] =>
  Array.from(after, (count, index) => count - (before[index] ?? 0))

/** Interpolates evenly within buckets. Values above the last bound count as that bound. */
const coarsePercentile = (bounds: readonly number[], counts: readonly number[], share: number): number | null => {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let below = 0
  for (const [index, count] of counts.entries()) {
    if (count > 0 && below + count >= share * total) {
      const from = index === 0 ? 0 : (bounds[index - 1] ?? 0)
      const to = bounds[index] ?? from
      return from + ((to - from) * (share * total - below)) / count
    }
    below += count
  }
  return null
}

const ofHistogram = (after: HistogramSnapshot, before: HistogramSnapshot): Percentiles | null => {
  const counts = difference(after.counts, before.counts)
  return percentilesBy((share) => coarsePercentile(after.boundsMs, counts, share))
}

const decisionKey = (kind: string, chain: string, compliant: boolean): string => `${kind} ${chain} ${compliant}`

const decisionRates = (after: MetricTotals, before: MetricTotals, seconds: number) => {
  const earlier = new Map(
    before.decisions.map(({ kind, chain, compliant, count }) => [decisionKey(kind, chain, compliant), count]),
  )
  const byChain: Record<string, { compliant: number; denied: number }> = {}
  const total = { compliant: 0, denied: 0 }
  for (const { kind, chain, compliant, count } of after.decisions) {
    const more = count - (earlier.get(decisionKey(kind, chain, compliant)) ?? 0)
    if (more === 0) continue
    const of = byChain[chain] ?? { compliant: 0, denied: 0 }
    byChain[chain] = of
    of[compliant ? 'compliant' : 'denied'] += more
    total[compliant ? 'compliant' : 'denied'] += more
  }
  const rate = ({ compliant, denied }: { compliant: number; denied: number }) => ({
    compliant: round(compliant / seconds),
    denied: round(denied / seconds),
  })
  return {
    count: total.compliant + total.denied,
    rates: rate(total),
    byChain: Object.fromEntries(Object.entries(byChain).map(([chain, counts]) => [chain, rate(counts)])),
  }
}

const errorRates = (after: MetricTotals, before: MetricTotals, seconds: number): Record<string, number> =>
  Object.fromEntries(
    Object.entries(after.errors).flatMap(([code, count]) => {
      const more = count - (before.errors[code as keyof MetricTotals['errors']] ?? 0)
      return more === 0 ? [] : [[code, round(more / seconds)]]
    }),
  )

/** Includes 408: a valid request that was not answered in time. */
const isFailure = (code: string): boolean => {
  const status: number = ERRORS[code as ErrorCode]?.status ?? 500
  return status >= 500 || status === 408
}

const sumOf = (rates: Readonly<Record<string, number>>, counts: (code: string) => boolean): number =>
  round(Object.entries(rates).reduce((sum, [code, rate]) => sum + (counts(code) ? rate : 0), 0))

export const livePoint = (after: LiveReading, before: LiveReading): LivePoint => {
  const seconds = Math.max(0.001, (after.monotonicMs - before.monotonicMs) / 1000)
  const { count, rates, byChain } = decisionRates(after.totals, before.totals, seconds)
  const errors = errorRates(after.totals, before.totals, seconds)
  const latency = difference(after.latency, before.latency)
  const cpuSeconds = after.cpuSeconds - before.cpuSeconds
  const { pool } = after
  const settled = (name: 'answered' | 'refused' | 'expired' | 'failed' | 'withheld'): number =>
    round((pool[name] - before.pool[name]) / seconds)
  const worked = ((pool.answered - before.pool.answered) * pool.meanServiceMs) / 1000 / seconds
  return {
    at: after.atMs,
    seconds: round(seconds),
    decisions: rates,
    decisions_by_chain: byChain,
    errors,
    refused: sumOf(errors, (code) => !isFailure(code)),
    failed: sumOf(errors, isFailure),
    latency_ms: percentilesBy((share) => finePercentileMs(latency, share)),
    queue_wait_ms: ofHistogram(pool.wait, before.pool.wait),
    run_ms: ofHistogram(pool.run, before.pool.run),
    workers: {
      live: pool.workers,
      busy: pool.busy,
      wanted: pool.wanted,
      abandoned: pool.abandoned,
      utilization: pool.workers === 0 ? 0 : round(Math.min(1, worked / pool.workers)),
    },
    queue: { waiting: pool.queued, limit: pool.queueLimit, in_flight: pool.inFlight },
    jobs: {
      answered: settled('answered'),
      refused: settled('refused'),
      expired: settled('expired'),
      failed: settled('failed'),
      withheld: settled('withheld'),
    },
    cpu: {
      cores: round(cpuSeconds / seconds),
      per_decision_us: count === 0 ? null : round((cpuSeconds * 1e6) / count),
    },
    event_loop_ms:
      after.eventLoop === null
        ? null
        : { p50: round(after.eventLoop.p50Ms), p99: round(after.eventLoop.p99Ms), max: round(after.eventLoop.maxMs) },
    memory_bytes: after.memoryBytes,
    active_requests: after.activeRequests,
    streams: after.streams,
  }
}

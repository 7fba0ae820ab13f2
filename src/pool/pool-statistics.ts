// Counts the pool's jobs and measures their durations, for metrics and for the forecast of admission.
import type { ShadowOutcome } from '../domain/verdict.ts'
import { createHistogram, type HistogramSnapshot } from '../lib/histogram.ts'
import type { PoolMetrics } from '../telemetry/metrics.ts'
import type { PoolParts } from './pool-options.ts'
import type { Settlement, WithheldLedger } from './settlement.ts'
import type { Supervisor } from './worker-supervisor.ts'

/** Bucket bounds in milliseconds. */
export const JOB_BOUNDS_MS: readonly number[] = [
  0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 25_000,
]

export interface PoolStats extends PoolMetrics {
  readonly pending: number
  /** Mean of one worker over about the last 100 batches. */
  readonly meanServiceMs: number
  /** Queue depth × mean service time / workers. Infinity if there are no workers. */
  readonly predictedWaitMs: number
}

/** Minimum weight of a new batch in the moving average; the first batches have equal weights. */
const SERVICE_WEIGHT = 0.02
/** Minimum weight of a new job: the average follows a change of load within about 50 jobs. */
const OVERRUN_WEIGHT = 0.02
/** Without this decay, a pessimistic forecast would refuse the jobs that could correct it. */
const OVERRUN_MEMORY_MS = 100

export interface PoolStatistics {
  answered: number
  refused: number
  expired: number
  failed: number
  readonly shadows: Record<ShadowOutcome, number>
  recordWait(durationMs: number): void
  recordRun(durationMs: number): void
  recordBatch(busyMs: number, jobs: number): void
  /** Records a job's actual minus forecast duration. */
  recordOverrun(overrunMs: number, nowMs: number): void
  readonly meanServiceMs: number
  /** Recent mean of the jobs' delay beyond their forecast. At least 0. */
  readonly overrunMs: number
  histograms(): { readonly wait: HistogramSnapshot; readonly run: HistogramSnapshot }
}

export const createPoolStatistics = (): PoolStatistics => {
  const wait = createHistogram(JOB_BOUNDS_MS)
  const run = createHistogram(JOB_BOUNDS_MS)
  let meanServiceMs = 0
  let batches = 0
  let overrunMs = 0
  let overrunAtMs = 0
  return {
    answered: 0,
    refused: 0,
    expired: 0,
    failed: 0,
    shadows: { same: 0, different: 0, failed: 0 },
    recordWait: wait.record,
    recordRun: run.record,
    recordBatch: (busyMs, jobs) => {
      if (jobs === 0) return
      batches += 1
      meanServiceMs += (busyMs / jobs - meanServiceMs) * Math.max(SERVICE_WEIGHT, 1 / batches)
    },
    recordOverrun: (newestMs, nowMs) => {
      const weight = Math.max(OVERRUN_WEIGHT, 1 - Math.exp((overrunAtMs - nowMs) / OVERRUN_MEMORY_MS))
      overrunMs += (newestMs - overrunMs) * weight
      overrunAtMs = nowMs
    },
    get overrunMs() {
      return Math.max(0, overrunMs)
    },
    get meanServiceMs() {
      return meanServiceMs
    },
    histograms: () => ({ wait: wait.snapshot(), run: run.snapshot() }),
  }
}

export const predictWaitMs = (queued: number, meanServiceMs: number, workers: number): number => {
  if (queued === 0 && workers > 0) return 0
  return workers === 0 ? Number.POSITIVE_INFINITY : (queued * meanServiceMs) / workers
}

export interface CountedParts {
  readonly parts: Pick<PoolParts, 'handles' | 'queue' | 'statistics'>
  readonly queueLimit: number
  readonly settlement: Pick<Settlement, 'pending'>
  readonly withheld: Pick<WithheldLedger, 'count'>
  readonly supervisor: Pick<Supervisor, 'wanted' | 'abandoned' | 'restarts'>
}

export const poolStatsOf = ({ parts, queueLimit, settlement, withheld, supervisor }: CountedParts): PoolStats => {
  const { handles, queue, statistics } = parts
  const live = handles.filter((handle) => handle.state === 'live')
  let inFlight = 0
  for (const handle of handles) inFlight += handle.inFlight.size
  return {
    workers: live.length,
    busy: live.filter((handle) => handle.inFlight.size > 0).length,
    wanted: supervisor.wanted,
    abandoned: supervisor.abandoned,
    queued: queue.size,
    queueLimit,
    inFlight,
    pending: settlement.pending,
    restarts: { ...supervisor.restarts },
    answered: statistics.answered,
    refused: statistics.refused,
    expired: statistics.expired,
    failed: statistics.failed,
    withheld: withheld.count,
    shadows: { ...statistics.shadows },
    ...statistics.histograms(),
    meanServiceMs: statistics.meanServiceMs,
    predictedWaitMs: predictWaitMs(queue.size, statistics.meanServiceMs, live.length),
  }
}

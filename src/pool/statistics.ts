// The pool's counters, and the forecast of how long a job submitted now would wait.

import { createHistogram, type HistogramSnapshot } from '../lib/histogram.ts'
import type { LossCause } from './events.ts'

/** Upper bounds in milliseconds for the wait and the run of a job. */
export const JOB_BOUNDS_MS: readonly number[] = [
  0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 25_000,
]

export interface PoolStats {
  /** Workers that take jobs. */
  readonly workers: number
  /** Workers that hold jobs. */
  readonly busy: number
  /** Number of workers requested. */
  readonly wanted: number
  /** Threads that were given up and that are still running in native code. */
  readonly abandoned: number
  readonly queued: number
  readonly queueLimit: number
  readonly inFlight: number
  /** Number of unsettled jobs, wherever they are. */
  readonly pending: number
  readonly restarts: Readonly<Record<LossCause, number>>
  readonly answered: number
  readonly refused: number
  readonly expired: number
  readonly failed: number
  /** Answers that came after their 408 and were withheld. */
  readonly withheld: number
  /** Times from submission to dispatch. */
  readonly wait: HistogramSnapshot
  /** Times from dispatch to the worker's answer. */
  readonly run: HistogramSnapshot
  /** A worker's mean time per job, over about the last hundred batches. */
  readonly meanServiceMs: number
  /** Queue depth × mean service time / workers. Infinity without a worker. */
  readonly predictedWaitMs: number
}

/**
 * Minimum weight of a new batch in the moving average. The first batches are averaged with equal weights, because none
 * is typical alone.
 */
const SERVICE_WEIGHT = 0.02
/** Weight of a new job: after some dozens of jobs the average shows that the thread has become busier, or less busy. */
const OVERRUN_WEIGHT = 0.02
/**
 * An observation of this age counts for a third, however few jobs came since. Otherwise a forecast that has become too
 * bad to accept jobs would get almost no jobs that show it has improved.
 */
const OVERRUN_MEMORY_MS = 100

export interface PoolStatistics {
  answered: number
  refused: number
  expired: number
  failed: number
  recordWait(durationMs: number): void
  recordRun(durationMs: number): void
  recordBatch(busyMs: number, jobs: number): void
  /** Records how much longer than forecast a job took; below zero: shorter. */
  recordOverrun(overrunMs: number, nowMs: number): void
  readonly meanServiceMs: number
  /** How much longer than forecast jobs recently took; at least 0. */
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

/** Milliseconds that a job submitted now would wait for a worker. */
export const predictWaitMs = (queued: number, meanServiceMs: number, workers: number): number => {
  if (queued === 0 && workers > 0) return 0
  return workers === 0 ? Number.POSITIVE_INFINITY : (queued * meanServiceMs) / workers
}

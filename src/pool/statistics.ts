// The pool's counters and its forecast: how long a job submitted now would wait.
import type { LossCause } from './events.ts'
import { createHistogram, type HistogramSnapshot } from './histogram.ts'

export interface PoolStats {
  /** Workers that take jobs, those among them that hold some, and how many were asked for. */
  readonly workers: number
  readonly busy: number
  readonly wanted: number
  /** Threads that were given up and that native code keeps alive. */
  readonly abandoned: number
  readonly queued: number
  readonly queueLimit: number
  readonly inFlight: number
  /** Jobs not settled, wherever they are. */
  readonly pending: number
  readonly restarts: Readonly<Record<LossCause, number>>
  readonly answered: number
  readonly refused: number
  readonly expired: number
  readonly failed: number
  /** Answers that came after their 408 and were kept back. */
  readonly withheld: number
  /** From submission to dispatch. */
  readonly wait: HistogramSnapshot
  /** From dispatch to the worker's answer. */
  readonly run: HistogramSnapshot
  /** A worker's own time per job, averaged over about the last hundred batches. */
  readonly meanServiceMs: number
  /** Queue depth × mean service time / workers. Infinity without a worker. */
  readonly predictedWaitMs: number
}

/** Least weight of a new batch in the moving average. The first ones weigh as much as each other: none is typical alone. */
const SERVICE_WEIGHT = 0.02
/** Of a job: some dozens of them tell that the thread has become busier, or less so. */
const OVERRUN_WEIGHT = 0.02
/**
 * What was seen this long ago counts for a third, however few jobs came since. Else a forecast that has become too bad to
 * take jobs by would hardly hear from any job that it is not so bad any more.
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
  /** A job took this much longer than was forecast; below zero, less. */
  recordOverrun(overrunMs: number, nowMs: number): void
  readonly meanServiceMs: number
  /** How much longer jobs take than their forecasts, lately; at least 0. */
  readonly overrunMs: number
  histograms(): { readonly wait: HistogramSnapshot; readonly run: HistogramSnapshot }
}

export const createPoolStatistics = (): PoolStatistics => {
  const wait = createHistogram()
  const run = createHistogram()
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

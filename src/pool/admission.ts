// What the pool measures of its jobs, and the forecast by which it accepts one (invariant 8). A job that would only wait
// until its deadline is refused immediately: its caller can still turn elsewhere, and no worker spends time on an answer
// that nobody waits for.
import { QueueFullError } from '../domain/errors.ts'
import { createHistogram, type HistogramSnapshot } from '../lib/histogram.ts'
import type { FairQueue } from './fair-queue.ts'
import type { LossCause } from './pool-options.ts'

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

export interface Forecast {
  /** The organization's waiting jobs. */
  readonly queued: number
  /** The organization's share of the workers' time: above 0, at most 1. */
  readonly share: number
  /** A worker's mean time per job; 0 while unknown. */
  readonly meanServiceMs: number
  readonly workers: number
}

const RETRY_AFTER_MAX_SECONDS = 30
/**
 * The fraction of the remaining time that a job's forecast may take. Half of the jobs forecast to be just in time would
 * be late, and an overloaded machine is later than it recently was. A longer queue does no more work; it only answers
 * later.
 */
const TRUSTED_SHARE = 0.7

/** Milliseconds until a job submitted now would be done. */
export const forecastMs = ({ queued, share, meanServiceMs, workers }: Forecast): number =>
  // Without a worker there is no forecast: one may start at any moment.
  workers === 0 ? 0 : ((queued + 1) * meanServiceMs) / (workers * share)

/**
 * One error object per Retry-After: under a flood, creating a stack for each refusal would cost more than everything
 * else about it. Its stack shows where refusals are made, and nothing of a request.
 */
const REFUSALS = Array.from({ length: RETRY_AFTER_MAX_SECONDS }, (_, index) => new QueueFullError(index + 1))

/** @param lateMs by how much the job would miss its deadline; 0 or less: the queue is full */
const refusalOf = (lateMs: number): QueueFullError =>
  REFUSALS[Math.min(RETRY_AFTER_MAX_SECONDS, Math.max(1, Math.ceil(lateMs / 1000))) - 1] as QueueFullError

export interface AdmissionOptions {
  readonly queue: Pick<FairQueue, 'size' | 'sizeOf' | 'shareOf' | 'canDisplaceFor'>
  /** Maximum number of waiting jobs. */
  readonly queueLimit: number
  /** How much longer than forecast jobs recently took: turns of a busy thread, batches that wait for each other. */
  readonly statistics: { readonly meanServiceMs: number; readonly overrunMs: number }
  /** Number of workers that take jobs. */
  readonly countWorkers: () => number
}

/**
 * Decides on a job of this organization with `leftMs` until its deadline. Returns a refusal, or the milliseconds that
 * the job is expected to take. When the queue is full, the job is accepted if another organization's job can make room
 * for it.
 */
export type Admission = (organizationId: string, leftMs: number) => QueueFullError | number

export const createAdmission =
  ({ queue, queueLimit, statistics, countWorkers }: AdmissionOptions): Admission =>
  (organizationId, leftMs) => {
    if (queue.size === 0 && leftMs > 0) return 0
    const { meanServiceMs, overrunMs } = statistics
    const expectedMs = forecastMs({
      queued: queue.sizeOf(organizationId),
      share: queue.shareOf(organizationId),
      meanServiceMs,
      workers: countWorkers(),
    })
    const lateMs = expectedMs + overrunMs - leftMs * TRUSTED_SHARE
    if (lateMs > 0) return refusalOf(lateMs)
    if (queue.size >= queueLimit && !queue.canDisplaceFor(organizationId)) return refusalOf(0)
    return expectedMs
  }

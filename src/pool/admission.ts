// Decides whether a job is accepted (invariant 8). A job that would only wait until its deadline is refused
// immediately: its caller can still turn elsewhere, and no worker spends time on an answer that nobody waits for.
import { QueueFullError } from '../domain/errors.ts'
import type { FairQueue } from './fair-queue.ts'

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

// Whether a job is taken at all (invariant 8): one that would only wait until its deadline is refused at once, while its
// caller can still turn elsewhere and no worker's time goes into what nobody waits for any more.
import { QueueFullError } from '../domain/errors.ts'
import type { FairQueue } from './fair-queue.ts'

export interface Forecast {
  /** The organization's jobs that wait. */
  readonly queued: number
  /** The part of the workers' time that it gets: above 0, at most 1. */
  readonly share: number
  /** A worker's own time per job; 0 while unknown. */
  readonly meanServiceMs: number
  readonly workers: number
}

const RETRY_AFTER_MAX_SECONDS = 30
/**
 * The part of what is left that may be expected to pass: half of what would just be in time would be late, and a machine
 * with too much to do is late by more than it lately was. A longer queue does no more work, it only answers later.
 */
const TRUSTED_SHARE = 0.7

/** Milliseconds until a job submitted now would be done. */
export const forecastMs = ({ queued, share, meanServiceMs, workers }: Forecast): number =>
  // Without a worker nothing is known: one may come any moment.
  workers === 0 ? 0 : ((queued + 1) * meanServiceMs) / (workers * share)

/**
 * One error for all that may come again after the same time: under a flood a stack for each would cost more than all else
 * that is done for it. It says where refusals are made and nothing of any request.
 */
const REFUSALS = Array.from({ length: RETRY_AFTER_MAX_SECONDS }, (_, index) => new QueueFullError(index + 1))

/** @param lateMs by how much it would not be done in time; up to 0 there is no room. */
const refusalOf = (lateMs: number): QueueFullError =>
  REFUSALS[Math.min(RETRY_AFTER_MAX_SECONDS, Math.max(1, Math.ceil(lateMs / 1000))) - 1] as QueueFullError

export interface AdmissionOptions {
  readonly queue: Pick<FairQueue, 'size' | 'sizeOf' | 'shareOf' | 'canDisplaceFor'>
  /** Jobs that may wait. */
  readonly queueLimit: number
  /** What jobs lately took beyond their forecasts: turns of a busy thread, batches that wait for each other. */
  readonly statistics: { readonly meanServiceMs: number; readonly overrunMs: number }
  /** Those that take jobs. */
  readonly countWorkers: () => number
}

/**
 * What becomes of a job of this organization that has `leftMs` until its deadline: a refusal, or the milliseconds that it
 * is expected to take. In a full queue it is taken when another's job can make room for it.
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

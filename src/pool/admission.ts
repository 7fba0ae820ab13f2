// Forecasts the wait of jobs. A job that cannot finish by its deadline is refused immediately (invariant 8).
import { QueueFullError } from '../domain/errors.ts'
import type { FairQueue } from './fair-queue.ts'

export interface Forecast {
  readonly queued: number
  readonly share: number
  readonly meanServiceMs: number
  readonly workers: number
}

const RETRY_AFTER_MAX_SECONDS = 30
/** Fraction of the remaining time for a forecast: with 1, half of the jobs that just fit would be late. */
const TRUSTED_SHARE = 0.7

export const forecastMs = ({ queued, share, meanServiceMs, workers }: Forecast): number =>
  // Without a worker, there is no basis for a forecast: a worker may start at any moment.
  workers === 0 ? 0 : ((queued + 1) * meanServiceMs) / (workers * share)

/** Preallocated per Retry-After: capturing a stack trace would be the most expensive part of a refusal. */
const REFUSALS = Array.from({ length: RETRY_AFTER_MAX_SECONDS }, (_, index) => new QueueFullError(index + 1))

const refusalOf = (lateMs: number): QueueFullError =>
  REFUSALS[Math.min(RETRY_AFTER_MAX_SECONDS, Math.max(1, Math.ceil(lateMs / 1000))) - 1] as QueueFullError

export interface AdmissionOptions {
  readonly queue: Pick<FairQueue, 'size' | 'sizeOf' | 'shareOf' | 'canDisplaceFor'>
  readonly queueLimit: number
  readonly statistics: { readonly meanServiceMs: number; readonly overrunMs: number }
  readonly countWorkers: () => number
}

/** Returns an error, or the expected duration in milliseconds. A full queue admits a job that can displace another. */
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

// Whether a job is taken at all (invariant 8): one that would only wait until its deadline is refused at once, while its
// caller can still turn elsewhere and no worker's time goes into what nobody waits for any more.
import { QueueFullError } from '../domain/errors.ts'

export interface Forecast {
  /** The organization's jobs that wait. */
  readonly queued: number
  /** The part of the workers' time that it gets: above 0, at most 1. */
  readonly share: number
  /** A worker's own time per job; 0 while unknown. */
  readonly meanServiceMs: number
  readonly workers: number
  /** What jobs lately took beyond their forecasts: turns of a busy thread, batches that wait for each other. */
  readonly overrunMs: number
  /** Until the job's deadline. */
  readonly leftMs: number
}

const RETRY_AFTER_MAX_SECONDS = 30
/** The part of what is left that may be expected to pass: half of what would just be in time would be late. */
const TRUSTED_SHARE = 0.8

/** Milliseconds until a job submitted now would be done. */
export const forecastMs = ({
  queued,
  share,
  meanServiceMs,
  workers,
}: Omit<Forecast, 'overrunMs' | 'leftMs'>): number =>
  // Without a worker nothing is known: one may come any moment.
  workers === 0 ? 0 : ((queued + 1) * meanServiceMs) / (workers * share)

/** The refusal of a job that would not be done in time; null: it is taken. */
export const refuseLate = (forecast: Forecast): QueueFullError | null => {
  const lateMs = forecastMs(forecast) + forecast.overrunMs - forecast.leftMs * TRUSTED_SHARE
  if (lateMs <= 0) return null
  return new QueueFullError(Math.min(RETRY_AFTER_MAX_SECONDS, Math.max(1, Math.ceil(lateMs / 1000))))
}

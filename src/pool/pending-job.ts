// One submitted job and its state in the pool. A job is settled exactly once, even if its workers fail.
import { fixedError } from '../domain/errors.ts'
import type { Target } from '../domain/target.ts'
import type { Expiring } from '../lib/deadline-list.ts'
import type { Job } from './protocol.ts'

/** The job's key, target or facts changed between submission and dispatch. The job was not dispatched. */
export class JobOutdatedError extends fixedError(
  'DEPENDENCY_UNAVAILABLE',
  'the policy, the API key or the identity changed; retry',
  {
    retryAfterSeconds: 1,
    nothingSigned: true,
  },
) {}

export interface PoolAnswer {
  readonly compliant: boolean
  /** Id of the rule that decided, for metrics and logs. Null if the policy's default decided. */
  readonly ruleId: string | null
  /** The complete JSON response body. Empty if the verdict needs a signature but the job has no expiration. */
  readonly body: string
}

export interface PendingJob extends Expiring<PendingJob> {
  readonly job: Job
  readonly target: Target
  /** Identifies the job in messages and in SHARED_CURRENT. */
  readonly sequence: number
  readonly promise: Promise<PoolAnswer>
  readonly resolve: (answer: PoolAnswer) => void
  readonly reject: (error: Error) => void
  /** Reports whether the job's key, target and facts are still current. Synchronous: reads caches only. */
  readonly isCurrent: () => boolean
  /** Change count before the job's key and target were looked up. If -1, `isCurrent` decides. */
  readonly changes: number
  readonly enqueuedMs: number
  /** Forecast duration at admission, in milliseconds. */
  readonly forecastMs: number
  dispatchedMs: number
  /** True once the job was answered, failed or expired. A worker may still be processing it. */
  settled: boolean
  /** True while the job is in the queue and included in its size. */
  queued: boolean
  /** True if a worker holds the job and may sign it, or if a lost worker may have recorded it. */
  mayBeSigned: boolean
  /** Number of workers lost while they held the job. */
  losses: number
  /** Number of workers lost while they were processing the job. */
  kills: number
  /** Number of times that a worker did not have the job's target. */
  redefinitions: number
}

const ALWAYS = (): boolean => true

/** @param forecastMs expected duration; 0 if no other job is waiting */
export const createPendingJob = (
  job: Job,
  target: Target,
  sequence: number,
  nowMs: number,
  forecastMs = 0,
  isCurrent: PendingJob['isCurrent'] = ALWAYS,
  changes = -1,
): PendingJob => {
  const { promise, resolve, reject } = Promise.withResolvers<PoolAnswer>()
  return {
    job,
    deadlineMs: job.deadlineMs,
    target,
    sequence,
    promise,
    resolve,
    reject,
    isCurrent,
    changes,
    enqueuedMs: nowMs,
    forecastMs,
    dispatchedMs: 0,
    settled: false,
    queued: false,
    mayBeSigned: false,
    losses: 0,
    kills: 0,
    redefinitions: 0,
    earlier: null,
    later: null,
  }
}

// One submitted job and its state inside the pool. It is settled exactly once, whatever happens to its workers.
import { fixedError } from '../domain/errors.ts'
import type { Target } from '../domain/target.ts'
import type { Expiring } from '../lib/deadline-list.ts'
import type { Job } from './protocol.ts'

/** The job's key, target or facts have changed since it was submitted. No worker got it. */
export class JobOutdatedError extends fixedError(
  'DEPENDENCY_UNAVAILABLE',
  'the policy, the API key or the identity changed; retry',
  {
    retryAfterSeconds: 1,
    nothingSigned: true,
  },
) {}

/** A verdict with its complete response body. */
export interface PoolAnswer {
  readonly compliant: boolean
  /** The rule that decided, for metrics and logs; null when the document's default did. */
  readonly ruleId: string | null
  /** The complete JSON response body; empty when the job had no expiration and the verdict needs a signature. */
  readonly body: string
}

export interface PendingJob extends Expiring<PendingJob> {
  readonly job: Job
  readonly target: Target
  /** Identifies the job in messages and in SHARED_CURRENT. */
  readonly sequence: number
  /** Settles with the job. */
  readonly promise: Promise<PoolAnswer>
  readonly resolve: (answer: PoolAnswer) => void
  readonly reject: (error: Error) => void
  /** Whether the job's key, target and facts are still those that decide. Answers at once, from what is cached. */
  readonly isCurrent: () => boolean
  /** Number of changes that were known before the job's key and target were looked up; -1: `isCurrent` decides. */
  readonly changes: number
  readonly enqueuedMs: number
  /** The forecast time when the job was accepted, milliseconds. */
  readonly forecastMs: number
  dispatchedMs: number
  /** Whether the job was answered or failed. Its worker may still be busy with it. */
  settled: boolean
  /** Whether the job is in the queue and counted there. */
  queued: boolean
  /** Whether a worker holds the job and may sign it, or a lost worker may have recorded it. */
  mayBeSigned: boolean
  /** Number of workers lost while they held the job. */
  losses: number
  /** Number of workers lost while they were working on the job. */
  kills: number
  /** How often a worker did not know the job's target. */
  redefinitions: number
}

const ALWAYS = (): boolean => true

/** @param forecastMs how long the job is expected to take; 0 when no other job is before it */
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

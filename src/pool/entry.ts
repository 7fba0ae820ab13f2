// One submitted job and its life inside the pool. It is settled exactly once, whatever happens to its workers.
import type { Target } from '../domain/target.ts'
import type { Job } from './protocol.ts'

/** A verdict with its complete response body. */
export interface PoolAnswer {
  readonly compliant: boolean
  /** The deciding rule, for metrics and logs; null when the document's default decided. */
  readonly ruleId: string | null
  /** The complete JSON response body; empty when the job had EXPIRATION_UNKNOWN and would have to be signed. */
  readonly body: string
}

export interface Entry {
  readonly job: Job
  readonly target: Target
  /** Names the entry on the wire and in SHARED_CURRENT. */
  readonly sequence: number
  readonly resolve: (answer: PoolAnswer) => void
  readonly reject: (error: Error) => void
  readonly enqueuedMs: number
  /** How long it was expected to take when it was taken in. */
  readonly forecastMs: number
  dispatchedMs: number
  /** Answered or failed. Its worker may still be busy with it. */
  settled: boolean
  /** In the queue, and counted there. */
  queued: boolean
  /** Workers lost while they held it. */
  losses: number
  /** Workers lost while they were working on it. */
  kills: number
  /** Times a worker did not know its target. */
  redefinitions: number
  /** Neighbours in the deadline list. */
  earlier: Entry | null
  later: Entry | null
}

export interface Submission {
  readonly entry: Entry
  readonly promise: Promise<PoolAnswer>
}

/** @param forecastMs how long it is expected to take; 0 when nothing is in its way. */
export const createEntry = (job: Job, target: Target, sequence: number, nowMs: number, forecastMs = 0): Submission => {
  const { promise, resolve, reject } = Promise.withResolvers<PoolAnswer>()
  const entry: Entry = {
    job,
    target,
    sequence,
    resolve,
    reject,
    enqueuedMs: nowMs,
    forecastMs,
    dispatchedMs: 0,
    settled: false,
    queued: false,
    losses: 0,
    kills: 0,
    redefinitions: 0,
    earlier: null,
    later: null,
  }
  return { entry, promise }
}

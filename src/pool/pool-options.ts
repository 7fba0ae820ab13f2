// The limits of a pool with the reasons for their values, the events that it reports, and what all of its parts share.
// Events are for logs and metrics: they hold no text from inside a worker and no request content.
import type { Throttle } from '../lib/throttle.ts'
import type { Clock, Timers } from '../lib/time.ts'
import type { Logger } from '../telemetry/log.ts'
import type { PoolStatistics } from './admission.ts'
import type { FairQueue } from './fair-queue.ts'
import type { ReadyReport, WorkerHandle } from './worker-handle.ts'

export interface PoolLimits {
  /** A worker with jobs whose heartbeat stands still for this long is given up. */
  readonly hangMs: number
  /**
   * The same while the worker writes its log: a slow disk stalls every worker, and a new one would not write faster.
   */
  readonly commitStallMs: number
  /** From the thread's start until it is ready; opening keystores takes a second or two each. */
  readonly startTimeoutMs: number
  /** How long a terminated thread may take to end before it counts as stuck in native code. */
  readonly terminateGraceMs: number
  /** How long a worker may take to close its log when asked to. */
  readonly closeTimeoutMs: number
  /** How long reading a lost worker's log may take before its jobs are failed. */
  readonly recoverTimeoutMs: number
  /** How long all workers together may take to open new keys. */
  readonly attestersTimeoutMs: number
  /**
   * Maximum number of jobs at one worker: two batches, so that the worker never waits for the next one. The other jobs
   * wait in the queue, where they can still be dropped.
   */
  readonly maxInFlight: number
  /**
   * While a turn of the main thread takes up to this long, workers hold more jobs to bridge it. Later jobs wait behind
   * those.
   */
  readonly bridgedTurnMs: number
  /** Maximum number of jobs in one message; one append records them, and they are answered together. */
  readonly maxBatch: number
  /** The amount of work that is worth waking a thread: one worker gets this much before a sleeping one gets any. */
  readonly wakeWorthMs: number
  /** Maximum number of jobs for that work, however short they are. */
  readonly maxShare: number
  /** A job is given up after this many workers were lost while they held it, whether it was the cause or not. */
  readonly maxLosses: number
  /** A job is taken to be the cause after this many workers were lost while they were working on it. */
  readonly maxKills: number
  /** How often workers may report that they do not know a job's target. */
  readonly maxRedefinitions: number
  /** Delay before the third start in a row after failures; doubles up to the maximum. */
  readonly restartBackoffMs: number
  readonly restartBackoffMaxMs: number
}

export const DEFAULT_POOL_LIMITS: PoolLimits = {
  hangMs: 2000,
  commitStallMs: 10_000,
  startTimeoutMs: 60_000,
  terminateGraceMs: 250,
  closeTimeoutMs: 5000,
  recoverTimeoutMs: 500,
  attestersTimeoutMs: 60_000,
  maxInFlight: 64,
  bridgedTurnMs: 50,
  maxBatch: 32,
  wakeWorthMs: 0.3,
  maxShare: 8,
  maxLosses: 3,
  maxKills: 2,
  maxRedefinitions: 3,
  restartBackoffMs: 100,
  restartBackoffMaxMs: 5000,
}

export type LossCause =
  /** The thread ended by itself: an exit, an uncaught error, a floating rejection. */
  | 'crash'
  /** The worker had jobs, but its heartbeat stood still. */
  | 'hang'
  /** The worker ended, or gave up, before it was ready. */
  | 'start'

export type PoolEvent =
  | { readonly type: 'worker-ready'; readonly slot: number; readonly generation: number; readonly report: ReadyReport }
  | {
      readonly type: 'worker-lost'
      readonly slot: number
      readonly generation: number
      readonly cause: LossCause
      readonly inFlight: number
      /** Uuid of the job that the worker was working on; null when it was between jobs. */
      readonly culpritUuid: string | null
    }
  /** A worker could not start. `reason` is a text that the worker chose. */
  | { readonly type: 'worker-unusable'; readonly slot: number; readonly reason: string }
  /** What happened to a lost worker's jobs. */
  | {
      readonly type: 'jobs-recovered'
      readonly slot: number
      readonly answered: number
      readonly dispatchedAgain: number
      readonly failed: number
      readonly withheld: number
    }
  /** The decision log of a lost worker could not be read, so none of its jobs is signed again. */
  | { readonly type: 'recovery-failed'; readonly slot: number; readonly errorClass: string }
  | { readonly type: 'job-failed'; readonly requestId: string; readonly uuid: string; readonly errorClass: string }
  /** Answers that came after their request's 408 and were withheld. */
  | { readonly type: 'withheld'; readonly uuids: readonly string[] }

export type PoolEventListener = (event: PoolEvent) => void

export const logPoolEvent = (log: Logger, throttle: Throttle, event: PoolEvent): void => {
  switch (event.type) {
    case 'worker-ready': {
      const { slot, generation, report } = event
      log.info('worker ready', { slot, generation, signer: report.signer })
      break
    }
    case 'jobs-recovered':
      log.info('jobs of a lost worker recovered', { ...event, type: undefined })
      break
    case 'withheld':
      log.warn('answers withheld after their deadline', { count: event.uuids.length })
      break
    case 'worker-lost':
      log.error('worker lost', { ...event, type: undefined })
      break
    case 'worker-unusable':
      log.error('worker unusable', { ...event, type: undefined })
      break
    case 'recovery-failed':
      log.error('the decision log of a lost worker can not be read', { ...event, type: undefined })
      break
    case 'job-failed': {
      const unlogged = throttle(event.errorClass)
      if (unlogged === null) break
      const message =
        event.errorClass === 'DecisionLogError'
          ? 'decisions can not be recorded; nothing is signed'
          : 'a request could not be evaluated'
      log.error(message, { ...event, type: undefined, unlogged })
      break
    }
  }
}

/** What the parts of one pool share. */
export interface PoolParts {
  readonly clock: Clock
  readonly timers: Timers
  readonly limits: PoolLimits
  readonly onEvent: PoolEventListener
  readonly statistics: PoolStatistics
  readonly queue: FairQueue
  /** Workers that are starting, live or draining. The supervisor adds and removes them. */
  readonly handles: WorkerHandle[]
  /** Number of changes of keys and policies since the start. */
  changes: number
  /** From then on (monotonic), all jobs wait, because changes may not be known here. */
  leaseUntilMs: number
}

// Events of the pool for logs and metrics. They hold no text from inside a worker and no request content.
import type { ReadyReport } from './worker-handle.ts'

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

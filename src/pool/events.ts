// What the pool tells whoever runs it: for logs and metrics. No text from inside a worker, no request content.
import type { ReadyReport } from './worker-handle.ts'

export type LossCause =
  /** The thread ended by itself: an exit, an uncaught error, a floating rejection. */
  | 'crash'
  /** It had work and gave no sign of life. */
  | 'hang'
  /** It ended, or gave up, before it was ready. */
  | 'start'

export type PoolEvent =
  | { readonly type: 'worker-ready'; readonly slot: number; readonly generation: number; readonly report: ReadyReport }
  | {
      readonly type: 'worker-lost'
      readonly slot: number
      readonly generation: number
      readonly cause: LossCause
      readonly inFlight: number
      /** Of the job it was working on; null when it was between jobs. */
      readonly culpritUuid: string | null
    }
  /** A worker could not start. `reason` is the worker's own chosen text. */
  | { readonly type: 'worker-unusable'; readonly slot: number; readonly reason: string }
  /** What became of a lost worker's jobs. */
  | {
      readonly type: 'jobs-recovered'
      readonly slot: number
      readonly answered: number
      readonly dispatchedAgain: number
      readonly failed: number
      readonly withheld: number
    }
  /** The decision log of a lost worker could not be read: none of its jobs is signed again. */
  | { readonly type: 'recovery-failed'; readonly slot: number; readonly errorClass: string }
  | { readonly type: 'job-failed'; readonly requestId: string; readonly uuid: string; readonly errorClass: string }
  /** Answers that came after their request's 408 and were kept back. */
  | { readonly type: 'withheld'; readonly uuids: readonly string[] }

export type PoolEventListener = (event: PoolEvent) => void

// The messages between the bench and the process of its identity client. Times are milliseconds.
import type { FailureKind, LatencySummary } from '../load/plan.ts'
import type { RequestPlan } from '../load/requests.ts'

export interface RequestLoad {
  readonly type: 'requests'
  /** Scheme, host and port. */
  readonly url: string
  /** Sent in turn, for ever. */
  readonly requests: readonly RequestPlan[]
  readonly connections: number
  readonly warmupMs: number
  readonly durationMs: number
}

export interface RequestReport {
  readonly type: 'requests'
  readonly throughputPerSecond: number
  readonly statuses: Readonly<Record<string, number>>
  readonly failures: Readonly<Partial<Record<FailureKind, number>>>
  readonly latencyMs: LatencySummary
}

/** Creates sessions and opens a stream for each, besides those of earlier orders. They stay open until `close`. */
export interface FollowOrder {
  readonly type: 'follow'
  readonly url: string
  /** A test key, with which the caller chooses a session's outcome. */
  readonly key: string
  readonly streams: number
  /** Creates no further session after this time. */
  readonly limitMs: number
}

export interface FollowReport {
  readonly type: 'followed'
  /** Sessions of all orders. */
  readonly sessions: number
}

/** Sessions that are followed change at a fixed rate. */
export interface ChangeOrder {
  readonly type: 'change'
  readonly ratePerSecond: number
  readonly warmupMs: number
  readonly durationMs: number
}

export interface ChangeReport {
  readonly type: 'change'
  /** Acknowledged within the window. */
  readonly changesPerSecond: number
  /** From the moment a change was due until its event had arrived at the stream. */
  readonly deliveryMs: LatencySummary
  /** From the moment a change was due until it was acknowledged. */
  readonly answerMs: LatencySummary
  /** How late this process itself sent. Part of both times above, although the server is not the cause. */
  readonly generatorDelayMs: LatencySummary
  /** Changes that were acknowledged and whose event never came. */
  readonly undelivered: number
  readonly problems: readonly string[]
}

export type ClientOrder = RequestLoad | FollowOrder | ChangeOrder | { readonly type: 'close' }
export type ClientReply =
  | { readonly type: 'ready' }
  | RequestReport
  | FollowReport
  | ChangeReport
  | { readonly type: 'done' }
  | { readonly type: 'failed'; readonly reason: string }

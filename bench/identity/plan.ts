// Messages between the bench and the process of its identity client. Times are in milliseconds.
import type { FailureKind, LatencySummary } from '../load/plan.ts'
import type { RequestPlan } from '../load/requests.ts'

export interface RequestLoad {
  readonly type: 'requests'
  /** Scheme, host and port. */
  readonly url: string
  /** Sent in turn, repeatedly. */
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

/**
 * Creates sessions and opens a stream for each, in addition to those of earlier orders. The streams stay open until
 * `close`.
 */
export interface FollowOrder {
  readonly type: 'follow'
  readonly url: string
  /** A test key, which lets the caller choose a session's outcome. */
  readonly key: string
  readonly streams: number
  /** Creates no further session after this time. */
  readonly limitMs: number
}

export interface FollowReport {
  readonly type: 'followed'
  /** Number of sessions of all orders. */
  readonly sessions: number
}

/** Order to change the followed sessions at a fixed rate. */
export interface ChangeOrder {
  readonly type: 'change'
  readonly ratePerSecond: number
  readonly warmupMs: number
  readonly durationMs: number
}

export interface ChangeReport {
  readonly type: 'change'
  /** Changes acknowledged within the window, per second. */
  readonly changesPerSecond: number
  /** Time from a change's due time until its event arrives. */
  readonly deliveryMs: LatencySummary
  /** Time from a change's due time until it is acknowledged. */
  readonly answerMs: LatencySummary
  /** Delay of this process before sending. Included in both times above, although the server does not cause it. */
  readonly generatorDelayMs: LatencySummary
  /** Number of acknowledged changes whose event did not arrive. */
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

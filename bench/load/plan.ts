// Messages between the bench and its generator process: the plan of a load run, and its report. Times are in
// milliseconds unless the name has another unit. CPU time is in microseconds, user and system together.

import type { CpuTime } from '../cpu.ts'

/** The attestation requests. All bodies are created before the run, so that creating them does not affect it. */
export interface BodyPlan {
  /** Wallets, values and arguments are derived from this text: equal seeds give equal requests. */
  readonly seed: string
  /** Number of different requests, sent in turn. */
  readonly wallets: number
  /** Chain name of the request (spec, chain table). */
  readonly chain: string
  /** On chain (`to`, with calldata and a value; several contracts in turn) or interface-only. */
  readonly target:
    | { readonly to: string }
    | { readonly contracts: readonly string[] }
    | { readonly verificationHash: string }
  /**
   * Body for a server with another API: JSON in which `{from}`, `{to}`, `{chain}`, `{msg_value}`, `{data}` and
   * `{selector}` are replaced.
   */
  readonly template?: string
  /** API keys used in turn instead of the key in the plan's headers. */
  readonly keys?: readonly string[]
  /** Number of requests in one call of the batch endpoint; `wallets` must be a multiple of it. */
  readonly batch?: number
  /** Whether each sent request has a separate Idempotency-Key, even if its body was sent before. */
  readonly idempotencyKeys?: boolean
}

/** Expected answer. `status` is for servers that do not attest: a 200 whose body contains the text. */
export type AnswerPlan =
  | { readonly kind: 'status'; readonly contains?: string }
  | {
      readonly kind: 'attestation'
      /** Address to which each sampled signature must recover; null for the address in the answer. */
      readonly attester: string | null
      /** Every n-th answer is verified after the window; for batches, every n-th call. */
      readonly sampleEvery: number
      /** Elements per call of the batch endpoint. */
      readonly batch?: number
    }

export type LoadShape =
  /** Each connection sends its next request after the last answer: finds the peak, but hides waiting. */
  | { readonly mode: 'closed'; readonly connections: number }
  /** Requests are due at a fixed rate, regardless of the server. Waiting for a free connection counts as latency. */
  | {
      readonly mode: 'open'
      readonly connections: number
      readonly ratePerSecond: number
      /** Maximum length of the queue of due requests that wait for a connection. */
      readonly queueLimit: number
    }

export interface LoadPlan {
  readonly name: string
  /** URL of the endpoint (http or https), with its path. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly bodies: BodyPlan
  readonly answers: AnswerPlan
  readonly shape: LoadShape
  readonly warmupMs: number
  readonly durationMs: number
  /** Maximum wait for outstanding answers after the window. */
  readonly drainMs: number
  /**
   * Open loop: time by which the schedule began before the run, because the previous run took that long to drain. These
   * requests are due immediately, and their latency counts from their due time. Defaults to 0.
   */
  readonly overdueMs?: number
  /** Process whose CPU time is read at the start and end of the window; null for a remote deployment. */
  readonly observePid: number | null
}

/**
 * Reasons for a request without an answer: the connection closed, the answer was not valid HTTP, no answer arrived
 * before the drain ended, or (open loop) the queue was full when the request was due.
 */
export const FAILURE_KINDS = ['connection-closed', 'malformed', 'timeout', 'not-sent'] as const
export type FailureKind = (typeof FAILURE_KINDS)[number]

/** Numbers of requests in a window. Each request has one outcome, and only `answered` is throughput. */
export interface Outcomes {
  /** Answered as requested, within a second. */
  readonly answered: number
  /** 503 or 429. */
  readonly refused: number
  /** Answered after more than a second, answered with 408, not answered before the drain ended, or never sent. */
  readonly late: number
  /** Any other status, a wrong answer, or a lost connection. */
  readonly errors: number
}

export interface LatencySummary {
  readonly count: number
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly p99_9: number
  readonly max: number
  readonly mean: number
  /** HdrHistogram V2, compressed, base64; values in microseconds. Used for merging and drawing. */
  readonly histogram: string
}

export interface AnswerFindings {
  /** Number of inspected answers with status 200. */
  readonly seen: number
  /** Number of completely verified answers: the signature over the requested statement recovers to the attester. */
  readonly verified: number
  /** The first faults; empty if there are none. */
  readonly problems: readonly string[]
}

export interface LoadReport {
  readonly name: string
  readonly shape: LoadShape
  /** Actual length of the measured window. */
  readonly windowMs: number
  /** Answers of any status within the window. */
  readonly completed: number
  /** `outcomes.answered` per second. */
  readonly throughputPerSecond: number
  /** Closed loop: answers that arrived within the window. Open loop: answers to requests due within it. */
  readonly statuses: Readonly<Record<string, number>>
  readonly failures: Readonly<Partial<Record<FailureKind, number>>>
  readonly outcomes: Outcomes
  /** Latency of 2xx answers. Requests without an answer count with their waiting time. */
  readonly latencyMs: LatencySummary
  /** Latency of refusals, 503 and 429. */
  readonly refusalLatencyMs: LatencySummary
  /**
   * Open loop: delay until the generator processed each due request. It does not count as latency. If it is large,
   * another program kept the generator from the processor.
   */
  readonly generatorDelayMs: LatencySummary | null
  /** Time from the end of the window until the last answer, or until waiting ended. */
  readonly drainedMs: number
  readonly serverCpu: CpuTime | null
  readonly generatorCpuMicroseconds: number
  readonly answers: AnswerFindings
}

export type GeneratorRequest = { readonly type: 'run'; readonly plan: LoadPlan }
export type GeneratorReply =
  | { readonly type: 'ready' }
  | { readonly type: 'report'; readonly report: LoadReport }
  | { readonly type: 'failed'; readonly reason: string }

// The two messages between the bench and its generator process: the plan of a load run, and its report. Times are
// milliseconds unless the name says otherwise; CPU is microseconds, user and system together.

import type { CpuTime } from '../cpu.ts'

/** Which attestation requests are sent. All bodies are made before the run, so that making them costs it nothing. */
export interface BodyPlan {
  /** Wallets, values and arguments are derived from this text: the same seed gives the same requests. */
  readonly seed: string
  /** How many different requests, sent in turn. */
  readonly wallets: number
  /** Chain name of the request (spec, chain table). */
  readonly chain: string
  /** On chain (`to`, with calldata and a value; of several contracts one after the other) or interface-only. */
  readonly target:
    | { readonly to: string }
    | { readonly contracts: readonly string[] }
    | { readonly verificationHash: string }
  /**
   * Body for a server with another API: JSON in which `{from}`, `{to}`, `{chain}`, `{msg_value}`, `{data}` and
   * `{selector}` are replaced.
   */
  readonly template?: string
  /** API keys, one after the other, instead of the one in the plan's headers. */
  readonly keys?: readonly string[]
  /** Number of requests in one call of the batch endpoint; `wallets` must be a multiple of it. */
  readonly batch?: number
  /** Each request that is sent has an Idempotency-Key of its own, also where its body was sent before. */
  readonly idempotencyKeys?: boolean
}

/** Expected answer. `status` is for servers that do not attest: a 200 whose body contains the text. */
export type AnswerPlan =
  | { readonly kind: 'status'; readonly contains?: string }
  | {
      readonly kind: 'attestation'
      /** Address to which each sampled signature must recover; null: the address that the answer names. */
      readonly attester: string | null
      /** Every n-th answer is verified after the window; of batches, every n-th call. */
      readonly sampleEvery: number
      /** Elements of each call, where the answers are those of the batch endpoint. */
      readonly batch?: number
    }

export type LoadShape =
  /** Each connection sends its next request when the last was answered: finds the peak, hides waiting. */
  | { readonly mode: 'closed'; readonly connections: number }
  /** Requests are due at a fixed rate whatever the server does; a request's wait for a free connection counts. */
  | {
      readonly mode: 'open'
      readonly connections: number
      readonly ratePerSecond: number
      /** Requests due that found every connection busy wait in a queue of at most this length. */
      readonly queueLimit: number
    }

export interface LoadPlan {
  readonly name: string
  /** Address of the endpoint, http or https, path included. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly bodies: BodyPlan
  readonly answers: AnswerPlan
  readonly shape: LoadShape
  readonly warmupMs: number
  readonly durationMs: number
  /** How long to wait for open answers once the window is over. */
  readonly drainMs: number
  /**
   * Open loop: how long before the run its schedule began, because the run before it drained so long. Those requests are
   * due at once, and count from when they should have been sent. 0 unless given.
   */
  readonly overdueMs?: number
  /** Process whose CPU time is read at both edges of the window; null for a deployment elsewhere. */
  readonly observePid: number | null
}

/**
 * Why a request has no answer: the connection closed under it, its answer wasn't HTTP as understood here, none came
 * before the drain ended, or (open loop) the queue was full when it was due.
 */
export const FAILURE_KINDS = ['connection-closed', 'malformed', 'timeout', 'not-sent'] as const
export type FailureKind = (typeof FAILURE_KINDS)[number]

/** Numbers of requests of a window. Each request has one outcome, and only `answered` is throughput. */
export interface Outcomes {
  /** Answered as requested, within a second. */
  readonly answered: number
  /** 503 or 429. */
  readonly refused: number
  /** Answered after a second, answered 408, not answered before the drain ended, or never sent. */
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
  /** HdrHistogram V2, compressed, base64; values in microseconds. For merging and drawing. */
  readonly histogram: string
}

export interface AnswerFindings {
  /** Answers with status 200 whose verdict and uuid were looked at. */
  readonly seen: number
  /** Of those, verified in full: the signature recovers to the attester over the statement that was asked for. */
  readonly verified: number
  /** What was wrong, first few only; empty is good. */
  readonly problems: readonly string[]
}

export interface LoadReport {
  readonly name: string
  readonly shape: LoadShape
  /** Length of the measured window as it was. */
  readonly windowMs: number
  /** Answers of any status that arrived within the window. */
  readonly completed: number
  /** `outcomes.answered` per second. */
  readonly throughputPerSecond: number
  /** Closed loop: of answers that arrived within the window. Open loop: of requests due within it. */
  readonly statuses: Readonly<Record<string, number>>
  readonly failures: Readonly<Partial<Record<FailureKind, number>>>
  readonly outcomes: Outcomes
  /** Of 2xx answers, and of requests never answered with the time they had waited. */
  readonly latencyMs: LatencySummary
  /** Latency of refusals, 503 and 429. */
  readonly refusalLatencyMs: LatencySummary
  /** Open loop: how long after each request was due the generator took note of it. None of the server's doing, and no
   * part of the latency: where it is large, something else kept the generator from the processor. */
  readonly generatorDelayMs: LatencySummary | null
  /** How long after the window the last answer came, or waiting ended. */
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

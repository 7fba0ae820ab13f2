// Token bucket of one key in one of several processes. This process holds `lease`; `balance` is shared, and a part of
// it may be used in advance. Pure arithmetic; see rate-exchange.ts for the exchange.
import type { ApiKeyRateLimit } from '../domain/api-key.ts'
import { ROUNDING } from './rate-limit.ts'

/** `lone`: no other process is live. `shared`: several are. `cut`: several are, but the store doesn't respond. */
export type BucketMode = 'lone' | 'shared' | 'cut'

export interface RateBucket {
  readonly keyId: string
  limit: ApiKeyRateLimit
  mode: BucketMode
  /** Tokens that no process holds, as last read and refilled since. In `lone` mode: all tokens. */
  balance: number
  /** Tokens of this process. Negative: spent shared tokens that were not reported yet. */
  lease: number
  /** Tokens spent in `lone` or `cut` mode and not reported yet. Negative: unspent part of an earlier lease. */
  owed: number
  /** Last refill, in monotonic milliseconds. */
  atMs: number
  /** Processes that use the key, as last read. */
  holders: number
  /** Last settlement with the store; -Infinity if there was none. */
  settledMs: number
  /** Time of the last request for tokens. */
  touchedMs: number
  /** Tokens requested since the last settlement, including refused tokens. */
  asked: number
  /** Tokens for which requests wait until the next settlement. */
  awaited: number
  /** Smoothed demand, in tokens per second. */
  demand: number
  /** Largest refused request, and the time until which tokens are reserved for it. */
  short: number
  shortUntilMs: number
}

export interface Surroundings {
  readonly nowMs: number
  readonly processes: number
  readonly mode: BucketMode
}

/** Maximum age of a reliable balance. */
export const FRESH_MS = 2_000
/** Bounds on the use of an unreliable balance by all processes: tokens of a fraction of a second, or a count. */
const OPENING_SECONDS = 0.25
const OPENING_TOKENS = 20

export const openBucket = (
  keyId: string,
  limit: ApiKeyRateLimit,
  { nowMs, mode, processes }: Surroundings,
): RateBucket => ({
  keyId,
  limit,
  mode,
  balance: mode === 'cut' ? 0 : limit.burst,
  lease: mode === 'cut' ? limit.burst / processes : 0,
  owed: 0,
  atMs: nowMs,
  holders: processes,
  settledMs: Number.NEGATIVE_INFINITY,
  touchedMs: nowMs,
  asked: 0,
  awaited: 0,
  demand: 0,
  short: 0,
  shortUntilMs: nowMs,
})

const isFresh = (bucket: RateBucket, nowMs: number): boolean => nowMs - bucket.settledMs < FRESH_MS

const lookAtBalance = (bucket: RateBucket, { nowMs, processes }: Surroundings) => {
  const { requestsPerSecond, burst } = bucket.limit
  const fresh = isFresh(bucket, nowMs)
  const opening = Math.max(requestsPerSecond * OPENING_SECONDS, Math.min(burst, OPENING_TOKENS))
  const believed = fresh ? bucket.balance : Math.min(bucket.balance, opening)
  const sharers = fresh ? Math.max(1, bucket.holders) : processes
  return { fresh, believed, part: Math.max(0, believed) / sharers }
}

const shareOf = (bucket: RateBucket, around: Surroundings): number => {
  const { believed, part } = lookAtBalance(bucket, around)
  return believed <= 0 ? 0 : Math.max(part, Math.min(1, believed))
}

/**
 * Returns true if `cost` is allowed only because `shareOf` permits at least one token. Other processes may do the same.
 */
export const isGuess = (bucket: RateBucket, around: Surroundings, cost: number): boolean => {
  const { fresh, part } = lookAtBalance(bucket, around)
  return !fresh && bucket.lease + part + ROUNDING < cost
}

const changeMode = (bucket: RateBucket, around: Surroundings): void => {
  const { burst } = bucket.limit
  const { mode, processes } = around
  if (mode === 'lone') {
    const own = bucket.mode === 'cut' ? bucket.lease * processes : bucket.lease
    bucket.balance = Math.min(burst, Math.max(0, bucket.balance + own))
    bucket.lease = 0
    bucket.owed = 0
  } else if (mode === 'cut') {
    const part = bucket.mode === 'lone' ? bucket.balance / processes : bucket.lease + shareOf(bucket, around)
    bucket.owed = bucket.mode === 'lone' ? burst - bucket.balance : bucket.owed - bucket.lease
    bucket.lease = Math.min(burst / processes, Math.max(0, part))
    bucket.balance = 0
  } else if (bucket.mode === 'cut') {
    // The stored balance was refilled as if nothing had been spent. Report at most the tokens missing from this share.
    bucket.lease = -Math.min(bucket.owed, burst / processes - bucket.lease)
    bucket.owed = 0
    bucket.balance = burst
    bucket.settledMs = Number.NEGATIVE_INFINITY
  } else {
    // The other processes must account for the tokens that this process spent alone.
    bucket.owed = burst - bucket.balance
    bucket.lease = 0
    bucket.settledMs = Number.NEGATIVE_INFINITY
  }
  bucket.mode = mode
}

/** Applies refilled tokens, a changed limit, and processes that joined or left. */
export const refresh = (bucket: RateBucket, limit: ApiKeyRateLimit, around: Surroundings): void => {
  const { requestsPerSecond, burst } = limit
  const { nowMs, processes } = around
  const refilled = (Math.max(0, nowMs - bucket.atMs) / 1_000) * requestsPerSecond
  bucket.limit = limit
  bucket.atMs = nowMs
  if (bucket.mode === 'cut') bucket.lease = Math.min(burst / processes, bucket.lease + refilled / processes)
  else bucket.balance = Math.min(burst, bucket.balance + refilled)
  if (bucket.mode !== around.mode) changeMode(bucket, around)
}

export const available = (bucket: RateBucket, around: Surroundings): number => {
  if (bucket.mode === 'lone') return bucket.balance
  // In `cut` mode, a process with a small share still admits an occasional request.
  return bucket.mode === 'cut' ? bucket.lease : bucket.lease + shareOf(bucket, around)
}

export const together = (bucket: RateBucket, { processes }: Surroundings): number => {
  const known = bucket.mode === 'cut' ? bucket.lease * processes : bucket.balance + bucket.lease
  return Math.min(bucket.limit.burst, Math.max(0, known))
}

export const spend = (bucket: RateBucket, cost: number): void => {
  if (bucket.mode === 'lone') bucket.balance = Math.max(0, bucket.balance - cost)
  else bucket.lease -= cost
  if (bucket.mode === 'cut') bucket.owed += cost
}

export const wholeTokens = (tokens: number): number => Math.max(0, Math.floor(tokens + ROUNDING))

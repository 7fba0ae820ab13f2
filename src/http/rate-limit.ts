// Token bucket per API key, in memory (decisions §1, "Rate limit"; spec, Errors row 6): `burst` tokens at most, refilled
// at `requestsPerSecond`. A refused request costs nothing. Invariant: over any t seconds a key gets at most
// burst + requestsPerSecond × t, unless its bucket was dropped for being the least recently used of `bucketsMax`.
import { LRUCache } from 'lru-cache'
import type { ApiKeyRateLimit } from '../domain/api-key.ts'
import { CountersignError } from '../domain/errors.ts'
import type { Clock } from '../domain/time.ts'

/** What the RateLimit-* headers say (draft-ietf-httpapi-ratelimit-headers-06). */
export interface RateLimitState {
  /** The most that can be left: the burst. */
  readonly limit: number
  /** Whole tokens left after this request. */
  readonly remaining: number
  /** Seconds until the bucket is full again, rounded up. */
  readonly resetSeconds: number
}

/** Too many requests with one key. */
export class RateExceededError extends CountersignError {
  override readonly name = 'RateExceededError'
  readonly state: RateLimitState
  constructor(state: RateLimitState, retryAfterSeconds: number) {
    super('RATE_LIMITED', 'too many requests; retry with exponential backoff', { retryAfterSeconds })
    this.state = state
  }
}

export interface RateLimiterDependencies {
  readonly clock: Clock
  /** How many keys' buckets are kept. */
  readonly bucketsMax?: number
}

export interface RateLimiter {
  /**
   * Takes `cost` tokens, or none. Null when the key has no limit: then there is nothing to tell.
   * @throws RateExceededError 429
   */
  take(
    principal: { readonly keyId: string; readonly rateLimit: ApiKeyRateLimit | null },
    cost?: number,
  ): RateLimitState | null
}

interface Bucket {
  tokens: number
  atMs: number
}

/** Keeps a wait of exactly Retry-After from failing by a rounding error of the refill. */
const ROUNDING = 1e-6

export const createRateLimiter = ({ clock, bucketsMax = 10_000 }: RateLimiterDependencies): RateLimiter => {
  const buckets = new LRUCache<string, Bucket>({ max: bucketsMax })

  return {
    take: (principal, cost = 1) => {
      const limit = principal.rateLimit
      if (limit === null) return null
      const { requestsPerSecond, burst } = limit
      const nowMs = clock.monotonicMs()
      let bucket = buckets.get(principal.keyId)
      if (bucket === undefined) {
        bucket = { tokens: burst, atMs: nowMs }
        buckets.set(principal.keyId, bucket)
      } else {
        // The minimum also applies a burst that was lowered since.
        bucket.tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.atMs) / 1000) * requestsPerSecond)
        bucket.atMs = nowMs
      }
      const granted = bucket.tokens + ROUNDING >= cost
      if (granted) bucket.tokens = Math.max(0, bucket.tokens - cost)
      const state = {
        limit: burst,
        remaining: Math.floor(bucket.tokens + ROUNDING),
        resetSeconds: Math.ceil((burst - bucket.tokens) / requestsPerSecond),
      }
      if (!granted) {
        throw new RateExceededError(
          state,
          Math.max(1, Math.ceil((cost - bucket.tokens - ROUNDING) / requestsPerSecond)),
        )
      }
      return state
    },
  }
}

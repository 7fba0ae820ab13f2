// Token bucket per API key in one process (decisions §1, "Rate limit"; spec, Errors row 6). Invariant: in t seconds, a
// key gets at most burst + requestsPerSecond × t, unless its bucket was evicted.
import { LRUCache } from 'lru-cache'
import type { ApiKeyRateLimit } from '../domain/api-key.ts'
import { CountersignError } from '../domain/errors.ts'
import { atMostEntries } from '../lib/cache-limit.ts'
import type { Clock } from '../lib/time.ts'

/** RateLimit-* headers (draft-ietf-httpapi-ratelimit-headers-06). */
export interface RateLimitState {
  readonly requestsPerSecond: number
  /** The burst, which is the maximum that can remain. */
  readonly limit: number
  /** Remaining whole tokens. */
  readonly remaining: number
  /** Seconds until the bucket is full again, rounded up. */
  readonly resetSeconds: number
}

export class RateExceededError extends CountersignError {
  readonly state: RateLimitState
  constructor(state: RateLimitState, retryAfterSeconds: number) {
    super('RATE_LIMITED', 'too many requests; retry with exponential backoff', { retryAfterSeconds })
    this.state = state
  }
}

export interface RateLimiterDependencies {
  readonly clock: Clock
  readonly bucketsMax?: number
}

export interface RateLimiter {
  /** Await before taking tokens; synchronizes with other processes if necessary. Never rejects. */
  ready(principal: RateLimited, cost?: number): Promise<void> | undefined
  /** Takes `cost` tokens, or none. Null if the key has no limit. @throws RateExceededError 429 */
  take(principal: RateLimited, cost?: number): RateLimitState | null
  takeSome(principal: RateLimited, wanted: number): Grant
}

export interface RateLimited {
  readonly keyId: string
  readonly rateLimit: ApiKeyRateLimit | null
}

export interface Grant {
  readonly granted: number
  readonly state: RateLimitState | null
  /** Error for the tokens that were not granted; null if all were granted. */
  readonly refusal: RateExceededError | null
}

interface Bucket {
  tokens: number
  atMs: number
}

/** A caller who waits exactly Retry-After must not fail because of a rounding error in the refill. */
export const ROUNDING = 1e-6

const tokensOf = ({ tokens }: Bucket): number => Math.floor(tokens + ROUNDING)

const stateOf = (bucket: Bucket, { burst, requestsPerSecond }: ApiKeyRateLimit): RateLimitState => ({
  requestsPerSecond,
  limit: burst,
  remaining: tokensOf(bucket),
  resetSeconds: Math.ceil((burst - bucket.tokens) / requestsPerSecond),
})

export const refusalOf = (
  state: RateLimitState,
  missing: number,
  { requestsPerSecond }: ApiKeyRateLimit,
): RateExceededError => new RateExceededError(state, Math.max(1, Math.ceil((missing - ROUNDING) / requestsPerSecond)))

export const createRateLimiter = ({ clock, bucketsMax = 100_000 }: RateLimiterDependencies): RateLimiter => {
  const buckets = new LRUCache<string, Bucket>(atMostEntries(bucketsMax))

  const refill = (keyId: string, { requestsPerSecond, burst }: ApiKeyRateLimit): Bucket => {
    const nowMs = clock.monotonicMs()
    let bucket = buckets.get(keyId)
    if (bucket === undefined) {
      bucket = { tokens: burst, atMs: nowMs }
      buckets.set(keyId, bucket)
    } else {
      // The minimum also applies a burst that has been lowered.
      bucket.tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.atMs) / 1000) * requestsPerSecond)
      bucket.atMs = nowMs
    }
    return bucket
  }
  const spend = (bucket: Bucket, cost: number): void => {
    bucket.tokens = Math.max(0, bucket.tokens - cost)
  }

  return {
    ready: () => undefined,
    take: ({ keyId, rateLimit }, cost = 1) => {
      if (rateLimit === null) return null
      const bucket = refill(keyId, rateLimit)
      if (bucket.tokens + ROUNDING < cost) throw refusalOf(stateOf(bucket, rateLimit), cost - bucket.tokens, rateLimit)
      spend(bucket, cost)
      return stateOf(bucket, rateLimit)
    },
    takeSome: ({ keyId, rateLimit }, wanted) => {
      if (rateLimit === null) return { granted: wanted, state: null, refusal: null }
      const bucket = refill(keyId, rateLimit)
      const granted = Math.min(wanted, tokensOf(bucket))
      spend(bucket, granted)
      const state = stateOf(bucket, rateLimit)
      const refusal = granted === wanted ? null : refusalOf(state, wanted - granted - bucket.tokens, rateLimit)
      return { granted, state, refusal }
    },
  }
}

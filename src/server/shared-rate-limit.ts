// Rate limit of a key across all processes, decided in memory with tokens leased from the store (rate-exchange.ts).
// Without the store, each process uses an equal share.
import { LRUCache } from 'lru-cache'
import type { ApiKeyRateLimit } from '../domain/api-key.ts'
import { atMostEntries } from '../lib/cache-limit.ts'
import {
  available,
  FRESH_MS,
  isGuess,
  openBucket,
  type RateBucket,
  refresh,
  type Surroundings,
  spend,
  together,
  wholeTokens,
} from './rate-bucket.ts'
import { RateExchange, type RateExchangeDependencies } from './rate-exchange.ts'
import {
  type Grant,
  type RateExceededError,
  type RateLimited,
  type RateLimiter,
  type RateLimitState,
  ROUNDING,
  refusalOf,
} from './rate-limit.ts'
import { noteShort } from './rate-settlement.ts'

/**
 * Fraction of the burst. If this much is left in total, a request that exceeds this process's tokens waits for an
 * exchange.
 */
const PLENTY = 0.5

export interface SharedRateLimiterDependencies extends RateExchangeDependencies {
  readonly bucketsMax?: number
}

const stateOf = (tokens: number, { burst, requestsPerSecond }: ApiKeyRateLimit): RateLimitState => ({
  requestsPerSecond,
  limit: burst,
  remaining: wholeTokens(tokens),
  resetSeconds: Math.max(0, Math.ceil((burst - tokens) / requestsPerSecond)),
})

const refuse = (bucket: RateBucket, around: Surroundings, cost: number, missing: number): RateExceededError => {
  noteShort(bucket, cost, around.nowMs)
  const left = Math.min(together(bucket, around), Math.max(0, available(bucket, around)))
  return refusalOf(stateOf(left, bucket.limit), missing, bucket.limit)
}

export class SharedRateLimiter implements RateLimiter {
  private readonly buckets: LRUCache<string, RateBucket>
  private readonly exchange: RateExchange

  constructor({ bucketsMax = 100_000, ...dependencies }: SharedRateLimiterDependencies) {
    this.buckets = new LRUCache<string, RateBucket>(atMostEntries(bucketsMax))
    this.exchange = new RateExchange(dependencies)
  }

  ready({ keyId, rateLimit }: RateLimited, cost = 1): Promise<void> | undefined {
    if (rateLimit === null) return undefined
    const around = this.exchange.look()
    if (around.mode !== 'shared' || this.exchange.stopped) return undefined
    const bucket = this.bucketOf(keyId, rateLimit, around, 0)
    const left = together(bucket, around)
    // A batch larger than the available tokens requests the available tokens.
    const wanted = Math.min(cost, wholeTokens(left))
    if (wanted === 0) return undefined
    if (available(bucket, around) + ROUNDING >= wanted && !isGuess(bucket, around, wanted)) return undefined
    const heard = around.nowMs - bucket.settledMs < FRESH_MS
    // If little is left, refuse immediately: under load, no request waits for the store.
    if (heard && left < rateLimit.burst * PLENTY) return undefined
    bucket.asked += wanted
    bucket.awaited += wanted
    return this.exchange.next()
  }

  take({ keyId, rateLimit }: RateLimited, cost = 1): RateLimitState | null {
    if (rateLimit === null) return null
    const around = this.exchange.look()
    const bucket = this.bucketOf(keyId, rateLimit, around, cost)
    const tokens = available(bucket, around)
    if (tokens + ROUNDING < cost) throw refuse(bucket, around, cost, cost - tokens)
    spend(bucket, cost)
    if (cost >= bucket.short) bucket.short = 0
    return stateOf(together(bucket, around), rateLimit)
  }

  takeSome({ keyId, rateLimit }: RateLimited, wanted: number): Grant {
    if (rateLimit === null) return { granted: wanted, state: null, refusal: null }
    const around = this.exchange.look()
    const bucket = this.bucketOf(keyId, rateLimit, around, wanted)
    const granted = Math.min(wanted, wholeTokens(available(bucket, around)))
    spend(bucket, granted)
    const state = stateOf(together(bucket, around), rateLimit)
    const missing = wanted - granted
    const refusal =
      missing === 0 ? null : refuse(bucket, around, missing, missing - Math.max(0, available(bucket, around)))
    return { granted, state, refusal }
  }

  /** Returns true if the store has been unavailable for a while, so that each process uses only its own share. */
  cut(): boolean {
    return this.exchange.look().mode === 'cut'
  }

  stop(): Promise<void> {
    return this.exchange.stop()
  }

  private bucketOf(keyId: string, limit: ApiKeyRateLimit, around: Surroundings, cost: number): RateBucket {
    let bucket = this.buckets.get(keyId)
    if (bucket === undefined) {
      bucket = openBucket(keyId, limit, around)
      this.buckets.set(keyId, bucket)
    } else refresh(bucket, limit, around)
    if (bucket.mode !== 'lone') this.exchange.follow(bucket, around, cost)
    return bucket
  }
}

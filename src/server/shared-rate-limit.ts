// Rate limit of a key across all processes. Requests are decided in memory; every 100 ms at most, each process reports
// spent tokens and leases new ones. Every spent token is reported, so a key gets its rate over time; a brief excess is
// paid back. Without the store, each process uses an equal share.
import { LRUCache } from 'lru-cache'
import type { ApiKeyRateLimit } from '../domain/api-key.ts'
import { atMostEntries } from '../lib/cache-limit.ts'
import type { Clock, Timers } from '../lib/time.ts'
import {
  available,
  type BucketMode,
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
import { type RateExceededError, type RateLimiter, type RateLimitState, ROUNDING, refusalOf } from './rate-limit.ts'
import { noteShort, type RateSettlement, settlementOf } from './rate-settlement.ts'

/** As the store returns it (src/store/rate-leases.ts). */
export interface SettledRate {
  readonly keyId: string
  readonly leased: number
  readonly balance: number
  readonly holders: number
}

export interface SharedRateLimiterDependencies {
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly after: Timers['after']
  /** Number of live processes, including this one. */
  readonly processes: () => number
  /** Rejects if the store is unavailable. */
  readonly exchange: (settlements: readonly RateSettlement[]) => Promise<readonly SettledRate[]>
  readonly onError: (error: unknown) => void
  readonly bucketsMax?: number
}

export interface SharedRateLimiter extends RateLimiter {
  /** Whether the store has been unavailable for a while, so that each process uses only its own share. */
  cut(): boolean
  /** Returns all leased tokens. */
  stop(): Promise<void>
}

const EXCHANGE_MS = 100
/** Additional interval per process, because a key that all processes use is one row. */
const EXCHANGE_MS_PER_PROCESS = 5
/** For a key that this process has not used recently: requests within this time are reported together. */
const OPENING_MS = 5
const RETRY_MS = 250
const CUT_AFTER_MS = 1_000
/** Keys per exchange, a few milliseconds of work. The next keys follow shortly after. */
const KEYS_MAX = 500
const NEXT_KEYS_MS = 20
/**
 * Fraction of the burst. If at least this much is left in total, a request that lacks tokens here waits for the next
 * exchange.
 */
const PLENTY = 0.5
/** Maximum time that a request waits for an exchange. */
const READY_MS = 250

export const createSharedRateLimiter = (dependencies: SharedRateLimiterDependencies): SharedRateLimiter => {
  const { clock, after, processes, exchange, onError, bucketsMax = 100_000 } = dependencies
  const buckets = new LRUCache<string, RateBucket>(atMostEntries(bucketsMax))
  /** Buckets with something to report or a lease to return. */
  const open = new Set<RateBucket>()
  /** Start of the first unanswered exchange. Null if the last exchange was answered. */
  let waitingSinceMs: number | null = null
  let current: Promise<void> | undefined
  let due: { readonly atMs: number; readonly cancel: () => void } | null = null
  /** Called when the next exchange ends. */
  let waiting: (() => void)[] = []
  /** Counted from the end of the current exchange. */
  let nextDelayMs = EXCHANGE_MS
  let stopped = false

  const isCut = (nowMs: number): boolean => waitingSinceMs !== null && nowMs - waitingSinceMs >= CUT_AFTER_MS

  const look = (): Surroundings => {
    const nowMs = clock.monotonicMs()
    const count = processes()
    const mode: BucketMode = count <= 1 ? 'lone' : isCut(nowMs) ? 'cut' : 'shared'
    return { nowMs, processes: Math.max(1, count), mode }
  }
  const intervalMs = (): number => Math.max(EXCHANGE_MS, EXCHANGE_MS_PER_PROCESS * processes())

  const schedule = (delayMs: number): void => {
    if (current !== undefined) nextDelayMs = Math.min(nextDelayMs, delayMs)
    if (stopped || current !== undefined) return
    const atMs = clock.monotonicMs() + delayMs
    if (due !== null) {
      if (due.atMs <= atMs) return
      due.cancel()
    }
    due = { atMs, cancel: after(delayMs, exchangeNow) }
  }

  const collect = (around: Surroundings, ending: boolean) => {
    const told: { readonly bucket: RateBucket; readonly settlement: RateSettlement; readonly owed: number }[] = []
    for (const bucket of open) {
      if (told.length >= KEYS_MAX) break
      refresh(bucket, bucket.limit, around)
      const settlement = bucket.mode === 'lone' ? null : settlementOf(bucket, around, intervalMs(), ending)
      if (settlement !== null) {
        told.push({ bucket, settlement, owed: bucket.owed })
        bucket.asked = 0
        bucket.awaited = 0
      } else if (bucket.mode === 'lone' || around.nowMs - bucket.touchedMs >= FRESH_MS) open.delete(bucket)
    }
    // Move them behind the buckets that had no turn.
    for (const { bucket } of told) {
      open.delete(bucket)
      open.add(bucket)
    }
    if (told.length >= KEYS_MAX) nextDelayMs = Math.min(nextDelayMs, NEXT_KEYS_MS)
    return told
  }

  /** Returns the number of settled keys. */
  const exchangeOnce = async (ending: boolean): Promise<number> => {
    const before = look()
    const told = collect(before, ending)
    if (told.length === 0) return 0
    waitingSinceMs ??= before.nowMs
    const answers = new Map(
      (await exchange(told.map(({ settlement }) => settlement))).map((answer) => [answer.keyId, answer] as const),
    )
    waitingSinceMs = null
    const around = look()
    for (const { bucket, settlement, owed } of told) {
      const answer = answers.get(bucket.keyId)
      if (answer === undefined) continue
      const wasShared = before.mode === 'shared' && bucket.mode === 'shared'
      // The response came so late that the bucket was cut off meanwhile. The store has received the report and granted
      // the lease.
      if (before.mode === 'shared' && bucket.mode === 'cut') bucket.owed -= settlement.owed + answer.leased
      refresh(bucket, bucket.limit, around)
      if (bucket.mode !== 'shared') continue
      if (wasShared) {
        bucket.lease += settlement.owed - owed + answer.leased
        bucket.owed -= owed
      }
      bucket.balance = answer.balance
      bucket.holders = answer.holders
      bucket.settledMs = around.nowMs
    }
    return told.length
  }

  const exchangeNow = (): void => {
    due = null
    if (current !== undefined) return
    nextDelayMs = intervalMs()
    const waited = waiting
    waiting = []
    current = exchangeOnce(false)
      .then(() => undefined)
      .catch((error: unknown) => {
        nextDelayMs = RETRY_MS
        onError(error)
      })
      .finally(() => {
        current = undefined
        for (const tell of waited) tell()
        if (open.size > 0) schedule(nextDelayMs)
      })
  }

  /** Returns the bucket, updated to the current time, before `cost` tokens are taken. */
  const bucketOf = (keyId: string, limit: ApiKeyRateLimit, around: Surroundings, cost: number): RateBucket => {
    let bucket = buckets.get(keyId)
    if (bucket === undefined) {
      bucket = openBucket(keyId, limit, around)
      buckets.set(keyId, bucket)
    } else refresh(bucket, limit, around)
    if (bucket.mode !== 'lone') {
      bucket.touchedMs = around.nowMs
      bucket.asked += cost
      if (!open.has(bucket)) open.add(bucket)
      // The use by other processes is unknown.
      if (around.nowMs - bucket.settledMs >= FRESH_MS) schedule(OPENING_MS)
      else if (due === null) schedule(intervalMs())
    }
    return bucket
  }

  const nextExchange = (): Promise<void> =>
    new Promise((resolve) => {
      const cancel = after(READY_MS, resolve)
      waiting.push(() => {
        cancel()
        resolve()
      })
      schedule(OPENING_MS)
    })

  const stateOf = (tokens: number, { burst, requestsPerSecond }: ApiKeyRateLimit): RateLimitState => ({
    limit: burst,
    remaining: wholeTokens(tokens),
    resetSeconds: Math.max(0, Math.ceil((burst - tokens) / requestsPerSecond)),
  })

  /** Refuses a request of `cost` tokens because `missing` tokens are missing here. */
  const refuse = (bucket: RateBucket, around: Surroundings, cost: number, missing: number): RateExceededError => {
    noteShort(bucket, cost, around.nowMs)
    const left = Math.min(together(bucket, around), Math.max(0, available(bucket, around)))
    return refusalOf(stateOf(left, bucket.limit), missing, bucket.limit)
  }

  return {
    ready: ({ keyId, rateLimit }, cost = 1) => {
      if (rateLimit === null) return undefined
      const around = look()
      if (around.mode !== 'shared' || stopped) return undefined
      const bucket = bucketOf(keyId, rateLimit, around, 0)
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
      return nextExchange()
    },
    take: ({ keyId, rateLimit }, cost = 1) => {
      if (rateLimit === null) return null
      const around = look()
      const bucket = bucketOf(keyId, rateLimit, around, cost)
      const tokens = available(bucket, around)
      if (tokens + ROUNDING < cost) throw refuse(bucket, around, cost, cost - tokens)
      spend(bucket, cost)
      if (cost >= bucket.short) bucket.short = 0
      return stateOf(together(bucket, around), rateLimit)
    },
    takeSome: ({ keyId, rateLimit }, wanted) => {
      if (rateLimit === null) return { granted: wanted, state: null, refusal: null }
      const around = look()
      const bucket = bucketOf(keyId, rateLimit, around, wanted)
      const granted = Math.min(wanted, wholeTokens(available(bucket, around)))
      spend(bucket, granted)
      const state = stateOf(together(bucket, around), rateLimit)
      const missing = wanted - granted
      const refusal =
        missing === 0 ? null : refuse(bucket, around, missing, missing - Math.max(0, available(bucket, around)))
      return { granted, state, refusal }
    },
    cut: () => look().mode === 'cut',
    stop: async () => {
      stopped = true
      due?.cancel()
      due = null
      await current
      try {
        while (!isCut(clock.monotonicMs()) && (await exchangeOnce(true)) === KEYS_MAX);
      } catch (error) {
        onError(error)
      }
    },
  }
}

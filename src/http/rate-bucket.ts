// One key's tokens as one of several processes sees them: what it holds itself (`lease`), and what all have together
// (`balance`), of which it may use its part before it has asked. Pure arithmetic; the exchange is in shared-rate-limit.ts.
import type { ApiKeyRateLimit } from '../domain/api-key.ts'
import { ROUNDING } from './rate-limit.ts'

/** `lone`: no other process lives. `shared`: several do. `cut`: several do, and the store does not answer. */
export type BucketMode = 'lone' | 'shared' | 'cut'

export interface RateBucket {
  readonly keyId: string
  limit: ApiKeyRateLimit
  mode: BucketMode
  /** Tokens that no process holds, as last heard and refilled since. Alone: all there are. */
  balance: number
  /** Tokens that are this process's. Below zero: spent of the balance and not told yet. */
  lease: number
  /** Spent while it was alone or is cut off, and not told yet. Below zero: leased before and not spent. */
  owed: number
  /** Until when it is refilled, monotonic milliseconds. */
  atMs: number
  /** Processes that use the key, as last heard. */
  holders: number
  /** When it was last settled with the others; -Infinity: never. */
  settledMs: number
  /** When it was last asked for tokens. */
  touchedMs: number
  /** Asked for since the last settlement, refused included. */
  asked: number
  /** Tokens for which requests wait until the next settlement. */
  awaited: number
  /** Smoothed, tokens per second. */
  demand: number
  /** The most that was refused in one piece, and for whom it is kept until then. */
  short: number
  shortUntilMs: number
}

/** What is known of the others. */
export interface Surroundings {
  readonly nowMs: number
  /** That live, this one included. */
  readonly processes: number
  readonly mode: BucketMode
}

/** A balance heard longer ago than this is hardly known. */
export const FRESH_MS = 2_000
/** Of a balance that is hardly known all processes together use this much of a second, or so many tokens, at first. */
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

/** What is believed to be left for all, and what of it is this process's. */
const lookAtBalance = (bucket: RateBucket, { nowMs, processes }: Surroundings) => {
  const { requestsPerSecond, burst } = bucket.limit
  const fresh = isFresh(bucket, nowMs)
  const opening = Math.max(requestsPerSecond * OPENING_SECONDS, Math.min(burst, OPENING_TOKENS))
  const believed = fresh ? bucket.balance : Math.min(bucket.balance, opening)
  const sharers = fresh ? Math.max(1, bucket.holders) : processes
  return { fresh, believed, part: Math.max(0, believed) / sharers }
}

/** Of the balance, what this process may use without asking. At least a whole token, if there is one. */
const shareOf = (bucket: RateBucket, around: Surroundings): number => {
  const { believed, part } = lookAtBalance(bucket, around)
  return believed <= 0 ? 0 : Math.max(part, Math.min(1, believed))
}

/** Whether `cost` would be let in for that whole token alone, with nothing known of the others: they may do the same. */
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
    // The stored balance was refilled meanwhile, up to the burst, as if nothing had been spent. What was refilled beyond
    // that nobody has, so of what was spent no more is told than is missing of the own part.
    bucket.lease = -Math.min(bucket.owed, burst / processes - bucket.lease)
    bucket.owed = 0
    bucket.balance = burst
    bucket.settledMs = Number.NEGATIVE_INFINITY
  } else {
    // What it spent alone, the others have to hear of.
    bucket.owed = burst - bucket.balance
    bucket.lease = 0
    bucket.settledMs = Number.NEGATIVE_INFINITY
  }
  bucket.mode = mode
}

/** Brings it to now: what was refilled, a limit that was changed, others that came or went. */
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

/** Tokens that may be spent here and now. */
export const available = (bucket: RateBucket, around: Surroundings): number => {
  if (bucket.mode === 'lone') return bucket.balance
  // A process cut off answers a request now and then, however small its part.
  return bucket.mode === 'cut' ? bucket.lease : bucket.lease + shareOf(bucket, around)
}

/** Tokens that all processes have together, as far as this one knows. */
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

// Decides which tokens a process reports and requests for a key, based on recent use.
import type { RateBucket, Surroundings } from './rate-bucket.ts'

/** Settlement as received by src/store/rate-leases.ts. */
export interface RateSettlement {
  readonly keyId: string
  readonly requestsPerSecond: number
  readonly burst: number
  /** Spent tokens, always deducted. Negative: returned tokens. */
  readonly owed: number
  readonly wanted: number
}

/** Time after which an unused lease is returned: long enough for a Retry-After of one second. */
const IDLE_MS = 2_000
/** Maximum interval between reports, which also return the use by other processes. */
const QUIET_MS = 1_000
/** Minimum period for measuring a rate. */
const MEASURED_MS = 100
/** A lease covers the demand of this many exchanges. */
const AHEAD = 1.5
/** Fraction of the burst below which use is not reported immediately. */
const UNTOLD = 0.01

/** Records a refused request for `cost` tokens, which the next lease reserves. */
export const noteShort = (bucket: RateBucket, cost: number, nowMs: number): void => {
  const kept = nowMs < bucket.shortUntilMs ? bucket.short : 0
  bucket.short = Math.max(kept, Math.min(cost, bucket.limit.burst))
  bucket.shortUntilMs = nowMs + IDLE_MS
}

const targetOf = (bucket: RateBucket, nowMs: number, intervalMs: number): number => {
  const short = nowMs < bucket.shortUntilMs ? bucket.short : 0
  const ahead = (bucket.demand * intervalMs * AHEAD) / 1_000
  return Math.min(bucket.limit.burst, Math.max(short, bucket.awaited, ahead))
}

const measure = (bucket: RateBucket, nowMs: number): void => {
  const sinceMs = Math.min(QUIET_MS, nowMs - bucket.settledMs)
  const perSecond = bucket.asked / (Math.max(MEASURED_MS, sinceMs) / 1_000)
  bucket.demand = bucket.settledMs === Number.NEGATIVE_INFINITY ? perSecond : (bucket.demand + perSecond) / 2
}

/** Returns null if there is nothing to report yet. @param ending true to return all tokens */
export const settlementOf = (
  bucket: RateBucket,
  { nowMs, mode }: Surroundings,
  intervalMs: number,
  ending: boolean,
): RateSettlement | null => {
  const { keyId, limit, lease, owed } = bucket
  const { requestsPerSecond, burst } = limit
  // Requests nothing, only to check whether the store is available again. Spent tokens are reported afterwards.
  if (mode === 'cut') return { keyId, requestsPerSecond, burst, owed: 0, wanted: 0 }
  const idle = ending || nowMs - bucket.touchedMs >= IDLE_MS
  measure(bucket, nowMs)
  const target = idle ? 0 : targetOf(bucket, nowMs, intervalMs)
  const worthTelling = Math.abs(lease - target) + owed >= Math.max(0.5, burst * UNTOLD)
  if (!idle && nowMs - bucket.settledMs < QUIET_MS && !worthTelling) return null
  if (idle && lease === 0 && owed === 0) return null
  const more = target - lease
  // Spent and unneeded tokens are always settled. The rest is leased if available.
  const certain = lease < 0 ? -lease : Math.min(0, more)
  return { keyId, requestsPerSecond, burst, owed: owed + certain, wanted: lease < 0 ? target : Math.max(0, more) }
}

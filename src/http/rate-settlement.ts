// What a process tells the others of a key, and what it asks for until the next time: as much as it lately needed, and
// nothing once it needs none. Pure but for the bucket's own demand.
import type { RateBucket, Surroundings } from './rate-bucket.ts'

/** As the store takes it (src/store/rate-leases.ts). */
export interface RateSettlement {
  readonly keyId: string
  readonly requestsPerSecond: number
  readonly burst: number
  /** Spent already: taken whatever is left. Below zero: tokens that come back. */
  readonly owed: number
  readonly wanted: number
}

/** A lease that is not used goes back; whoever was told to come again in a second finds it still. */
const IDLE_MS = 2_000
/** A process that uses a key at all tells so this often, and hears of the others. */
const QUIET_MS = 1_000
/** A rate is not measured over less. */
const MEASURED_MS = 100
/** A lease is for so many exchanges' demand. */
const AHEAD = 1.5
/** Of the burst: less is not told at once. */
const UNTOLD = 0.01

/** Remembers that `cost` tokens in one piece were not to be had: the next lease is for them. */
export const noteShort = (bucket: RateBucket, cost: number, nowMs: number): void => {
  const kept = nowMs < bucket.shortUntilMs ? bucket.short : 0
  bucket.short = Math.max(kept, Math.min(cost, bucket.limit.burst))
  bucket.shortUntilMs = nowMs + IDLE_MS
}

/** What it should hold for the time until the next exchange. */
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

/**
 * Null: nothing to tell yet.
 * @param ending everything goes back.
 */
export const settlementOf = (
  bucket: RateBucket,
  { nowMs, mode }: Surroundings,
  intervalMs: number,
  ending: boolean,
): RateSettlement | null => {
  const { keyId, limit, lease, owed } = bucket
  const { requestsPerSecond, burst } = limit
  // Asked only to hear whether the store is back: what was spent meanwhile is told then.
  if (mode === 'cut') return { keyId, requestsPerSecond, burst, owed: 0, wanted: 0 }
  const idle = ending || nowMs - bucket.touchedMs >= IDLE_MS
  measure(bucket, nowMs)
  const target = idle ? 0 : targetOf(bucket, nowMs, intervalMs)
  const worthTelling = Math.abs(lease - target) + owed >= Math.max(0.5, burst * UNTOLD)
  if (!idle && nowMs - bucket.settledMs < QUIET_MS && !worthTelling) return null
  if (idle && lease === 0 && owed === 0) return null
  const more = target - lease
  // Spent already, or held and not needed: settled whatever is left. The rest is leased if it is there.
  const certain = lease < 0 ? -lease : Math.min(0, more)
  return { keyId, requestsPerSecond, burst, owed: owed + certain, wanted: lease < 0 ? target : Math.max(0, more) }
}

// Exchanges rate-limit tokens with the store, at most every 100 ms: reports spent tokens and leases new ones. Every
// spent token is reported, so that a brief excess is paid back.
import type { Clock, Timers } from '../lib/time.ts'
import { type BucketMode, FRESH_MS, type RateBucket, refresh, type Surroundings } from './rate-bucket.ts'
import { type RateSettlement, settlementOf } from './rate-settlement.ts'

/** Settlement as returned by src/store/rate-leases.ts. */
export interface SettledRate {
  readonly keyId: string
  readonly leased: number
  readonly balance: number
  readonly holders: number
}

export interface RateExchangeDependencies {
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly after: Timers['after']
  readonly processes: () => number
  readonly exchange: (settlements: readonly RateSettlement[]) => Promise<readonly SettledRate[]>
  readonly onError: (error: unknown) => void
}

const EXCHANGE_MS = 100
/** Additional interval per process, because a key that all processes use is one row. */
const EXCHANGE_MS_PER_PROCESS = 5
/** Interval for keys without recent use, within which requests are reported together. */
const OPENING_MS = 5
const RETRY_MS = 250
const CUT_AFTER_MS = 1_000
/** Maximum keys per exchange: a few milliseconds of work. */
const KEYS_MAX = 500
const NEXT_KEYS_MS = 20
/** Maximum time that a request waits for an exchange. */
const READY_MS = 250

interface Report {
  readonly bucket: RateBucket
  readonly settlement: RateSettlement
  readonly owed: number
}

export class RateExchange {
  /** Buckets with tokens to report or a lease to return. */
  private readonly open = new Set<RateBucket>()
  /** Start of the first unanswered exchange; null if the last exchange was answered. */
  private waitingSinceMs: number | null = null
  private current: Promise<void> | undefined
  private due: { readonly atMs: number; readonly cancel: () => void } | null = null
  private waiting: (() => void)[] = []
  /** Counted from the end of the current exchange. */
  private nextDelayMs = EXCHANGE_MS
  stopped = false

  constructor(private readonly dependencies: RateExchangeDependencies) {}

  look(): Surroundings {
    const { clock, processes } = this.dependencies
    const nowMs = clock.monotonicMs()
    const count = processes()
    const mode: BucketMode = count <= 1 ? 'lone' : this.isCut(nowMs) ? 'cut' : 'shared'
    return { nowMs, processes: Math.max(1, count), mode }
  }

  /** Includes a bucket in the next exchange. @param cost requested tokens */
  follow(bucket: RateBucket, { nowMs }: Surroundings, cost: number): void {
    bucket.touchedMs = nowMs
    bucket.asked += cost
    this.open.add(bucket)
    if (nowMs - bucket.settledMs >= FRESH_MS) this.schedule(OPENING_MS)
    else if (this.due === null) this.schedule(this.intervalMs())
  }

  /** Resolves when the next exchange ends, or after READY_MS. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.dependencies.after(READY_MS, resolve)
      this.waiting.push(() => {
        cancel()
        resolve()
      })
      this.schedule(OPENING_MS)
    })
  }

  async stop(): Promise<void> {
    this.stopped = true
    this.due?.cancel()
    this.due = null
    await this.current
    const { clock, onError } = this.dependencies
    try {
      while (!this.isCut(clock.monotonicMs()) && (await this.exchangeOnce(true)) === KEYS_MAX);
    } catch (error) {
      onError(error)
    }
  }

  private isCut(nowMs: number): boolean {
    return this.waitingSinceMs !== null && nowMs - this.waitingSinceMs >= CUT_AFTER_MS
  }

  private intervalMs(): number {
    return Math.max(EXCHANGE_MS, EXCHANGE_MS_PER_PROCESS * this.dependencies.processes())
  }

  private schedule(delayMs: number): void {
    if (this.current !== undefined) this.nextDelayMs = Math.min(this.nextDelayMs, delayMs)
    if (this.stopped || this.current !== undefined) return
    const { clock, after } = this.dependencies
    const atMs = clock.monotonicMs() + delayMs
    if (this.due !== null) {
      if (this.due.atMs <= atMs) return
      this.due.cancel()
    }
    this.due = { atMs, cancel: after(delayMs, () => this.exchangeNow()) }
  }

  private exchangeNow(): void {
    this.due = null
    if (this.current !== undefined) return
    this.nextDelayMs = this.intervalMs()
    const waited = this.waiting
    this.waiting = []
    this.current = this.exchangeOnce(false)
      .then(() => undefined)
      .catch((error: unknown) => {
        this.nextDelayMs = RETRY_MS
        this.dependencies.onError(error)
      })
      .finally(() => {
        this.current = undefined
        for (const tell of waited) tell()
        if (this.open.size > 0) this.schedule(this.nextDelayMs)
      })
  }

  private async exchangeOnce(ending: boolean): Promise<number> {
    const before = this.look()
    const told = this.collect(before, ending)
    if (told.length === 0) return 0
    this.waitingSinceMs ??= before.nowMs
    const answers = new Map(
      (await this.dependencies.exchange(told.map(({ settlement }) => settlement))).map(
        (answer) => [answer.keyId, answer] as const,
      ),
    )
    this.waitingSinceMs = null
    const around = this.look()
    for (const { bucket, settlement, owed } of told) {
      const answer = answers.get(bucket.keyId)
      if (answer === undefined) continue
      const wasShared = before.mode === 'shared' && bucket.mode === 'shared'
      // The response came after the bucket was cut off. The store has received the report and granted the lease.
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

  private collect(around: Surroundings, ending: boolean): readonly Report[] {
    const told: Report[] = []
    for (const bucket of this.open) {
      if (told.length >= KEYS_MAX) break
      refresh(bucket, bucket.limit, around)
      const settlement = bucket.mode === 'lone' ? null : settlementOf(bucket, around, this.intervalMs(), ending)
      if (settlement !== null) {
        told.push({ bucket, settlement, owed: bucket.owed })
        bucket.asked = 0
        bucket.awaited = 0
      } else if (bucket.mode === 'lone' || around.nowMs - bucket.touchedMs >= FRESH_MS) this.open.delete(bucket)
    }
    // Move them behind the buckets that had no turn.
    for (const { bucket } of told) {
      this.open.delete(bucket)
      this.open.add(bucket)
    }
    if (told.length >= KEYS_MAX) this.nextDelayMs = Math.min(this.nextDelayMs, NEXT_KEYS_MS)
    return told
  }
}

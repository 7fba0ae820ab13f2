// Leaves a source alone that keeps failing: after some failures in a row nothing is asked for a while, then one try
// decides. So a dead source costs its callers nothing, and is not hammered while it recovers.
import type { Clock } from '../domain/time.ts'

export interface BreakerOptions {
  readonly clock: Clock
  /** Failures in a row that open it: 5 unless given. */
  readonly failures?: number
  /** How long it stays open before the next try: 10 s unless given. */
  readonly openMs?: number
}

export interface Breaker {
  /** Whether to ask now. True for one caller once it may be tried again; that caller must report how it went. */
  permits(): boolean
  succeeded(): void
  failed(): void
  readonly open: boolean
}

export const createBreaker = ({ clock, failures = 5, openMs = 10_000 }: BreakerOptions): Breaker => {
  let inARow = 0
  let nextTryMs = Number.NEGATIVE_INFINITY
  const isOpen = (): boolean => inARow >= failures
  return {
    permits: () => {
      if (!isOpen()) return true
      const nowMs = clock.monotonicMs()
      if (nowMs < nextTryMs) return false
      // The next try is this one's outcome away, or as far as if it had failed.
      nextTryMs = nowMs + openMs
      return true
    },
    succeeded: () => {
      inARow = 0
    },
    failed: () => {
      inARow += 1
      if (isOpen()) nextTryMs = clock.monotonicMs() + openMs
    },
    get open() {
      return isOpen()
    },
  }
}

// Circuit breaker: after consecutive failures of a source, suspends requests until a single attempt succeeds.
import type { Clock } from './time.ts'

export interface BreakerOptions {
  readonly clock: Clock
  /** Consecutive failures that open the breaker. Defaults to 5. */
  readonly failures?: number
  /** Time before the next attempt. Defaults to 10 s. */
  readonly openMs?: number
}

export const createBreaker = ({ clock, failures = 5, openMs = 10_000 }: BreakerOptions) => {
  let inARow = 0
  let nextTryMs = Number.NEGATIVE_INFINITY
  const isOpen = (): boolean => inARow >= failures
  return {
    /**
     * Returns whether the caller may use the source. After `openMs`, an open breaker permits one caller only, which must
     * report success or failure, or that it did not use the source.
     */
    permits: (): boolean => {
      if (!isOpen()) return true
      const nowMs = clock.monotonicMs()
      if (nowMs < nextTryMs) return false
      // The next attempt waits for the outcome of this one, or for openMs if none is reported.
      nextTryMs = nowMs + openMs
      return true
    },
    /** The caller that an open breaker has permitted did not use the source: the next caller may. */
    unused: () => {
      nextTryMs = Number.NEGATIVE_INFINITY
    },
    succeeded: () => {
      inARow = 0
    },
    failed: () => {
      inARow += 1
      if (isOpen()) nextTryMs = clock.monotonicMs() + openMs
    },
    get open(): boolean {
      return isOpen()
    },
  }
}

export type Breaker = ReturnType<typeof createBreaker>

// Circuit breaker: after several failures in a row, a source is not asked for a while; then a single try decides
// whether it is asked again. So a dead source costs its callers nothing, and is not hammered while it recovers.
import type { Clock } from './time.ts'

export interface BreakerOptions {
  readonly clock: Clock
  /** Failures in a row that open the breaker. Default: 5. */
  readonly failures?: number
  /** How long the breaker stays open before the next try. Default: 10 s. */
  readonly openMs?: number
}

export interface Breaker {
  /**
   * Whether the caller may ask the source now. When an open breaker may be tried again, this is true for one caller
   * only, and that caller must report success or failure.
   */
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
      // The next try waits for this one's outcome, or for openMs if no outcome is reported.
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

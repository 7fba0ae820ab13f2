// Slows guessing down: after a few free failures each further one doubles the wait, up to a limit, and a success clears
// it. In memory and bounded: the least recently tried are forgotten first.
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../domain/time.ts'
import { TooManyAttemptsError } from '../errors.ts'

export interface ThrottleOptions {
  readonly clock: Clock
  /** Failures without a wait. */
  readonly free: number
  readonly firstWaitSeconds?: number
  readonly longestWaitSeconds?: number
  /** How many keys are kept. */
  readonly keysMax?: number
}

export interface Throttle {
  /** @throws TooManyAttemptsError while the key has to wait */
  check(key: string): void
  fail(key: string): void
  succeed(key: string): void
}

interface Failures {
  count: number
  waitUntilMs: number
}

export const createThrottle = (options: ThrottleOptions): Throttle => {
  const { clock, free, firstWaitSeconds = 2, longestWaitSeconds = 900, keysMax = 10_000 } = options
  const failures = new LRUCache<string, Failures>({ max: keysMax })
  return {
    check: (key) => {
      const known = failures.get(key)
      const waitMs = (known?.waitUntilMs ?? 0) - clock.monotonicMs()
      if (waitMs > 0) throw new TooManyAttemptsError(Math.ceil(waitMs / 1000))
    },
    fail: (key) => {
      const known = failures.get(key) ?? { count: 0, waitUntilMs: 0 }
      known.count += 1
      if (known.count > free) {
        const waitSeconds = Math.min(longestWaitSeconds, firstWaitSeconds * 2 ** Math.min(known.count - free - 1, 20))
        known.waitUntilMs = clock.monotonicMs() + waitSeconds * 1000
      }
      failures.set(key, known)
    },
    succeed: (key) => {
      failures.delete(key)
    },
  }
}

// The rate limit of one process: bursts, refills, costs, and properties of its headers.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createRateLimiter, RateExceededError, type RateLimitState } from '../../src/server/rate-limit.ts'
import { createManualClock } from './manual-clock.ts'

const principal = (requestsPerSecond: number, burst: number, keyId = 'key') => {
  return { keyId, rateLimit: { requestsPerSecond, burst } }
}
const setUp = (settings = {}) => {
  const clock = createManualClock()
  return { clock, limiter: createRateLimiter({ clock, ...settings }) }
}

/** The state if tokens are granted, or the error. */
const attempt = (take: () => RateLimitState | null): RateLimitState | RateExceededError | null => {
  try {
    return take()
  } catch (error) {
    if (error instanceof RateExceededError) return error
    throw error
  }
}

describe('the rate limit', () => {
  test('keeps no state for a key without a limit', () => {
    expect(setUp().limiter.take({ keyId: 'key', rateLimit: null })).toBeNull()
  })

  test('grants a burst, and then one request per refilled token', () => {
    const { clock, limiter } = setUp()
    const key = principal(2, 3)
    const state = { requestsPerSecond: 2, limit: 3 }
    expect(limiter.take(key)).toEqual({ ...state, remaining: 2, resetSeconds: 1 })
    expect(limiter.take(key)).toEqual({ ...state, remaining: 1, resetSeconds: 1 })
    expect(limiter.take(key)).toEqual({ ...state, remaining: 0, resetSeconds: 2 })
    const refused = attempt(() => limiter.take(key)) as RateExceededError
    expect(refused).toBeInstanceOf(RateExceededError)
    expect([refused.code, refused.retryAfterSeconds]).toEqual(['RATE_LIMITED', 1])
    expect(refused.state).toEqual({ ...state, remaining: 0, resetSeconds: 2 })
    clock.advance(499)
    expect(attempt(() => limiter.take(key))).toBeInstanceOf(RateExceededError)
    clock.advance(1)
    expect(limiter.take(key)?.remaining).toBe(0)
    clock.advance(60_000)
    expect(limiter.take(key)?.remaining).toBe(2)
  })

  test('grants a part of a batch, and refuses the rest', () => {
    const { clock, limiter } = setUp()
    const key = principal(2, 5)
    expect(limiter.takeSome(key, 3)).toMatchObject({ granted: 3, state: { remaining: 2 }, refusal: null })
    const some = limiter.takeSome(key, 7)
    expect(some).toMatchObject({ granted: 2, state: { remaining: 0 } })
    // The five missing tokens take two and a half seconds.
    expect(some.refusal?.retryAfterSeconds).toBe(3)
    expect(limiter.takeSome(key, 1)).toMatchObject({ granted: 0 })
    clock.advance(500)
    expect(limiter.takeSome(key, 1)).toMatchObject({ granted: 1, refusal: null })
  })

  test('accumulates fractions of a token', () => {
    const { clock, limiter } = setUp()
    const key = principal(1, 1)
    limiter.take(key)
    for (let part = 1; part < 10; part++) {
      clock.advance(100)
      expect(attempt(() => limiter.take(key))).toBeInstanceOf(RateExceededError)
    }
    clock.advance(100)
    expect(limiter.take(key)?.remaining).toBe(0)
  })

  test('is separate for each key', () => {
    const { limiter } = setUp()
    limiter.take(principal(1, 1, 'a'))
    expect(attempt(() => limiter.take(principal(1, 1, 'a')))).toBeInstanceOf(RateExceededError)
    expect(limiter.take(principal(1, 1, 'b'))?.remaining).toBe(0)
  })

  test('applies a change immediately', () => {
    const { limiter } = setUp()
    limiter.take(principal(1, 100))
    expect(limiter.take(principal(1, 5))).toMatchObject({ limit: 5, remaining: 4 })
  })

  test('grants a cost of several tokens completely or not at all', () => {
    const { limiter } = setUp()
    const key = principal(1, 10)
    expect(limiter.take(key, 7)?.remaining).toBe(3)
    const refused = attempt(() => limiter.take(key, 4)) as RateExceededError
    expect(refused.retryAfterSeconds).toBe(1)
    expect(limiter.take(key, 3)?.remaining).toBe(0)
  })

  test('drops the least recently used key if there are too many keys', () => {
    const { limiter } = setUp({ bucketsMax: 2 })
    limiter.take(principal(1, 1, 'a'))
    limiter.take(principal(1, 1, 'b'))
    limiter.take(principal(1, 1, 'c'))
    expect(limiter.take(principal(1, 1, 'a'))?.remaining).toBe(0)
    expect(attempt(() => limiter.take(principal(1, 1, 'c')))).toBeInstanceOf(RateExceededError)
  })
})

describe('a property', () => {
  const limits = fc.record({
    requestsPerSecond: fc.integer({ min: 1, max: 2_000 }),
    burst: fc.integer({ min: 1, max: 50 }),
  })
  const steps = fc.array(
    fc.record({ waitMs: fc.oneof(fc.constant(0), fc.nat(3_000)), cost: fc.integer({ min: 1, max: 5 }) }),
    { maxLength: 200 },
  )

  test('at most burst + rate × time is granted, and the state is within its range', () => {
    fc.assert(
      fc.property(limits, steps, ({ requestsPerSecond, burst }, attempts) => {
        const { clock, limiter } = setUp()
        let granted = 0
        for (const { waitMs, cost } of attempts) {
          clock.advance(waitMs)
          const result = attempt(() => limiter.take(principal(requestsPerSecond, burst), cost))
          const state = result instanceof RateExceededError ? result.state : result!
          if (!(result instanceof RateExceededError)) granted += cost
          expect(granted).toBeLessThanOrEqual(burst + (requestsPerSecond * clock.monotonicMs()) / 1000 + 1e-3)
          expect(state.limit).toBe(burst)
          expect(state.remaining).toBeWithin(0, burst + 1)
          expect(Number.isInteger(state.remaining) && Number.isInteger(state.resetSeconds)).toBe(true)
          expect(state.resetSeconds).toBeWithin(0, Math.ceil(burst / requestsPerSecond) + 1)
        }
      }),
      { numRuns: 200 },
    )
  })

  test('a request is granted after Retry-After, and the bucket is full after RateLimit-Reset', () => {
    fc.assert(
      fc.property(limits, steps, ({ requestsPerSecond, burst }, attempts) => {
        const { clock, limiter } = setUp()
        const key = principal(requestsPerSecond, burst)
        for (const { waitMs, cost } of attempts) {
          clock.advance(waitMs)
          const affordable = Math.min(cost, burst)
          const result = attempt(() => limiter.take(key, affordable))
          if (result instanceof RateExceededError) {
            clock.advance(result.retryAfterSeconds! * 1000)
            expect(attempt(() => limiter.take(key, affordable))).not.toBeInstanceOf(RateExceededError)
          }
        }
        clock.advance(limiter.take(key, 0)!.resetSeconds * 1000)
        expect(limiter.take(key, burst)?.remaining).toBe(0)
      }),
      { numRuns: 200 },
    )
  })
})

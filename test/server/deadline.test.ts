import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { DeadlineExceededError } from '../../src/domain/errors.ts'
import { createDeadlines, type Deadline } from '../../src/server/deadline.ts'
import { createManualClock, createManualTimers } from './manual-clock.ts'

const DURATION_MS = 25_000

const setUp = () => {
  const clock = createManualClock()
  const timers = createManualTimers()
  const late: unknown[] = []
  const deadlines = createDeadlines({
    clock,
    after: timers.after,
    durationMs: DURATION_MS,
    reportLate: (error) => late.push(error),
  })
  return { clock, timers, late, deadlines }
}

/** Lets everything that is settled reach whoever awaits it. */
const settle = async (): Promise<void> => {
  for (let i = 0; i < 10; i++) await Promise.resolve()
}

describe('before the deadline', () => {
  test('a promise settles as it does; nothing stays behind', async () => {
    const { deadlines, late } = setUp()
    expect(await deadlines.watch(async () => 7)).toBe(7)
    const failure = new Error('own')
    await expect(
      Promise.resolve(
        deadlines.watch(async () => {
          throw failure
        }),
      ),
    ).rejects.toBe(failure)
    await settle()
    expect(deadlines.active()).toBe(0)
    expect(late).toEqual([])
  })

  test('a plain result is returned and a plain error thrown, with no entry left', () => {
    const { deadlines } = setUp()
    expect(deadlines.watch(() => 7)).toBe(7)
    expect(() =>
      deadlines.watch(() => {
        throw new Error('own')
      }),
    ).toThrow('own')
    expect(deadlines.active()).toBe(0)
  })

  test('the inside is told the absolute deadline', () => {
    const { deadlines, clock } = setUp()
    clock.advance(123)
    void deadlines.watch((deadline) => {
      expect(deadline.deadlineMs).toBe(DURATION_MS + 123)
      expect(deadline.passed).toBe(false)
    })
  })
})

describe('at the deadline', () => {
  test('the request is answered 408, the inside sees it, and what it does later is only reported', async () => {
    const { deadlines, clock, timers, late } = setUp()
    const works = [Promise.withResolvers<number>(), Promise.withResolvers<number>()] as const
    const seen: Deadline[] = []
    const signals: AbortSignal[] = []
    const watched = works.map(({ promise }) =>
      Promise.resolve(
        deadlines.watch((deadline, expired) => {
          seen.push(deadline)
          signals.push(expired)
          return promise
        }),
      ).catch((error: unknown) => error),
    )
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false])
    clock.advance(DURATION_MS)
    timers.fire()
    for (const error of await Promise.all(watched)) expect(error).toBeInstanceOf(DeadlineExceededError)
    expect(seen.map(({ passed }) => passed)).toEqual([true, true])
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
    expect(deadlines.active()).toBe(0)
    const failure = new Error('too late')
    works[0].resolve(1)
    works[1].reject(failure)
    await settle()
    expect(late).toEqual([undefined, failure])
    expect(deadlines.late()).toBe(2)
  })

  test('not a millisecond before', async () => {
    const { deadlines, clock, timers } = setUp()
    const { promise, resolve } = Promise.withResolvers<number>()
    const watched = deadlines.watch(() => promise)
    clock.advance(DURATION_MS - 1)
    // A timer may run early by a rounding.
    timers.fire()
    expect(deadlines.active()).toBe(1)
    expect(timers.delayMs()).toBe(1)
    resolve(3)
    expect(await watched).toBe(3)
  })
})

describe('one timer', () => {
  test('is set for the oldest, moves on to the next, and stops when nobody waits', async () => {
    const { deadlines, clock, timers } = setUp()
    const outcomes: string[] = []
    const wait = (name: string): void => {
      void Promise.resolve(deadlines.watch(() => new Promise<void>(() => undefined))).catch(() => outcomes.push(name))
    }
    wait('first')
    clock.advance(10_000)
    wait('second')
    wait('third')
    expect(timers.delayMs()).toBe(DURATION_MS)
    expect(timers.sets()).toBe(1)
    clock.advance(15_000)
    timers.fire()
    await settle()
    expect(outcomes).toEqual(['first'])
    expect(timers.delayMs()).toBe(10_000)
    clock.advance(10_000)
    timers.fire()
    await settle()
    expect(outcomes).toEqual(['first', 'second', 'third'])
    expect(timers.delayMs()).toBeNull()
    wait('fourth')
    expect(timers.delayMs()).toBe(DURATION_MS)
  })

  test('is cancelled by stop, and not set again', () => {
    const { deadlines, timers } = setUp()
    const wait = () => void deadlines.watch(() => new Promise<void>(() => undefined))
    wait()
    deadlines.stop()
    wait()
    expect(timers.delayMs()).toBeNull()
  })

  test('is set once for any number of requests that finish in time', async () => {
    const { deadlines, timers } = setUp()
    for (let i = 0; i < 1_000; i++) await deadlines.watch(async () => i)
    expect(timers.sets()).toBe(1)
    timers.fire()
    expect(timers.delayMs()).toBeNull()
  })

  test('a request that is over holds none of those after it', async () => {
    const { deadlines } = setUp()
    let over: unknown
    const pending = Promise.withResolvers<void>()
    const watched = deadlines.watch((deadline) => {
      over = deadline
      return pending.promise
    })
    void deadlines.watch(() => new Promise<void>(() => undefined))
    pending.resolve()
    await watched
    expect(over).toMatchObject({ earlier: null, later: null })
  })

  test('the real one calls back', async () => {
    const deadlines = createDeadlines({
      clock: { monotonicMs: () => performance.now(), unixSeconds: () => 0 },
      durationMs: 5,
    })
    expect(
      await Promise.resolve(deadlines.watch(() => new Promise<void>(() => undefined))).catch((e) => e),
    ).toBeInstanceOf(DeadlineExceededError)
    deadlines.stop()
  })
})

test('whatever comes and goes: each request is answered once, by itself in time or with 408 at its deadline', async () => {
  type Step = { kind: 'start' } | { kind: 'finish'; which: number } | { kind: 'wait'; ms: number }
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.constant({ kind: 'start' as const }),
    fc.record({ kind: fc.constant('finish' as const), which: fc.nat() }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(12_000) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { deadlines, clock, timers } = setUp()
      const requests: {
        startedMs: number
        finish: (value: string) => void
        outcome: string | null
        endedMs: number
      }[] = []
      for (const each of steps) {
        if (each.kind === 'start') {
          const { promise, resolve } = Promise.withResolvers<string>()
          const request = {
            startedMs: clock.monotonicMs(),
            finish: resolve,
            outcome: null as string | null,
            endedMs: 0,
          }
          const end = (outcome: string): void => {
            expect(request.outcome).toBeNull()
            request.outcome = outcome
            request.endedMs = clock.monotonicMs()
          }
          requests.push(request)
          void Promise.resolve(deadlines.watch(() => promise)).then(end, () => end('408'))
        } else if (each.kind === 'finish') {
          requests[each.which % Math.max(1, requests.length)]?.finish('done')
        } else {
          // The timer runs exactly when it was set for.
          let left = each.ms
          for (let due = timers.delayMs(); due !== null && due <= left; due = timers.delayMs()) {
            clock.advance(due)
            left -= due
            timers.fire()
            await settle()
          }
          clock.advance(left)
          // Fired early, it is set again for what is left.
          if (left > 0) timers.fire()
        }
        await settle()
      }
      for (const { startedMs, outcome, endedMs } of requests) {
        if (outcome === '408') expect(endedMs).toBe(startedMs + DURATION_MS)
        if (outcome === 'done') expect(endedMs).toBeLessThanOrEqual(startedMs + DURATION_MS)
      }
      expect(deadlines.active()).toBe(requests.filter(({ outcome }) => outcome === null).length)
    }),
    { numRuns: 150 },
  )
})

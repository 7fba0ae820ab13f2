// Deadlines of requests: the 408 response, late results, and the single timer.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { DeadlineExceededError } from '../../src/domain/errors.ts'
import { nextTurn } from '../../src/lib/time.ts'
import { createDeadlines, type Deadline } from '../../src/server/deadline.ts'
import { createManualClock, createManualTimers } from './manual-clock.ts'

const DURATION_MS = 25_000

const setUp = () => {
  const clock = createManualClock()
  const timers = createManualTimers()
  const late: unknown[] = []
  const { after } = timers
  const deadlines = createDeadlines({ clock, after, durationMs: DURATION_MS, reportLate: (error) => late.push(error) })
  return { clock, timers, late, deadlines }
}
const never = () => new Promise<void>(() => undefined)
const fail = (): never => {
  throw new Error('own')
}

describe('before the deadline', () => {
  test('a promise keeps its outcome and leaves no entry', async () => {
    const { deadlines, late } = setUp()
    expect(await deadlines.watch(async () => 7)).toBe(7)
    await expect(Promise.resolve(deadlines.watch(async () => fail()))).rejects.toThrow('own')
    await nextTurn()
    expect([deadlines.active(), late]).toEqual([0, []])
  })

  test('a synchronous result or error leaves no entry', () => {
    const { deadlines } = setUp()
    expect(deadlines.watch(() => 7)).toBe(7)
    expect(() => deadlines.watch(fail)).toThrow('own')
    expect(deadlines.active()).toBe(0)
  })

  test('the work receives the absolute deadline', () => {
    const { deadlines, clock } = setUp()
    clock.advance(123)
    const [deadlineMs, passed] = deadlines.watch((deadline) => [deadline.deadlineMs, deadline.passed]) as unknown[]
    expect([deadlineMs, passed]).toEqual([DURATION_MS + 123, false])
  })
})

describe('at the deadline', () => {
  test('the request gets 408, the work is notified, and its later outcome is only reported', async () => {
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
    await nextTurn()
    expect([late, deadlines.late()]).toEqual([[undefined, failure], 2])
  })

  test('and not a millisecond earlier, even if the timer fires early', async () => {
    const { deadlines, clock, timers } = setUp()
    const { promise, resolve } = Promise.withResolvers<number>()
    const watched = deadlines.watch(() => promise)
    clock.advance(DURATION_MS - 1)
    timers.fire()
    expect([deadlines.active(), timers.delayMs()]).toEqual([1, 1])
    resolve(3)
    expect(await watched).toBe(3)
  })
})

describe('the timer', () => {
  test('is set for the oldest request, then for the next, and stops without requests', async () => {
    const { deadlines, clock, timers } = setUp()
    const outcomes: string[] = []
    const wait = (name: string): void => {
      void Promise.resolve(deadlines.watch(never)).catch(() => outcomes.push(name))
    }
    const fireAfter = async (milliseconds: number): Promise<void> => {
      clock.advance(milliseconds)
      timers.fire()
      await nextTurn()
    }
    wait('first')
    clock.advance(10_000)
    wait('second')
    wait('third')
    expect([timers.delayMs(), timers.sets()]).toEqual([DURATION_MS, 1])
    await fireAfter(15_000)
    expect([outcomes, timers.delayMs()]).toEqual([['first'], 10_000])
    await fireAfter(10_000)
    expect([outcomes, timers.delayMs()]).toEqual([['first', 'second', 'third'], null])
    wait('fourth')
    expect(timers.delayMs()).toBe(DURATION_MS)
  })

  test('is canceled by stop() and not set again', () => {
    const { deadlines, timers } = setUp()
    void deadlines.watch(never)
    deadlines.stop()
    void deadlines.watch(never)
    expect(timers.delayMs()).toBeNull()
  })

  test('is set once for many requests that finish in time', async () => {
    const { deadlines, timers } = setUp()
    for (let i = 0; i < 1_000; i++) await deadlines.watch(async () => i)
    expect(timers.sets()).toBe(1)
    timers.fire()
    expect(timers.delayMs()).toBeNull()
  })

  test('keeps no reference from a finished request to later requests', async () => {
    const { deadlines } = setUp()
    let finished: unknown
    const pending = Promise.withResolvers<void>()
    const watched = deadlines.watch((deadline) => {
      finished = deadline
      return pending.promise
    })
    void deadlines.watch(never)
    pending.resolve()
    await watched
    expect(finished).toMatchObject({ earlier: null, later: null })
  })

  test('of the system fires', async () => {
    const clock = { monotonicMs: () => performance.now(), unixSeconds: () => 0 }
    const deadlines = createDeadlines({ clock, durationMs: 5 })
    await expect(Promise.resolve(deadlines.watch(never))).rejects.toThrow(DeadlineExceededError)
    deadlines.stop()
  })
})

test('each request is answered once: in time, or with 408 at its deadline, in any order of events', async () => {
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
          const request: (typeof requests)[number] = {
            startedMs: clock.monotonicMs(),
            finish: resolve,
            outcome: null,
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
          // The timer fires at its exact time.
          let left = each.ms
          for (let due = timers.delayMs(); due !== null && due <= left; due = timers.delayMs()) {
            clock.advance(due)
            left -= due
            timers.fire()
            await nextTurn()
          }
          clock.advance(left)
          // A timer that fires early is set again for the rest.
          if (left > 0) timers.fire()
        }
        await nextTurn()
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

// Asking a source that may fail: breaker, answers that are kept, questions that are shared.
import { describe, expect, test } from 'bun:test'
import { createRemote } from '../../src/facts/remote.ts'
import { createBreaker } from '../../src/lib/breaker.ts'
import { createManualClock } from '../server/manual-clock.ts'

describe('a breaker', () => {
  test('opens within ten failures in a row, and not for fewer between successes', () => {
    const breaker = createBreaker({ clock: createManualClock() })
    for (let count = 0; count < 20; count++) {
      expect(breaker.permits()).toBe(true)
      if (count % 4 === 3) breaker.succeeded()
      else breaker.failed()
    }
    let failures = 0
    while (breaker.permits()) {
      breaker.failed()
      failures += 1
    }
    expect(failures).toBeLessThanOrEqual(10)
    expect(breaker.open).toBe(true)
  })

  test('lets one try through after a while: it closes on success, stays open on failure', () => {
    const clock = createManualClock()
    const breaker = createBreaker({ clock, failures: 2, openMs: 1_000 })
    breaker.failed()
    breaker.failed()
    expect(breaker.permits()).toBe(false)
    clock.advance(1_000)
    expect([breaker.permits(), breaker.permits()]).toEqual([true, false])
    breaker.failed()
    clock.advance(999)
    expect(breaker.permits()).toBe(false)
    clock.advance(1)
    expect(breaker.permits()).toBe(true)
    breaker.succeeded()
    expect([breaker.permits(), breaker.permits(), breaker.open]).toEqual([true, true, false])
  })

  test('is not stuck by a try that never ends', () => {
    const clock = createManualClock()
    const breaker = createBreaker({ clock, failures: 1, openMs: 1_000 })
    breaker.failed()
    clock.advance(1_000)
    expect(breaker.permits()).toBe(true)
    clock.advance(1_000)
    expect(breaker.permits()).toBe(true)
  })
})

describe('a remote source', () => {
  const create = (overrides: Partial<Parameters<typeof createRemote>[0]> = {}) => {
    const clock = createManualClock()
    const errors: unknown[] = []
    const remote = createRemote<string>({
      clock,
      keepMs: 1_000,
      keptMax: 10,
      underWayMax: 3,
      onError: (error) => errors.push(error),
      ...overrides,
    })
    return { clock, errors, remote }
  }
  const failing = (): Promise<string> => Promise.reject(new Error('down'))

  test('is asked once for what several ask at once, and not again while the answer is kept', async () => {
    const { clock, remote } = create()
    let asked = 0
    const question = async (): Promise<string> => `answer ${++asked}`
    const answers = [remote.ask('a', question), remote.ask('a', question)]
    expect(await Promise.all(answers)).toEqual(['answer 1', 'answer 1'])
    // At hand: no promise.
    expect(remote.ask('a', question)).toBe('answer 1')
    clock.advance(999)
    expect(remote.ask('a', question)).toBe('answer 1')
    clock.advance(1)
    expect(await remote.ask('a', question)).toBe('answer 2')
    expect(remote.counts()).toEqual({ kept: 2, answered: 2, failed: 0, refused: 0, open: false })
  })

  test('that fails has no answer, is left alone after a few times, and recovers', async () => {
    const { clock, errors, remote } = create()
    let calls = 0
    for (let count = 0; count < 20; count++) {
      const asked = remote.ask(`${count}`, () => {
        calls += 1
        return failing()
      })
      expect(await asked).toBeNull()
    }
    expect(calls).toBe(5)
    expect(errors).toHaveLength(5)
    expect(remote.counts()).toEqual({ kept: 0, answered: 0, failed: 5, refused: 15, open: true })
    // Refused at once, without a promise.
    expect(remote.ask('x', failing)).toBeNull()
    clock.advance(10_000)
    expect(await remote.ask('x', async () => 'back')).toBe('back')
    expect(await remote.ask('y', async () => 'again')).toBe('again')
  })

  test('a failure is not kept', async () => {
    const { remote } = create()
    expect(await remote.ask('a', failing)).toBeNull()
    expect(await remote.ask('a', async () => 'good')).toBe('good')
  })

  test('has a bounded number of questions under way', async () => {
    const { remote } = create()
    const waiting = Promise.withResolvers<string>()
    const asked = ['a', 'b', 'c'].map((key) => remote.ask(key, () => waiting.promise))
    expect(remote.ask('d', async () => 'd')).toBeNull()
    expect(remote.ask('a', async () => 'other')).toBeInstanceOf(Promise)
    waiting.resolve('late')
    expect(await Promise.all(asked)).toEqual(['late', 'late', 'late'])
    expect(await remote.ask('d', async () => 'd')).toBe('d')
  })

  test('keeps nothing when it is told to', async () => {
    const { remote } = create({ keepMs: 0 })
    expect(await remote.ask('a', async () => 'one')).toBe('one')
    expect(await remote.ask('a', async () => 'two')).toBe('two')
  })
})

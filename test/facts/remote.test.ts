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
      waitingMax: 2,
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

  test('is tried by the next caller if the one that may try it does not', async () => {
    const clock = createManualClock()
    const breaker = createBreaker({ clock, failures: 1 })
    const { remote } = create({ clock, breaker, underWayMax: 1, waitingMax: 1 })
    breaker.failed()
    clock.advance(10_000)
    const late = remote.ask('late', async () => 'late', { organizationId: '', deadlineMs: clock.monotonicMs() })
    expect(await late).toBeNull()
    expect(await remote.ask('next', async () => 'back')).toBe('back')
    // Its queue is full.
    for (const key of ['endless', 'waiting']) void remote.ask(key, () => new Promise(() => undefined))
    breaker.failed()
    clock.advance(10_000)
    expect(remote.ask('crowded', async () => 'crowded')).toBeNull()
    expect(breaker.permits()).toBe(true)
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

  test('is not left alone for failures of single questions, and answers again if it fails so when it is tried', async () => {
    const { clock, remote } = create({ isQuestionsFault: (error) => error instanceof RangeError })
    const rejected = (): Promise<string> => Promise.reject(new RangeError('unknown wallet'))
    for (let count = 0; count < 20; count++) expect(await remote.ask('a', rejected)).toBeNull()
    expect(remote.counts()).toMatchObject({ failed: 20, refused: 0, open: false })
    for (let count = 0; count < 5; count++) await remote.ask('a', failing)
    expect(remote.counts()).toMatchObject({ open: true })
    clock.advance(10_000)
    expect(await remote.ask('a', rejected)).toBeNull()
    expect(await remote.ask('b', async () => 'good')).toBe('good')
  })

  test('a failure is not kept', async () => {
    const { remote } = create()
    expect(await remote.ask('a', failing)).toBeNull()
    expect(await remote.ask('a', async () => 'good')).toBe('good')
  })

  describe('has a bounded number of questions under way, and', () => {
    const settled = () => new Promise<void>((resolve) => setImmediate(resolve))
    const callerOf = (organizationId: string, deadlineMs = 25_000) => ({ organizationId, deadlineMs })
    /** Asks for an organization; the question is answered by its own key when `answer` is called. */
    const ask = () => {
      const { clock, remote } = create()
      const open: { readonly key: string; readonly answer: () => void }[] = []
      const question = (key: string) => () => {
        const answer = Promise.withResolvers<string>()
        open.push({ key, answer: () => answer.resolve(key) })
        return answer.promise
      }
      return {
        clock,
        remote,
        under: () => open.map(({ key }) => key).join(''),
        answerNext: async () => {
          await settled()
          open.shift()?.answer()
          await settled()
        },
        from: (organizationId: string, key: string, deadlineMs?: number) =>
          remote.ask(key, question(key), callerOf(organizationId, deadlineMs)),
      }
    }

    test('one organization’s do not refuse or delay another’s', async () => {
      const { remote, from, under, answerNext } = ask()
      const asked = [...'abcde'].map((key) => from('A', key))
      expect(from('A', 'f')).toBeNull()
      const others = [from('B', 'x'), from('B', 'd')]
      expect(from('A', 'd')).toBe(asked[3]!)
      await answerNext()
      await answerNext()
      // The question that waits in both organizations is asked in the turn of the one that comes first, once.
      expect(under()).toBe('cxd')
      for (let count = 0; count < 4; count++) await answerNext()
      expect(await Promise.all([...asked, ...others])).toEqual([...'abcdexd'])
      expect(remote.counts()).toMatchObject({ answered: 6, refused: 1 })
    })

    test('a question whose turn comes past the deadline is not asked, unless another request waits for it', async () => {
      const { clock, remote, from, answerNext } = ask()
      const asked = [...'abc'].map((key) => from('A', key))
      const late = [from('A', 'd', 5_000), from('A', 'e', 5_000), from('A', 'e', 25_000)]
      clock.advance(5_000)
      for (let count = 0; count < 4; count++) await answerNext()
      expect(await Promise.all([...asked, ...late])).toEqual(['a', 'b', 'c', null, 'e', 'e'])
      expect(remote.counts()).toMatchObject({ answered: 4, refused: 1 })
    })

    test('none is asked when the source has failed meanwhile', async () => {
      const { remote } = create({ underWayMax: 1, waitingMax: 10 })
      const asked = [...'abcdefg'].map((key) => remote.ask(key, failing))
      expect(await Promise.all(asked)).toEqual(Array.from({ length: 7 }, () => null))
      expect(remote.counts()).toMatchObject({ failed: 5, refused: 2 })
    })
  })

  test('keeps nothing when it is told to', async () => {
    const { remote } = create({ keepMs: 0 })
    expect(await remote.ask('a', async () => 'one')).toBe('one')
    expect(await remote.ask('a', async () => 'two')).toBe('two')
  })
})

// Remote sources: the circuit breaker, cached answers, shared queries, and queues of organizations.
import { describe, expect, test } from 'bun:test'
import { createRemote } from '../../src/facts/remote.ts'
import { createBreaker } from '../../src/lib/breaker.ts'
import { createManualClock } from '../server/manual-clock.ts'

describe('a breaker', () => {
  test('opens after ten consecutive failures, and not after fewer', () => {
    const breaker = createBreaker({ clock: createManualClock() })
    for (let count = 0; count < 20; count++) {
      expect(breaker.permits()).toBe(true)
      if (count % 4 === 3) breaker.succeeded()
      else breaker.failed()
    }
    let failures = 0
    for (; breaker.permits(); failures++) breaker.failed()
    expect(failures).toBeLessThanOrEqual(10)
    expect(breaker.open).toBe(true)
  })

  test('permits one trial after some time, and closes if it succeeds', () => {
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

  test('permits another trial if a trial never ends', () => {
    const clock = createManualClock()
    const breaker = createBreaker({ clock, failures: 1, openMs: 1_000 })
    breaker.failed()
    for (let trial = 0; trial < 2; trial++) {
      clock.advance(1_000)
      expect(breaker.permits()).toBe(true)
    }
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

  test('receives one query for concurrent requests, and none while the response is cached', async () => {
    const { clock, remote } = create()
    let queries = 0
    const query = async (): Promise<string> => `answer ${++queries}`
    expect(await Promise.all([remote.ask('a', query), remote.ask('a', query)])).toEqual(['answer 1', 'answer 1'])
    expect(remote.ask('a', query)).toBe('answer 1')
    clock.advance(999)
    expect(remote.ask('a', query)).toBe('answer 1')
    clock.advance(1)
    expect(await remote.ask('a', query)).toBe('answer 2')
    expect(remote.counts()).toEqual({ kept: 2, answered: 2, failed: 0, refused: 0, open: false })
  })

  test('receives its trial query from the next caller if the first caller does not use it', async () => {
    const clock = createManualClock()
    const breaker = createBreaker({ clock, failures: 1 })
    const { remote } = create({ clock, breaker, underWayMax: 1, waitingMax: 1 })
    breaker.failed()
    clock.advance(10_000)
    const late = remote.ask('late', async () => 'late', { organizationId: '', deadlineMs: clock.monotonicMs() })
    expect(await late).toBeNull()
    expect(await remote.ask('next', async () => 'back')).toBe('back')
    // The queue is full.
    for (const key of ['endless', 'waiting']) void remote.ask(key, () => new Promise(() => undefined))
    breaker.failed()
    clock.advance(10_000)
    expect(remote.ask('crowded', async () => 'crowded')).toBeNull()
    expect(breaker.permits()).toBe(true)
  })

  test('receives no queries after some failures, and recovers', async () => {
    const { clock, errors, remote } = create()
    let queries = 0
    for (let count = 0; count < 20; count++) {
      const query = () => {
        queries += 1
        return failing()
      }
      expect(await remote.ask(`${count}`, query)).toBeNull()
    }
    expect([queries, errors.length]).toEqual([5, 5])
    expect(remote.counts()).toEqual({ kept: 0, answered: 0, failed: 5, refused: 15, open: true })
    expect(remote.ask('x', failing)).toBeNull()
    clock.advance(10_000)
    expect(await remote.ask('x', async () => 'back')).toBe('back')
    expect(await remote.ask('y', async () => 'again')).toBe('again')
  })

  test('remains in use after rejected queries, even if the trial query is rejected', async () => {
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

  test('a failure is not cached', async () => {
    const { remote } = create()
    expect(await remote.ask('a', failing)).toBeNull()
    expect(await remote.ask('a', async () => 'good')).toBe('good')
  })

  describe('with a bounded number of queries', () => {
    const settled = () => new Promise<void>((resolve) => setImmediate(resolve))
    /** Sends queries for organizations; each is answered with its key by `answerNext`. */
    const createQueue = () => {
      const { clock, remote } = create()
      const running: { readonly key: string; readonly answer: () => void }[] = []
      return {
        clock,
        remote,
        running: () => running.map(({ key }) => key).join(''),
        answerNext: async () => {
          await settled()
          running.shift()?.answer()
          await settled()
        },
        send: (organizationId: string, key: string, deadlineMs = 25_000) => {
          const query = () => {
            const answer = Promise.withResolvers<string>()
            running.push({ key, answer: () => answer.resolve(key) })
            return answer.promise
          }
          return remote.ask(key, query, { organizationId, deadlineMs })
        },
      }
    }

    test('does not refuse or delay an organization because of another', async () => {
      const { remote, send, running, answerNext } = createQueue()
      const ours = [...'abcde'].map((key) => send('A', key))
      expect(send('A', 'f')).toBeNull()
      const others = [send('B', 'x'), send('B', 'd')]
      expect(send('A', 'd')).toBe(ours[3]!)
      await answerNext()
      await answerNext()
      // A query that waits in both organizations is sent once, in the turn of the first.
      expect(running()).toBe('cxd')
      for (let count = 0; count < 4; count++) await answerNext()
      expect(await Promise.all([...ours, ...others])).toEqual([...'abcdexd'])
      expect(remote.counts()).toMatchObject({ answered: 6, refused: 1 })
    })

    test('does not receive a query after its deadline, unless another request waits for it', async () => {
      const { clock, remote, send, answerNext } = createQueue()
      const pending = [...'abc'].map((key) => send('A', key))
      const late = [send('A', 'd', 5_000), send('A', 'e', 5_000), send('A', 'e', 25_000)]
      clock.advance(5_000)
      for (let count = 0; count < 4; count++) await answerNext()
      expect(await Promise.all([...pending, ...late])).toEqual(['a', 'b', 'c', null, 'e', 'e'])
      expect(remote.counts()).toMatchObject({ answered: 4, refused: 1 })
    })

    test('does not receive queued queries after it fails', async () => {
      const { remote } = create({ underWayMax: 1, waitingMax: 10 })
      const pending = [...'abcdefg'].map((key) => remote.ask(key, failing))
      expect(await Promise.all(pending)).toEqual(Array.from({ length: 7 }, () => null))
      expect(remote.counts()).toMatchObject({ failed: 5, refused: 2 })
    })
  })

  test('does not cache responses if the cache time is zero', async () => {
    const { remote } = create({ keepMs: 0 })
    expect(await remote.ask('a', async () => 'one')).toBe('one')
    expect(await remote.ask('a', async () => 'two')).toBe('two')
  })
})

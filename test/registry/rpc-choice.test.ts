// The choice among RPC URLs: their order, the number that must agree, and the skipping of failed URLs.
import { describe, expect, test } from 'bun:test'
import type { JsonRpc } from '../../src/facts/json-rpc.ts'
import { createRpcChoice, RpcUnavailableError } from '../../src/facts/rpc-choice.ts'
import { createManualClock } from '../server/manual-clock.ts'

type Behavior = () => string | Promise<string>

const setup = (agreement: number, ...behaviors: Behavior[]) => {
  const clock = createManualClock()
  const queried: number[] = []
  const verified: number[] = []
  const failed: number[] = []
  const wrongChain = new Set<number>()
  const rpcs = behaviors.map(
    (behave, index): JsonRpc => ({
      request: async (method) => {
        if (method === 'verify') {
          verified.push(index)
          if (wrongChain.has(index)) throw new Error('another chain')
          return null
        }
        queried.push(index)
        return behave()
      },
    }),
  )
  const choice = createRpcChoice({
    rpcs,
    verify: async (rpc) => void (await rpc.request('verify', [])),
    agreement,
    clock,
    onError: (_, index) => failed.push(index),
  })
  const query = (): Promise<string> => choice.ask(async (rpc) => String(await rpc.request('question', [])))
  const failure = (): Promise<string> =>
    query().then(
      () => expect.unreachable(),
      (error: unknown) => {
        expect(error).toBeInstanceOf(RpcUnavailableError)
        return (error as RpcUnavailableError).detail
      },
    )
  return { clock, queried, verified, failed, wrongChain, query, failure }
}

const returns = (answer: string) => () => answer
const fails = () => Promise.reject(new Error('down'))

describe('one result', () => {
  test('comes from the first URL, whose chain is verified once', async () => {
    const { query, queried, verified } = setup(1, returns('a'), returns('b'))
    expect([await query(), await query()]).toEqual(['a', 'a'])
    expect([queried, verified]).toEqual([[0, 0], [0]])
  })

  test('comes from the next URL if one fails or serves another chain', async () => {
    const { query, failed, queried, wrongChain } = setup(1, fails, returns('b'), returns('c'))
    wrongChain.add(1)
    expect(await query()).toBe('c')
    expect({ failed, queried }).toEqual({ failed: [0, 1], queried: [0, 2] })
  })

  test('is an error if all URLs fail', async () => {
    const { failure, failed } = setup(1, fails, fails)
    expect(await failure()).toBe('too few RPC URLs responded')
    expect(failed).toEqual([0, 1])
  })

  test('skips a URL after five consecutive failures, and retries it after 10 seconds', async () => {
    let down = true
    const { query, queried, clock } = setup(1, () => (down ? fails() : 'a'), returns('b'))
    for (let i = 0; i < 5; i++) await query()
    expect(queried.filter((index) => index === 0)).toHaveLength(5)
    await query()
    expect(queried.filter((index) => index === 0)).toHaveLength(5)
    down = false
    clock.advance(10_000)
    expect(await query()).toBe('a')
    expect(await query()).toBe('a')
  })

  test('is an immediate error if all URLs are skipped', async () => {
    const { failure, queried } = setup(1, fails)
    for (let i = 0; i < 5; i++) await failure()
    await failure()
    expect(queried).toHaveLength(5)
  })

  test('sends a URL of another chain only verifications, one per query', async () => {
    const { query, queried, verified, wrongChain } = setup(1, returns('lie'), returns('b'))
    wrongChain.add(0)
    await query()
    await query()
    expect([queried, verified.filter((index) => index === 0).length]).toEqual([[1, 1], 2])
    wrongChain.clear()
    expect(await query()).toBe('lie')
  })
})

describe('an agreement of two', () => {
  test('suffices without a query to the third URL', async () => {
    const { query, queried } = setup(2, returns('a'), returns('a'), returns('b'))
    expect(await query()).toBe('a')
    expect(queried).toEqual([0, 1])
  })

  test('may consist of the first and the third', async () => {
    const { query, queried } = setup(2, returns('a'), returns('lie'), returns('a'))
    expect(await query()).toBe('a')
    expect(queried).toEqual([0, 1, 2])
    const { query: queryWithFailure } = setup(2, returns('a'), fails, returns('a'))
    expect(await queryWithFailure()).toBe('a')
  })

  test('outvotes a first URL with a wrong result', async () => {
    expect(await setup(2, returns('lie'), returns('a'), returns('a')).query()).toBe('a')
  })

  test('is required: one result, or different results, are an error', async () => {
    expect(await setup(2, returns('a'), fails).failure()).toBe('too few RPC URLs responded')
    expect(await setup(2, returns('a'), returns('b')).failure()).toBe('the RPC URLs returned different answers')
    expect(await setup(2, returns('a'), returns('b'), returns('c')).failure()).toBe(
      'the RPC URLs returned different answers',
    )
  })
})

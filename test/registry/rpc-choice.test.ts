// One answer from several RPC URLs: which are asked, in which order, how many have to agree, and which are left alone.
import { describe, expect, test } from 'bun:test'
import type { JsonRpc } from '../../src/facts/json-rpc.ts'
import { createRpcChoice, RpcUnavailableError } from '../../src/facts/rpc-choice.ts'
import { createManualClock } from '../server/manual-clock.ts'

type Behaviour = () => string | Promise<string>

const setup = (agreement: number, ...behaviours: Behaviour[]) => {
  const clock = createManualClock()
  const asked: number[] = []
  const verified: number[] = []
  const failed: number[] = []
  const wrongChain = new Set<number>()
  const rpcs = behaviours.map(
    (behave, index): JsonRpc => ({
      request: async (method) => {
        if (method === 'verify') {
          verified.push(index)
          if (wrongChain.has(index)) throw new Error('another chain')
          return null
        }
        asked.push(index)
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
  const ask = (): Promise<string> => choice.ask(async (rpc) => String(await rpc.request('question', [])))
  const failure = (): Promise<string> =>
    ask().then(
      () => expect.unreachable(),
      (error: unknown) => (error as RpcUnavailableError).detail,
    )
  return { clock, asked, verified, failed, wrongChain, ask, failure }
}

const says = (answer: string) => () => answer
const fails = () => Promise.reject(new Error('down'))

describe('one answer', () => {
  test('comes from the first URL, which is checked once', async () => {
    const { ask, asked, verified } = setup(1, says('a'), says('b'))
    expect([await ask(), await ask()]).toEqual(['a', 'a'])
    expect([asked, verified]).toEqual([[0, 0], [0]])
  })

  test('comes from the next one when one fails or serves another chain', async () => {
    const { ask, failed, asked, wrongChain } = setup(1, fails, says('b'), says('c'))
    wrongChain.add(1)
    expect(await ask()).toBe('c')
    expect([failed, asked]).toEqual([
      [0, 1],
      [0, 2],
    ])
  })

  test('is none when all fail', async () => {
    const { failure, failed } = setup(1, fails, fails)
    expect(await failure()).toBe('too few RPC URLs responded')
    expect(failed).toEqual([0, 1])
  })

  test('leaves a URL alone that failed five times in a row, and tries it again after a while', async () => {
    let down = true
    const { ask, asked, clock } = setup(1, () => (down ? fails() : 'a'), says('b'))
    for (let i = 0; i < 5; i++) await ask()
    expect(asked.filter((index) => index === 0)).toHaveLength(5)
    await ask()
    expect(asked.filter((index) => index === 0)).toHaveLength(5)
    down = false
    clock.advance(10_000)
    expect(await ask()).toBe('a')
    expect(await ask()).toBe('a')
  })

  test('is none at once when all are left alone', async () => {
    const { failure, asked } = setup(1, fails)
    for (let i = 0; i < 5; i++) await failure()
    await failure()
    expect(asked).toHaveLength(5)
  })

  test('asks a URL of another chain nothing else, each time it looks again', async () => {
    const { ask, asked, verified, wrongChain } = setup(1, says('lie'), says('b'))
    wrongChain.add(0)
    await ask()
    await ask()
    expect([asked, verified.filter((index) => index === 0).length]).toEqual([[1, 1], 2])
    wrongChain.clear()
    expect(await ask()).toBe('lie')
  })
})

describe('two that agree', () => {
  test('are enough, and no third is asked', async () => {
    const { ask, asked } = setup(2, says('a'), says('a'), says('b'))
    expect(await ask()).toBe('a')
    expect(asked).toEqual([0, 1])
  })

  test('may be the first and the third', async () => {
    const { ask, asked } = setup(2, says('a'), says('lie'), says('a'))
    expect(await ask()).toBe('a')
    expect(asked).toEqual([0, 1, 2])
    const { ask: askDown } = setup(2, says('a'), fails, says('a'))
    expect(await askDown()).toBe('a')
  })

  test('outvote a first one that lies', async () => {
    expect(await setup(2, says('lie'), says('a'), says('a')).ask()).toBe('a')
  })

  test('are needed: one alone, or two that differ, are no answer', async () => {
    expect(await setup(2, says('a'), fails).failure()).toBe('too few RPC URLs responded')
    expect(await setup(2, says('a'), says('b')).failure()).toBe('the RPC URLs returned different answers')
    expect(await setup(2, says('a'), says('b'), says('c')).failure()).toBe('the RPC URLs returned different answers')
  })
})

test('RpcUnavailableError is what is thrown', async () => {
  const { ask } = setup(1, fails)
  expect(await ask().catch((error: unknown) => error)).toBeInstanceOf(RpcUnavailableError)
})

// The base fee of a chain's latest block, over nodes of the test's own.
import { describe, expect, test } from 'bun:test'
import { askBaseFee } from '../../src/facts/sources/base-fee.ts'
import { createManualClock } from '../server/manual-clock.ts'
import { chainOf } from '../support/request.ts'
import { NOTHING_ELSE, subjectOf } from './fixtures.ts'

interface FakeNode {
  chainId: string
  block: unknown
  down: boolean
  asked: string[]
}

const A = 'https://a.example/key'
const B = 'https://b.example'

const create = () => {
  const clock = createManualClock()
  const errors: (string | null)[] = []
  const nodeOf = (): FakeNode => ({ chainId: '0x2105', block: { baseFeePerGas: '0x3b9aca00' }, down: false, asked: [] })
  const nodes: Record<string, FakeNode> = { [A]: nodeOf(), [B]: nodeOf() }
  const fees = askBaseFee({
    ...NOTHING_ELSE,
    chains: [{ name: 'base', chainId: 8453, rpcUrls: [A, B], blockTimeMs: 2_000 }],
    timeoutMs: 1_000,
    clock,
    onError: (_error, _chain, url) => errors.push(url),
    connect: (url) => ({
      request: async (method) => {
        const node = nodes[url]!
        node.asked.push(method)
        if (node.down) throw new Error('down')
        return method === 'eth_chainId' ? node.chainId : node.block
      },
    }),
  })
  const ask = (chain = 'base') => fees.ask(subjectOf({ chain: chainOf(chain) }))
  return { ask, counts: () => fees.counts?.().get('base'), clock, errors, first: nodes[A]!, second: nodes[B]! }
}

describe('the base fee', () => {
  test('is asked for once and kept for a block', async () => {
    const { ask, counts, clock, first, second } = create()
    const [one, other] = [ask(), ask()]
    expect(await one).toEqual({ wei: '1000000000' })
    expect(await other).toEqual({ wei: '1000000000' })
    expect(ask()).toEqual({ wei: '1000000000' })
    expect(first.asked).toEqual(['eth_chainId', 'eth_getBlockByNumber'])
    first.block = { baseFeePerGas: '0x7' }
    clock.advance(1_999)
    expect(ask()).toEqual({ wei: '1000000000' })
    clock.advance(1)
    expect(await ask()).toEqual({ wei: '7' })
    expect(second.asked).toEqual([])
    expect(counts()).toMatchObject({ kept: 2, answered: 2, failed: 0 })
  })

  test('is exact beyond 2^53', async () => {
    const { ask, first } = create()
    first.block = { baseFeePerGas: '0x20000000000001' }
    expect(await ask()).toEqual({ wei: '9007199254740993' })
  })

  test('is none on a chain without base fees', async () => {
    const { ask, first } = create()
    first.block = { number: '0x1' }
    expect(await ask()).toEqual({ wei: null })
  })

  test('comes from the next node when one is down, of another chain or talks nonsense', async () => {
    for (const change of [{ down: true }, { chainId: '0x1' }, { block: { baseFeePerGas: '0x' } }, { block: null }]) {
      const { ask, first, errors } = create()
      Object.assign(first, change)
      expect(await ask()).toEqual({ wei: '1000000000' })
      expect(errors).toEqual([A])
    }
  })

  test('can’t be had when no node tells it, nor of a chain that nobody reads', async () => {
    const { ask, first, second, counts } = create()
    first.down = true
    second.down = true
    expect(await ask()).toBeNull()
    expect(counts()).toMatchObject({ answered: 0, failed: 1 })
    expect(ask('solana')).toBeNull()
  })
})

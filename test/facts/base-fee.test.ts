// The base fee of the latest block, from fake nodes.
import { describe, expect, test } from 'bun:test'
import { askBaseFee } from '../../src/facts/sources/base-fee.ts'
import { createManualClock } from '../server/manual-clock.ts'
import { chainOf } from '../support/request.ts'
import { NOTHING_ELSE, subjectOf } from './fixtures.ts'

interface FakeNode {
  chainId: string
  block: unknown
  isDown: boolean
  methods: string[]
}

const A = 'https://a.example/key'
const B = 'https://b.example'

const create = () => {
  const clock = createManualClock()
  const errors: (string | null)[] = []
  const nodeOf = (): FakeNode => ({
    chainId: '0x2105',
    block: { baseFeePerGas: '0x3b9aca00' },
    isDown: false,
    methods: [],
  })
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
        node.methods.push(method)
        if (node.isDown) throw new Error('down')
        return method === 'eth_chainId' ? node.chainId : node.block
      },
    }),
  })
  const fee = (chain = 'base') => fees.ask(subjectOf({ chain: chainOf(chain) }))
  return { fee, counts: () => fees.counts?.().get('base'), clock, errors, first: nodes[A]!, second: nodes[B]! }
}

describe('the base fee', () => {
  test('is queried once and cached for one block', async () => {
    const { fee, counts, clock, first, second } = create()
    expect(await Promise.all([fee(), fee()])).toEqual([{ wei: '1000000000' }, { wei: '1000000000' }])
    expect(fee()).toEqual({ wei: '1000000000' })
    expect(first.methods).toEqual(['eth_chainId', 'eth_getBlockByNumber'])
    first.block = { baseFeePerGas: '0x7' }
    clock.advance(1_999)
    expect(fee()).toEqual({ wei: '1000000000' })
    clock.advance(1)
    expect(await fee()).toEqual({ wei: '7' })
    expect(second.methods).toEqual([])
    expect(counts()).toMatchObject({ kept: 2, answered: 2, failed: 0 })
  })

  test.each([
    ['exact beyond 2^53', { baseFeePerGas: '0x20000000000001' }, '9007199254740993'],
    ['null on a chain without base fees', { number: '0x1' }, null],
  ])('is %s', async (_name, block, wei) => {
    const { fee, first } = create()
    first.block = block
    expect(await fee()).toEqual({ wei })
  })

  test.each([{ isDown: true }, { chainId: '0x1' }, { block: { baseFeePerGas: '0x' } }, { block: null }])(
    'comes from the next node if a node returns %j',
    async (change) => {
      const { fee, first, errors } = create()
      Object.assign(first, change)
      expect(await fee()).toEqual({ wei: '1000000000' })
      expect(errors).toEqual([A])
    },
  )

  test('is unavailable if all nodes are down, and on a chain without an RPC endpoint', async () => {
    const { fee, first, second, counts } = create()
    first.isDown = true
    second.isDown = true
    expect(await fee()).toBeNull()
    expect(counts()).toMatchObject({ answered: 0, failed: 1 })
    expect(fee('solana')).toBeNull()
  })
})

// Queries to chains about a wallet: each answer belongs to one wallet and one chain, and is cached for one block.
// base-fee.test.ts covers failing nodes.
import { expect, test } from 'bun:test'
import { askChains } from '../../src/facts/ask-chains.ts'
import { createManualClock } from '../server/manual-clock.ts'
import { NOTHING_ELSE, subjectOf, WALLET } from './fixtures.ts'

const OTHER = `0x${'b2'.repeat(20)}`

test('an answer is not used for another wallet or another chain', async () => {
  const queries: string[] = []
  const clock = createManualClock()
  const { ask, counts, serverOf } = askChains(
    {
      ...NOTHING_ELSE,
      chains: [
        { name: 'base', chainId: 8453, rpcUrls: ['https://base.example'], blockTimeMs: 2_000 },
        { name: 'polygon', chainId: 137, rpcUrls: ['https://polygon.example'], blockTimeMs: 2_000 },
      ],
      timeoutMs: 1_000,
      clock,
      onError: (error) => {
        throw error
      },
      connect: (url) => ({
        request: async (method, [wallet]) => {
          if (method === 'eth_chainId') return url.includes('base') ? '0x2105' : '0x89'
          queries.push(`${wallet} ${url}`)
          return queries.length
        },
      }),
    },
    async (nodes, wallet) => ({ sent: await nodes.ask(async (rpc) => Number(await rpc.request('count', [wallet]))) }),
    ({ from }) => from,
  )
  const [one, other] = [ask(subjectOf()), ask(subjectOf({ from: OTHER }))]
  expect(await ask(subjectOf())).toEqual({ sent: 1 })
  expect([await one, await other]).toEqual([{ sent: 1 }, { sent: 2 }])
  expect(await ask(subjectOf({ chain: { name: 'polygon', family: 'evm', chainId: 137 } }))).toEqual({ sent: 3 })
  expect([ask(subjectOf()), ask(subjectOf({ from: OTHER }))]).toEqual([{ sent: 1 }, { sent: 2 }])
  expect(queries).toEqual([
    `${WALLET} https://base.example`,
    `${OTHER} https://base.example`,
    `${WALLET} https://polygon.example`,
  ])
  clock.advance(2_000)
  expect(await ask(subjectOf())).toEqual({ sent: 4 })
  expect(counts?.().get('base')).toMatchObject({ kept: 2, answered: 3, failed: 0 })
  expect(counts?.().get('polygon')).toMatchObject({ kept: 0, answered: 1 })
  expect(serverOf?.(subjectOf())).toBe('base')
})

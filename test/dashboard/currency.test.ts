// Amounts in the currency of a chain: the currencies of viem, without loss of precision.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseUnits } from 'viem'
import * as viemChains from 'viem/chains'
import { amountText, currencyOf } from '../../src/dashboard/page/decisions/currency.ts'
import { BUILT_IN_CHAINS } from '../../src/domain/chain.ts'

test('every built-in chain has the currency of viem', () => {
  let compared = 0
  for (const chain of BUILT_IN_CHAINS) {
    const currency = currencyOf(chain.name)
    if (chain.family !== 'evm') {
      expect(currency).toEqual({ symbol: 'SOL', unit: 'lamports', decimals: 9 })
      continue
    }
    const known = Object.values(viemChains).find(({ id }) => id === chain.chainId)
    if (known === undefined) continue
    compared += 1
    expect([chain.name, currency?.symbol, currency?.decimals]).toEqual([
      chain.name,
      known.nativeCurrency.symbol,
      known.nativeCurrency.decimals,
    ])
  }
  expect(compared).toBeGreaterThan(7)
  expect(currencyOf('mine')).toBeNull()
  expect(currencyOf('constructor')).toBeNull()
})

test('a formatted amount equals the amount', () => {
  const currencies = ['base', 'solana'].flatMap((name) => currencyOf(name) ?? [])
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 2n ** 256n - 1n }), fc.constantFrom(...currencies), (value, currency) => {
      const [number = '', symbol] = amountText(String(value), currency)?.split(' ') ?? []
      expect(symbol).toBe(currency.symbol)
      expect(parseUnits(number.replaceAll(',', ''), currency.decimals)).toBe(value)
      expect(number).not.toMatch(/\.\d*0$/)
    }),
  )
  const [ether] = currencies
  const texts = ['1500000000000000000', '1', '1234000000000000000000', '0', 'x'].map((value) =>
    ether === undefined ? '' : amountText(value, ether),
  )
  expect(texts).toEqual(['1.5 ETH', '0.000000000000000001 ETH', '1,234 ETH', null, null])
})

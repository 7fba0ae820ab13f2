// Base fee of the latest block on the request's chain (EIP-1559).
import { parseTestAmount, toReadValue } from '../document/read-value.ts'
import { amount, object } from '../document/schema-shapes.ts'
import { defineSource } from './source.ts'

export interface BaseFeeFacts {
  /** Wei per gas in decimal; null on a chain without base fees. */
  readonly wei: string | null
}

export const BASE_FEE = defineSource<BaseFeeFacts>()({
  kind: 'base-fee',
  part: 'baseFee',
  group: 'chain',
  words: 'the chain’s base fee',
  metered: true,
  digest: null,
  fields: {
    base_fee: {
      type: 'uint256',
      description: 'Base fee of the latest block, in wei per gas. Fails if the chain has no base fee.',
      select: ({ wei }) => toReadValue('uint256', wei),
    },
  },
  readTest: (reader) => {
    return { wei: reader.has('base_fee') ? reader.parsed('base_fee', parseTestAmount) : null }
  },
  testSchema: object('Facts about the chain.', [], {
    base_fee: amount('Base fee of the latest block: a number, or "12 gwei".'),
  }),
  example: { wei: '1000000000' },
})

// What a chain's native amounts are called. For people only: nothing is decided or signed by it, and the exact number in
// the smallest unit always stands beside it.

export interface Currency {
  readonly symbol: string
  /** Of the smallest unit. */
  readonly unit: string
  readonly decimals: number
}

const ofEvm = (symbol: string): Currency => ({ symbol, unit: 'wei', decimals: 18 })
const ETHER = ofEvm('ETH')

/** By the chain table's names. */
const CURRENCIES: Readonly<Record<string, Currency>> = {
  ethereum: ETHER,
  base: ETHER,
  arbitrum: ETHER,
  hyperliquid: ofEvm('HYPE'),
  plume: ofEvm('PLUME'),
  bsc: ofEvm('BNB'),
  plasma: ofEvm('XPL'),
  worldchain: ETHER,
  sepolia: ETHER,
  solana: { symbol: 'SOL', unit: 'lamports', decimals: 9 },
  megaeth: ETHER,
  'megaeth-testnet': ETHER,
}

/** Null for a deployment's own chain, whose currency nobody has said. */
export const currencyOf = (chainName: string): Currency | null =>
  Object.hasOwn(CURRENCIES, chainName) ? (CURRENCIES[chainName] ?? null) : null

/** `1.5 ETH`, exactly, with thousands apart; null where it says no more than the smallest unit, or is no whole number. */
export const amountText = (value: string, { symbol, decimals }: Currency): string | null => {
  if (!/^[0-9]+$/.test(value) || /^0+$/.test(value)) return null
  const digits = value.padStart(decimals + 1, '0')
  const whole = BigInt(digits.slice(0, -decimals)).toLocaleString('en')
  const rest = digits.slice(-decimals).replace(/0+$/, '')
  return `${rest === '' ? whole : `${whole}.${rest}`} ${symbol}`
}

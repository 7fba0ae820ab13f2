// Display names of native currencies. Decisions and signatures never depend on them.

export interface Currency {
  readonly symbol: string
  readonly unit: string
  readonly decimals: number
}

const ofEvm = (symbol: string): Currency => ({ symbol, unit: 'wei', decimals: 18 })
const ETHER = ofEvm('ETH')

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

/** Returns null for a custom chain, whose currency is unknown. */
export const currencyOf = (chainName: string): Currency | null =>
  Object.hasOwn(CURRENCIES, chainName) ? (CURRENCIES[chainName] ?? null) : null

/** Returns an amount such as `1.5 ETH`; null for zero or if it isn't a whole number. */
export const amountText = (value: string, { symbol, decimals }: Currency): string | null => {
  if (!/^[0-9]+$/.test(value) || /^0+$/.test(value)) return null
  const digits = value.padStart(decimals + 1, '0')
  const whole = BigInt(digits.slice(0, -decimals)).toLocaleString('en')
  const rest = digits.slice(-decimals).replace(/0+$/, '')
  return `${rest === '' ? whole : `${whole}.${rest}`} ${symbol}`
}

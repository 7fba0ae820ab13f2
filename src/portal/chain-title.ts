// The names of chains that people see.
import type { ChainTable } from '../domain/chain.ts'
import type { ChainView } from './contract.ts'

const TITLES: Readonly<Record<string, string>> = {
  bsc: 'BNB Smart Chain',
  worldchain: 'World Chain',
  megaeth: 'MegaETH',
  'megaeth-testnet': 'MegaETH Testnet',
  arbitrum: 'Arbitrum One',
  optimism: 'OP Mainnet',
}

/** The chain's name with a capital first letter, or the name that people know better. */
export const chainTitle = (name: string): string => {
  if (name.startsWith('eip155:')) return `Chain ${name.slice('eip155:'.length)}`
  const known = TITLES[name]
  if (known !== undefined) return known
  return name.charAt(0).toUpperCase() + name.slice(1)
}

/** The EVM chains of a deployment, in its own order. */
export const chainViews = (table: ChainTable): readonly ChainView[] =>
  table.chains.flatMap((chain) =>
    chain.family === 'evm' ? [{ name: chain.name, title: chainTitle(chain.name), chainId: chain.chainId }] : [],
  )

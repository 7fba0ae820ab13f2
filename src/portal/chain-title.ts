// Display names of chains.
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

/** Returns the chain's name with a capital first letter, or its better-known name. */
export const chainTitle = (name: string): string => {
  if (name.startsWith('eip155:')) return `Chain ${name.slice('eip155:'.length)}`
  const known = TITLES[name]
  if (known !== undefined) return known
  return name.charAt(0).toUpperCase() + name.slice(1)
}

/** Returns the EVM chains of a deployment, in configuration order. */
export const chainViews = (table: ChainTable): readonly ChainView[] =>
  table.chains.flatMap((chain) =>
    chain.family === 'evm' ? [{ name: chain.name, title: chainTitle(chain.name), chainId: chain.chainId }] : [],
  )

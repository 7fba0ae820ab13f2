// Supported chains (spec, chain table; ids from decisions §2), to which a deployment can add others.

export type ChainFamily = 'evm' | 'solana'

export interface EvmChain {
  readonly name: string
  readonly family: 'evm'
  /** EIP-155 chain id, below 2^53. */
  readonly chainId: number
}

export interface SolanaChain {
  readonly name: string
  readonly family: 'solana'
}

export type Chain = EvmChain | SolanaChain

const evm = (name: string, chainId: number): EvmChain => ({ name, family: 'evm', chainId })

export const SOLANA: SolanaChain = { name: 'solana', family: 'solana' }

export const BUILT_IN_CHAINS: readonly Chain[] = [
  evm('ethereum', 1),
  evm('base', 8453),
  evm('arbitrum', 42161),
  evm('hyperliquid', 999),
  evm('plume', 98866),
  evm('bsc', 56),
  evm('plasma', 9745),
  evm('worldchain', 480),
  evm('sepolia', 11155111),
  SOLANA,
  evm('megaeth', 4326),
  evm('megaeth-testnet', 6343),
]

/** Public test networks, and the defaults of local nodes. */
const TEST_CHAIN_IDS: ReadonlySet<number> = new Set([11155111, 6343, 1337, 31337])

/** Returns false for Solana, whose statements don't name a cluster. */
export const isTestNetwork = (chain: Chain): boolean => chain.family === 'evm' && TEST_CHAIN_IDS.has(chain.chainId)

/** Older names that clients still send (decisions §2). */
export const CHAIN_ALIASES: Readonly<Record<string, string>> = {
  megaeth_testnet: 'megaeth-testnet',
  'ethereum-mainnet': 'ethereum',
  'ethereum-sepolia': 'sepolia',
}

/** @throws Error for a repeated name or id, because the meaning of a signature would depend on the order */
export const createChainTable = (added: readonly EvmChain[] = []) => {
  const names = new Map<string, Chain>()
  const ids = new Map<number, EvmChain>()
  for (const chain of [...BUILT_IN_CHAINS, ...added]) {
    if (names.has(chain.name) || CHAIN_ALIASES[chain.name] !== undefined) {
      throw new Error(`chain name ${chain.name} is defined twice`)
    }
    names.set(chain.name, chain)
    if (chain.family === 'evm') {
      if (ids.has(chain.chainId)) throw new Error(`chain id ${chain.chainId} is defined twice`)
      ids.set(chain.chainId, chain)
    }
  }
  const chains = [...names.values()]
  for (const [alias, name] of Object.entries(CHAIN_ALIASES)) {
    const chain = names.get(name)
    if (chain) names.set(alias, chain)
  }
  return {
    chains,
    /** Finds a chain by the name or alias in v2 requests. */
    byName: (name: string): Chain | undefined => names.get(name),
    /** Finds a chain by the EIP-155 id in v1 requests. */
    byId: (chainId: number): EvmChain | undefined => ids.get(chainId),
  }
}

export type ChainTable = ReturnType<typeof createChainTable>

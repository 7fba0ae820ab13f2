// Names chains in responses. The set is open: names in the chain table, viem's names (`polygon`), or `eip155:<id>`
// (decisions §5, "Wallet entry").
import type { Chain, ChainTable } from '../../domain/chain.ts'

interface KnownChains {
  readonly names: ReadonlyMap<number, string>
  readonly ids: ReadonlyMap<string, number>
}

/** Loaded on first use: most deployments never need these hundreds of chains. */
let knownChains: Promise<KnownChains> | undefined

const loadKnown = async (): Promise<KnownChains> => {
  const chains: Readonly<Record<string, unknown>> = await import('viem/chains')
  const names = new Map<number, string>()
  const ids = new Map<string, number>()
  // Sorted, so that every process chooses the same name for a shared id.
  for (const name of Object.keys(chains).sort()) {
    const id = (chains[name] as { readonly id?: unknown } | null)?.id
    if (typeof id !== 'number') continue
    if (!names.has(id)) names.set(id, name)
    ids.set(name, id)
  }
  return { names, ids }
}

const known = (): Promise<KnownChains> => {
  knownChains ??= loadKnown()
  return knownChains
}

export const evmChainName = async (table: ChainTable, chainId: number): Promise<string> => {
  const own = table.byId(chainId)
  if (own !== undefined) return own.name
  return (await known()).names.get(chainId) ?? `eip155:${chainId}`
}

/** Returns only the name if no source knows the chain, for example because the table no longer contains it. */
export const walletChain = async (table: ChainTable, name: string): Promise<Chain | Pick<Chain, 'name'>> => {
  const own = table.byName(name)
  if (own !== undefined) return own
  const written = /^eip155:(\d+)$/.exec(name)?.[1]
  const chainId = written === undefined ? (await known()).ids.get(name) : Number(written)
  return chainId === undefined ? { name } : { name, family: 'evm', chainId }
}

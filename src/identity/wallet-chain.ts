// The name of a wallet's chain in answers. The set is open: the chain table's own names first, then viem's names
// (`polygon`), then `eip155:<id>` (decisions §5, "Wallet entry").
import type { ChainTable } from '../domain/chain.ts'

/** EIP-155 id → viem's name. Loaded on first use: several hundred chains that most deployments never need. */
let knownNames: Promise<ReadonlyMap<number, string>> | undefined

const loadNames = async (): Promise<ReadonlyMap<number, string>> => {
  const chains: Readonly<Record<string, unknown>> = await import('viem/chains')
  const names = new Map<number, string>()
  // In alphabetical order, so that when two names share an id, every process chooses the same one.
  for (const name of Object.keys(chains).sort()) {
    const id = (chains[name] as { readonly id?: unknown } | null)?.id
    if (typeof id === 'number' && !names.has(id)) names.set(id, name)
  }
  return names
}

export const evmChainName = async (table: ChainTable, chainId: number): Promise<string> => {
  const own = table.byId(chainId)
  if (own !== undefined) return own.name
  knownNames ??= loadNames()
  return (await knownNames).get(chainId) ?? `eip155:${chainId}`
}

// What a wallet's chain is called in answers: an open set. The chain table's own names first, then the names by which viem
// knows a chain (`polygon`), then `eip155:<id>` (decisions §5, "Wallet entry").
import type { ChainTable } from '../domain/chain.ts'

/** EIP-155 id → viem's name. Loaded on first need: several hundred chains that most deployments never ask for. */
let knownNames: Promise<ReadonlyMap<number, string>> | undefined

const loadNames = async (): Promise<ReadonlyMap<number, string>> => {
  const chains: Readonly<Record<string, unknown>> = await import('viem/chains')
  const names = new Map<number, string>()
  // In the order of the alphabet: where two names share an id, the same one wins everywhere.
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

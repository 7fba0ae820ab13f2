// Verifies signatures of contract wallets on chain, even before deployment. Without an RPC URL, no signature is valid.
// Source: EIP-1271, ERC-6492; viem calls the universal validator with one `eth_call`.
import type { Transport } from 'viem'
import { DependencyUnavailableError } from '../../domain/errors.ts'
import type { ContractProofVerifier } from './proof.ts'

export interface ContractProofOptions {
  /** RPC URLs by EIP-155 id, in order of preference. */
  readonly rpcUrls: ReadonlyMap<number, readonly string[]>
  readonly transport: (url: string) => Promise<Transport>
}

export const createContractProofVerifier = ({ rpcUrls, transport }: ContractProofOptions): ContractProofVerifier => {
  return async ({ wallet: { address, chainId }, message, signature }) => {
    const urls = rpcUrls.get(chainId)
    if (urls === undefined) return false
    // Loaded on demand: most services have no RPC URLs.
    const { createPublicClient } = await import('viem')
    let cause: unknown
    for (const url of urls) {
      try {
        const client = createPublicClient({ transport: await transport(url) })
        // The response of another chain doesn't apply to this wallet.
        if ((await client.getChainId()) !== chainId) continue
        return await client.verifyMessage({
          address: address as `0x${string}`,
          message,
          signature: signature as `0x${string}`,
        })
      } catch (error) {
        cause = error
      }
    }
    throw new DependencyUnavailableError('the wallet’s chain is unavailable; try again', { cause })
  }
}

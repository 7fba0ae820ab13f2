// Verifies signatures of contract wallets on chain, even before deployment. Without an RPC URL, no such proof is valid.
// Source: EIP-1271, ERC-6492; viem makes the check with one `eth_call` of the universal validator.
import type { Transport } from 'viem'
import { DependencyUnavailableError } from '../../domain/errors.ts'
import type { ContractProofVerifier } from './proof.ts'

export interface ContractProofOptions {
  /** EIP-155 id → RPC URLs, in order of preference; the next is used if one fails. */
  readonly rpcUrls: ReadonlyMap<number, readonly string[]>
  readonly transport: (url: string) => Promise<Transport>
}

export const createContractProofVerifier = ({ rpcUrls, transport }: ContractProofOptions): ContractProofVerifier => {
  return async ({ wallet: { address, chainId }, message, signature }) => {
    const urls = rpcUrls.get(chainId)
    if (urls === undefined) return false
    // Most services have no RPC URLs, so viem is loaded by the first proof that needs it.
    const { createPublicClient } = await import('viem')
    let cause: unknown
    for (const url of urls) {
      try {
        const client = createPublicClient({ transport: await transport(url) })
        // If the URL serves another chain, its response does not apply to this wallet.
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

// One RPC URL of one chain. Checks once that the URL serves the configured chain, before any of its answers is used.
// Calls made in one turn of the event loop travel as one JSON-RPC batch. Source: EIP-1474.
import { createClient, type Hex, numberToHex } from 'viem'
import { hexOf, quantityOf, requireChain } from './evm-answer.ts'
import type { ReadCall } from './read-call.ts'
import { createRpcTransport } from './rpc-transport.ts'

export interface ChainEndpoint {
  /** @throws whatever viem throws; RpcFailedError. */
  latestBlock(): Promise<bigint>
  /** @returns answers in the order of the calls; null where the contract reverts. @throws as latestBlock */
  readAt(block: bigint, calls: readonly ReadCall[]): Promise<readonly (Hex | null)[]>
}

export interface ChainEndpointOptions {
  readonly url: string
  readonly chainId: number
  readonly timeoutMs: number
}

const BATCH_MAX = 100

/**
 * Nodes use different error codes for a revert, but all name it in the message. Source: EIP-1474, geth
 * `internal/ethapi/errors.go`.
 */
const isRevert = (error: unknown): boolean => {
  // `details` is the node's own message; viem's message quotes the URL and the request.
  const { code, details } = (error ?? {}) as { code?: unknown; details?: unknown }
  return code === 3 || (typeof details === 'string' && /revert/i.test(details))
}

export const createChainEndpoint = ({ url, chainId, timeoutMs }: ChainEndpointOptions): ChainEndpoint => {
  const client = createClient({ transport: createRpcTransport({ url, timeoutMs, batchMax: BATCH_MAX }) })
  let verified = false

  const verify = async (): Promise<void> => {
    if (verified) return
    requireChain(await client.request({ method: 'eth_chainId' }), chainId)
    verified = true
  }

  const read = async ({ method, address, data }: ReadCall, block: Hex): Promise<Hex | null> => {
    const at = address as Hex
    if (method === 'eth_getBalance') return hexOf(await client.request({ method, params: [at, block] }))
    try {
      return hexOf(await client.request({ method, params: [{ to: at, data }, block] }))
    } catch (error) {
      if (isRevert(error)) return null
      throw error
    }
  }

  return {
    latestBlock: async () => {
      await verify()
      return quantityOf(await client.request({ method: 'eth_blockNumber' }))
    },
    readAt: async (block, calls) => {
      await verify()
      const number = numberToHex(block)
      return Promise.all(calls.map((call) => read(call, number)))
    },
  }
}

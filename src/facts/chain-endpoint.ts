// One RPC URL of one chain. Checks once that the URL serves the configured chain, before any of its answers is used.
// Calls made in one turn of the event loop travel as one JSON-RPC batch. Source: EIP-1474.
import { createClient, type Hex, numberToHex } from 'viem'
import { causesOf } from '../lib/named-error.ts'
import { hexOf, quantityOf, requireChain } from './evm-answer.ts'
import { AnswerTooLongError } from './guarded-fetch.ts'
import type { ReadCall } from './read-call.ts'
import { createRpcTransport } from './rpc-transport.ts'

export interface ChainEndpoint {
  /** @throws whatever viem throws; RpcFailedError. */
  latestBlock(): Promise<bigint>
  /**
   * @returns answers in the order of the calls; null if the contract fails, or if its answer is too long
   * @throws as latestBlock, if the node answers none of the calls
   */
  readAt(block: bigint, calls: readonly ReadCall[]): Promise<readonly (Hex | null)[]>
}

export interface ChainEndpointOptions {
  readonly url: string
  readonly chainId: number
  readonly timeoutMs: number
}

const BATCH_MAX = 100
/** A node that answers everything at length is given up after so many divisions of a batch. */
const DIVISIONS_MAX = 32

/** Error codes of a contract's own failure: a revert (geth), an error of the virtual machine (Nethermind). */
const EXECUTION_CODES: readonly unknown[] = [3, -32015]
/** Nodes use the same code for a contract's failure and for their own, but name the former in these words. */
const EXECUTION_WORDS =
  /revert|opcode|out of gas|gas (?:required|limit|uint)|stack (?:under|over)flow|jump|execution|call depth|code size|write protection|memory/i

/**
 * Whether a call failed because of its contract. Policies name the contract, so its failure says nothing about the node.
 * Source: EIP-1474, geth `core/vm/errors.go` and `internal/ethapi/errors.go`.
 */
const isExecutionFailure = (error: unknown): boolean => {
  // `details` is the node's own message; viem's message quotes the URL and the request.
  const { code, details } = (error ?? {}) as { code?: unknown; details?: unknown }
  return EXECUTION_CODES.includes(code) || (typeof details === 'string' && EXECUTION_WORDS.test(details))
}

const isTooLong = (error: unknown): boolean => causesOf(error).some((cause) => cause instanceof AnswerTooLongError)

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
      if (isExecutionFailure(error)) return null
      throw error
    }
  }

  /** If the answer to a batch is too long, divides the batch until the call with the long answer is alone. */
  const readAll = async (
    calls: readonly ReadCall[],
    block: Hex,
    budget: { divisions: number },
  ): Promise<readonly PromiseSettledResult<Hex | null>[]> => {
    const results = await Promise.allSettled(calls.map((call) => read(call, block)))
    if (!results.some((result) => result.status === 'rejected' && isTooLong(result.reason))) return results
    if (calls.length === 1) return [{ status: 'fulfilled', value: null }]
    if (budget.divisions === 0) return results
    budget.divisions -= 1
    const middle = Math.ceil(calls.length / 2)
    const first = await readAll(calls.slice(0, middle), block, budget)
    return [...first, ...(await readAll(calls.slice(middle), block, budget))]
  }

  return {
    latestBlock: async () => {
      await verify()
      return quantityOf(await client.request({ method: 'eth_blockNumber' }))
    },
    readAt: async (block, calls) => {
      await verify()
      const number = numberToHex(block)
      const results = await readAll(calls, number, { divisions: DIVISIONS_MAX })
      const failed = results.filter((result) => result.status === 'rejected')
      // If only some calls fail, their contracts are at fault; if all fail, the node is.
      if (failed.length > 0 && failed.length === results.length) throw failed[0]?.reason
      return results.map((result) => (result.status === 'fulfilled' ? result.value : null))
    },
  }
}

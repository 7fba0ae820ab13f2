// One RPC URL of one chain: that it serves the chain it is said to serve is checked once, before anything it says is
// believed. Calls of one turn travel as one JSON-RPC batch. Source: EIP-1474; https://viem.sh/docs/clients/transports/http.
import { createClient, type Hex, http, numberToHex } from 'viem'
import { fetchBody } from './guarded-fetch.ts'
import { nodeReach } from './reachable.ts'
import type { ReadCall } from './read-call.ts'

/** The URL answers for another chain, or not as a node does. `detail` is for the operator. */
export class EndpointUnusableError extends Error {
  override readonly name = 'EndpointUnusableError'
  readonly detail: string
  constructor(detail: string) {
    super(detail)
    this.detail = detail
  }
}

export interface ChainEndpoint {
  /** @throws whatever viem throws; EndpointUnusableError. */
  latestBlock(): Promise<bigint>
  /** In the order of the calls; null where the contract refuses the call. @throws as latestBlock */
  readAt(block: bigint, calls: readonly ReadCall[]): Promise<readonly (Hex | null)[]>
}

export interface ChainEndpointOptions {
  readonly url: string
  readonly chainId: number
  readonly timeoutMs: number
}

const BATCH_MAX = 100
const ANSWER_BYTES_MAX = 1_048_576

/** Nodes differ in the code; all say so in words. Source: EIP-1474, geth `internal/ethapi/errors.go`. */
const isRevert = (error: unknown): boolean => {
  // `details` is what the node said; viem's own message quotes the URL and the request.
  const { code, details } = (error ?? {}) as { code?: unknown; details?: unknown }
  return code === 3 || (typeof details === 'string' && /revert/i.test(details))
}

const hexOf = (value: unknown): Hex => {
  if (typeof value === 'string' && /^0x[0-9a-fA-F]*$/.test(value)) return value as Hex
  throw new EndpointUnusableError('the RPC answered what no node answers')
}

/** viem's own stops the clock at the headers of an answer and waits for its body without end. */
const boundedFetch =
  (url: string, timeoutMs: number) =>
  async (_: unknown, init?: RequestInit): Promise<Response> => {
    const answer = await fetchBody({
      url,
      reach: nodeReach(url),
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: String(init?.body),
      timeoutMs,
      maxBytes: ANSWER_BYTES_MAX,
      signal: init?.signal ?? undefined,
    })
    return new Response(answer, { headers: { 'content-type': 'application/json' } })
  }

export const createChainEndpoint = ({ url, chainId, timeoutMs }: ChainEndpointOptions): ChainEndpoint => {
  const client = createClient({
    transport: http(url, {
      batch: { batchSize: BATCH_MAX, wait: 0 },
      timeout: timeoutMs,
      retryCount: 0,
      fetchFn: boundedFetch(url, timeoutMs),
    }),
  })
  let verified = false

  const verify = async (): Promise<void> => {
    if (verified) return
    const served = Number(hexOf(await client.request({ method: 'eth_chainId' })))
    if (served !== chainId) throw new EndpointUnusableError(`the RPC serves chain ${served} and not ${chainId}`)
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
      return BigInt(hexOf(await client.request({ method: 'eth_blockNumber' })))
    },
    readAt: async (block, calls) => {
      await verify()
      const number = numberToHex(block)
      return Promise.all(calls.map((call) => read(call, number)))
    },
  }
}

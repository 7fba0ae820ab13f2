// Latest block of a chain for v1's `expiry_block`, cached for a block time. A height that is too high would extend a
// signature's validity, so two URLs are compared and implausible heights rejected (threats: a lying RPC).

import { DependencyUnavailableError } from '../domain/errors.ts'
import { singleFlight } from '../lib/single-flight.ts'
import type { Clock } from '../lib/time.ts'
import { numberOf } from './chain-endpoint.ts'
import { createJsonRpc, type JsonRpc, RpcFailedError } from './json-rpc.ts'

export interface BlockHeightOptions {
  readonly chainName: string
  /** RPC URLs in order of preference. The lower height of the first two that respond is used. */
  readonly rpcUrls: readonly string[]
  readonly blockTimeMs: number
  readonly timeoutMs: number
  readonly clock: Clock
}

const COMPARED = 2
/** Factor of the nominal pace: a chain can be faster than its nominal block time, and a node can catch up. */
const PACE = 4
const SLACK_BLOCKS = 64
/** Time after which the previous height no longer limits the next, so that a recovered node is accepted. */
const FORGOTTEN_AFTER_MS = 600_000
/** Time of Ethereum's first block; no EVM chain is older. */
const OLDEST_GENESIS_SECONDS = 1_438_269_973

export const createBlockHeightSource = (options: BlockHeightOptions) => {
  const rpcs = options.rpcUrls.map((url) => createJsonRpc({ url, timeoutMs: options.timeoutMs }))
  let known: { height: number; readAtMs: number } | null = null

  const maximumAt = (nowMs: number): number => {
    const blocksIn = (milliseconds: number): number => Math.ceil((PACE * milliseconds) / options.blockTimeMs)
    return known === null || nowMs - known.readAtMs > FORGOTTEN_AFTER_MS
      ? blocksIn((options.clock.unixSeconds() - OLDEST_GENESIS_SECONDS) * 1_000)
      : known.height + SLACK_BLOCKS + blocksIn(nowMs - known.readAtMs)
  }

  const read = async (rpc: JsonRpc): Promise<number> => {
    const height = numberOf(await rpc.request('eth_blockNumber', []))
    if (height > maximumAt(options.clock.monotonicMs()))
      throw new RpcFailedError('the RPC endpoint reported an implausibly high block number')
    return height
  }

  const refresh = singleFlight(async (): Promise<number> => {
    const startedMs = options.clock.monotonicMs()
    const heights: number[] = []
    let cause: unknown
    for (let next = 0; next < rpcs.length && heights.length < COMPARED; ) {
      const asked = rpcs.slice(next, next + COMPARED - heights.length)
      next += asked.length
      for (const result of await Promise.allSettled(asked.map(read))) {
        if (result.status === 'fulfilled') heights.push(result.value)
        else cause = result.reason
      }
    }
    if (heights.length > 0) {
      const height = Math.min(...heights)
      known = { height, readAtMs: startedMs }
      return height
    }
    throw new DependencyUnavailableError(`the latest block of ${options.chainName} cannot be read`, {
      cause,
      nothingSigned: true,
    })
  })

  const fresh = (): number | null =>
    known !== null && options.clock.monotonicMs() - known.readAtMs < options.blockTimeMs ? known.height : null

  return {
    known: fresh,
    /** @throws DependencyUnavailableError if no RPC URL of the chain responds within its timeout */
    latest(): Promise<number> {
      const height = fresh()
      if (height !== null) return Promise.resolve(height)
      return refresh()
    },
  }
}

export type BlockHeightSource = ReturnType<typeof createBlockHeightSource>

// Reads the latest block of a chain for v1's `expiry_block` (spec, "Task request and response"). At most one read is in
// flight; the answer is cached for one block time. A height that is too high would extend a signature's validity, so
// two URLs are compared and implausible heights are refused (threats: a lying RPC).

import { DependencyUnavailableError } from '../domain/errors.ts'
import { singleFlight } from '../lib/single-flight.ts'
import type { Clock } from '../lib/time.ts'
import { numberOf } from './evm-answer.ts'
import { createJsonRpc, type JsonRpc, RpcFailedError } from './json-rpc.ts'

export interface BlockHeightSource {
  /** Returns the cached latest block. Null if the chain must be queried. */
  known(): number | null
  /** @throws DependencyUnavailableError if no RPC URL of the chain responds within its timeout */
  latest(): Promise<number>
}

export interface BlockHeightOptions {
  readonly chainName: string
  /** In order of preference. The first two that respond are compared; the lower height counts. */
  readonly rpcUrls: readonly string[]
  readonly blockTimeMs: number
  readonly timeoutMs: number
  readonly clock: Clock
}

/** Number of URLs that are compared. */
const COMPARED = 2
/** Blocks can be faster than their nominal time, and a node can catch up after a pause. */
const PACE = 4
const SLACK_BLOCKS = 64
/** After this time, the previous height no longer limits the next one, so that a recovered node is accepted. */
const FORGOTTEN_AFTER_MS = 600_000
/** Time of Ethereum's first block. No EVM chain is older. */
const OLDEST_GENESIS_SECONDS = 1_438_269_973

export const createBlockHeightSource = (options: BlockHeightOptions): BlockHeightSource => {
  const rpcs = options.rpcUrls.map((url) => createJsonRpc({ url, timeoutMs: options.timeoutMs }))
  let known: { height: number; readAtMs: number } | null = null

  /** Returns the highest block that the chain can have reached. */
  const maximumAt = (nowMs: number): number => {
    const blocksIn = (milliseconds: number): number => Math.ceil((PACE * milliseconds) / options.blockTimeMs)
    return known === null || nowMs - known.readAtMs > FORGOTTEN_AFTER_MS
      ? blocksIn((options.clock.unixSeconds() - OLDEST_GENESIS_SECONDS) * 1_000)
      : known.height + SLACK_BLOCKS + blocksIn(nowMs - known.readAtMs)
  }

  const read = async (rpc: JsonRpc): Promise<number> => {
    const height = numberOf(await rpc.request('eth_blockNumber', []))
    if (height > maximumAt(options.clock.monotonicMs())) throw new RpcFailedError('the RPC is ahead of its chain')
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
    throw new DependencyUnavailableError(`the latest block of ${options.chainName} can't be read`, {
      cause,
      nothingSigned: true,
    })
  })

  const fresh = (): number | null =>
    known !== null && options.clock.monotonicMs() - known.readAtMs < options.blockTimeMs ? known.height : null

  return {
    known: fresh,
    latest() {
      const height = fresh()
      if (height !== null) return Promise.resolve(height)
      return refresh()
    },
  }
}

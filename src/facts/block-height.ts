// Reads the latest block of a chain, for v1's `expiry_block` (spec, "Task request and response"). At most one read is
// under way at a time, and its answer is cached for at most one block time. A chain that does not answer is a failure,
// never a guess.

import { DependencyUnavailableError } from '../domain/errors.ts'
import { singleFlight } from '../lib/single-flight.ts'
import type { Clock } from '../lib/time.ts'
import { numberOf } from './evm-answer.ts'
import { createJsonRpc } from './json-rpc.ts'

export interface BlockHeightSource {
  /** @returns the latest block if it is cached; null when the chain has to be asked */
  known(): number | null
  /** @throws DependencyUnavailableError when no RPC URL of the chain answers within its timeout. */
  latest(): Promise<number>
}

export interface BlockHeightOptions {
  readonly chainName: string
  /** In order of preference: when one URL fails, the next is asked. */
  readonly rpcUrls: readonly string[]
  readonly blockTimeMs: number
  readonly timeoutMs: number
  readonly clock: Clock
}

export const createBlockHeightSource = (options: BlockHeightOptions): BlockHeightSource => {
  const rpcs = options.rpcUrls.map((url) => createJsonRpc({ url, timeoutMs: options.timeoutMs }))
  let known: { height: number; readAtMs: number } | null = null

  const refresh = singleFlight(async (): Promise<number> => {
    let cause: unknown
    for (const rpc of rpcs) {
      const startedMs = options.clock.monotonicMs()
      try {
        const height = numberOf(await rpc.request('eth_blockNumber', []))
        known = { height, readAtMs: startedMs }
        return height
      } catch (error) {
        cause = error
      }
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

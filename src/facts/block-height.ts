// The latest block of a chain, for v1's `expiry_block` (spec, "Task request and response"). One read at a time, kept for
// at most one block time; a chain that does not answer is a failure, never a guess.
import { createPublicClient, http } from 'viem'
import { DependencyUnavailableError } from '../domain/errors.ts'
import type { Clock } from '../domain/time.ts'

export interface BlockHeightSource {
  /** @throws DependencyUnavailableError when no RPC URL of the chain answers within its timeout. */
  latest(): Promise<number>
}

export interface BlockHeightOptions {
  readonly chainName: string
  /** In order of preference: the next one is asked when one fails. */
  readonly rpcUrls: readonly string[]
  readonly blockTimeMs: number
  readonly timeoutMs: number
  readonly clock: Clock
}

/** Blocks above this can't be represented exactly in JSON for every client; no chain is near it. */
const LARGEST_HEIGHT = BigInt(Number.MAX_SAFE_INTEGER)

const createReader = (url: string, timeoutMs: number): (() => Promise<bigint>) => {
  const client = createPublicClient({
    // A redirect could lead anywhere, so none is followed; the pool of one URL is retried by the next one, not by viem.
    transport: http(url, { timeout: timeoutMs, retryCount: 0, fetchOptions: { redirect: 'error' } }),
    cacheTime: 0,
  })
  return () => client.getBlockNumber({ cacheTime: 0 })
}

export const createBlockHeightSource = (options: BlockHeightOptions): BlockHeightSource => {
  const readers = options.rpcUrls.map((url) => createReader(url, options.timeoutMs))
  let known: { height: number; readAtMs: number } | null = null
  let underway: Promise<number> | null = null

  const read = async (): Promise<number> => {
    let cause: unknown
    for (const reader of readers) {
      const startedMs = options.clock.monotonicMs()
      try {
        const height = await reader()
        if (height < 0n || height > LARGEST_HEIGHT) throw new RangeError('block height out of range')
        known = { height: Number(height), readAtMs: startedMs }
        return known.height
      } catch (error) {
        cause = error
      }
    }
    throw new DependencyUnavailableError(`the latest block of ${options.chainName} can't be read`, { cause })
  }

  return {
    latest() {
      if (known !== null && options.clock.monotonicMs() - known.readAtMs < options.blockTimeMs) {
        return Promise.resolve(known.height)
      }
      underway ??= read().finally(() => {
        underway = null
      })
      return underway
    },
  }
}

// Values at the latest block of one RPC URL. A failed block query disables the URL for all organizations. A failed call
// disables it only for the call's organization, whose contracts may be slow on purpose.
import { type Breaker, createBreaker } from '../lib/breaker.ts'
import { singleFlight } from '../lib/single-flight.ts'
import type { Clock } from '../lib/time.ts'
import type { ReadValue } from '../policy/types/reads.ts'
import type { CallAnswer, ChainEndpoint } from './chain-endpoint.ts'
import type { ReadCall } from './read-call.ts'

export interface ChainSourceOptions {
  readonly endpoint: ChainEndpoint
  readonly blockTimeMs: number
  readonly clock: Clock
}

const KEPT_MAX = 50_000

interface KnownBlock {
  readonly block: bigint
  readonly readAtMs: number
  readonly values: Map<string, ReadValue | null>
}

export const createChainSource = ({ endpoint, blockTimeMs, clock }: ChainSourceOptions) => {
  const breaker = createBreaker({ clock })
  const ownBreakers = new Map<string, Breaker>()
  let known: KnownBlock | null = null

  const fresh = (): KnownBlock | null =>
    known !== null && clock.monotonicMs() - known.readAtMs < blockTimeMs ? known : null

  /** Each query counts once for the breaker, however many batches wait for it. */
  const askLatestBlock = async (): Promise<bigint> => {
    try {
      const block = await endpoint.latestBlock()
      breaker.succeeded()
      return block
    } catch (error) {
      breaker.failed()
      throw error
    }
  }

  const readBlock = singleFlight(async (): Promise<KnownBlock> => {
    const readAtMs = clock.monotonicMs()
    const block = await askLatestBlock()
    // Cached values remain valid while the block is the same.
    known = { block, readAtMs, values: known?.block === block ? known.values : new Map() }
    return known
  })

  const latestBlock = async (): Promise<KnownBlock | null> => (breaker.permits() ? readBlock() : null)

  const readAt = async (
    organizationId: string,
    block: bigint,
    calls: readonly ReadCall[],
  ): Promise<readonly CallAnswer[]> => {
    try {
      const answers = await endpoint.readAt(block, calls)
      ownBreakers.delete(organizationId)
      return answers
    } catch (error) {
      const ownBreaker = ownBreakers.get(organizationId) ?? createBreaker({ clock })
      ownBreakers.set(organizationId, ownBreaker)
      ownBreaker.failed()
      throw error
    }
  }

  return {
    /** Returns the value at the latest block. Undefined if unknown. */
    find: (key: string): ReadValue | null | undefined => fresh()?.values.get(key),
    /** Returns null if the URL is disabled after repeated failures. @throws the errors of ChainEndpoint */
    read: async (organizationId: string, calls: readonly ReadCall[]): Promise<readonly (ReadValue | null)[] | null> => {
      const at = fresh() ?? (await latestBlock())
      if (at === null) return null
      // Some values may be known already; they are copied, because they may be evicted during the wait.
      const values = new Map(calls.map(({ key }) => [key, at.values.get(key)]))
      const unknown = calls.filter(({ key }) => values.get(key) === undefined)
      if (unknown.length > 0) {
        if (ownBreakers.get(organizationId)?.permits() === false) return null
        const answers = await readAt(organizationId, at.block, unknown)
        if (at.values.size + unknown.length > KEPT_MAX) at.values.clear()
        for (const [index, { key, decode }] of unknown.entries()) {
          const answer = answers[index]
          if (answer === undefined) continue
          const value = answer === null ? null : decode(answer)
          values.set(key, value)
          at.values.set(key, value)
        }
      }
      return calls.map(({ key }) => values.get(key) ?? null)
    },
    isOpen: (): boolean => breaker.open,
  }
}

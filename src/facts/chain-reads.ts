// Reads on-chain state for policies. A value read at a block is reused until the next block, reads requested in one
// turn of the event loop are sent together, and when one RPC URL fails the next is asked. A value that can't be read is
// null.
import type { AttestationRequest } from '../domain/attestation.ts'
import { type Breaker, createBreaker } from '../lib/breaker.ts'
import type { Clock } from '../lib/time.ts'
import type { ReadDefinition, ReadValue } from '../policy/types/reads.ts'
import { type ChainEndpoint, createChainEndpoint } from './chain-endpoint.ts'
import { type ReadCall, readCallOf } from './read-call.ts'
import type { RemoteCounts } from './remote.ts'

export interface ReadableChain {
  readonly name: string
  readonly chainId: number
  /** In order of preference. */
  readonly rpcUrls: readonly string[]
  /** How long the latest block is assumed to be still the latest. */
  readonly blockTimeMs: number
}

export interface ChainReads {
  /** Answers synchronously when the value is cached or can't be read. Never rejects. */
  read(definition: ReadDefinition, request: AttestationRequest): ReadValue | null | Promise<ReadValue | null>
  /** Counts by chain name. */
  counts(): ReadonlyMap<string, RemoteCounts>
}

export interface ReadableChains {
  /** EVM chains only. */
  readonly chains: readonly ReadableChain[]
  readonly timeoutMs: number
  readonly clock: Clock
  /** @param url the URL that failed; null when the error is not about one URL */
  readonly onError: (error: unknown, chainName: string, url: string | null) => void
}

export interface ChainReadsDependencies extends ReadableChains {
  /** Maps a chain's name or alias, as policies write it, to the chain's own name. */
  readonly chainName: (name: string) => string | undefined
  /** Replaced in tests. */
  readonly connect?: (chain: ReadableChain, url: string) => ChainEndpoint
}

/** Maximum number of values kept for one block, and of calls waiting for an answer. */
const KEPT_MAX = 50_000
const WAITING_MAX = 2_000
/** Maximum number of calls in one HTTP request. */
const CALLS_MAX = 100

interface Asked {
  readonly call: ReadCall
  readonly promise: Promise<ReadValue | null>
  readonly resolve: (value: ReadValue | null) => void
}

interface Endpoint {
  readonly url: string
  readonly connection: ChainEndpoint
  readonly breaker: Breaker
}

/** The values read at one block, and the endpoint that they were read from. */
interface Known {
  readonly endpoint: Endpoint
  readonly block: bigint
  readonly readAtMs: number
  readonly values: Map<string, ReadValue | null>
}

const createChain = (chain: ReadableChain, dependencies: ChainReadsDependencies) => {
  const { clock, timeoutMs, onError } = dependencies
  const connect = dependencies.connect ?? (({ chainId }, url) => createChainEndpoint({ url, chainId, timeoutMs }))
  const endpoints: readonly Endpoint[] = chain.rpcUrls.map((url) => ({
    url,
    connection: connect(chain, url),
    breaker: createBreaker({ clock }),
  }))
  const totals = { kept: 0, answered: 0, failed: 0, refused: 0 }
  /** Calls that have no answer yet, by key. */
  const asked = new Map<string, Asked>()
  /** The calls among them that are not sent yet. */
  let waiting: Asked[] = []
  let known: Known | null = null

  const fresh = (): Known | null =>
    known !== null && clock.monotonicMs() - known.readAtMs < chain.blockTimeMs ? known : null

  const blockOf = async (endpoint: Endpoint): Promise<Known> => {
    const current = fresh()
    if (current?.endpoint === endpoint) return current
    const readAtMs = clock.monotonicMs()
    const block = await endpoint.connection.latestBlock()
    // If the latest block has not changed, the values read at it are still valid.
    const values = known?.endpoint === endpoint && known.block === block ? known.values : new Map()
    known = { endpoint, block, readAtMs, values }
    return known
  }

  const settle = ({ call, resolve }: Asked, value: ReadValue | null): void => {
    asked.delete(call.key)
    resolve(value)
  }

  const readFrom = async (endpoint: Endpoint, batch: readonly Asked[]): Promise<void> => {
    const at = await blockOf(endpoint)
    if (at.values.size + batch.length > KEPT_MAX) at.values.clear()
    // Some of these values may have been read at this block before.
    const unknown = batch.filter(({ call }) => !at.values.has(call.key))
    const calls = unknown.map(({ call }) => call)
    const answers = calls.length === 0 ? [] : await endpoint.connection.readAt(at.block, calls)
    endpoint.breaker.succeeded()
    totals.answered += batch.length
    for (const [index, call] of calls.entries()) {
      const answer = answers[index]
      // A call without an answer is made again for the next request.
      if (answer !== undefined) at.values.set(call.key, answer === null ? null : call.decode(answer))
    }
    for (const item of batch) settle(item, at.values.get(item.call.key) ?? null)
  }

  const readBatch = async (batch: readonly Asked[]): Promise<void> => {
    for (const endpoint of endpoints) {
      if (!endpoint.breaker.permits()) continue
      try {
        await readFrom(endpoint, batch)
        return
      } catch (error) {
        endpoint.breaker.failed()
        onError(error, chain.name, endpoint.url)
      }
    }
    totals.failed += batch.length
    for (const item of batch) settle(item, null)
  }

  const flush = (): void => {
    const batch = waiting
    waiting = []
    for (let start = 0; start < batch.length; start += CALLS_MAX) void readBatch(batch.slice(start, start + CALLS_MAX))
  }

  return {
    read: (call: ReadCall): ReadValue | null | Promise<ReadValue | null> => {
      const value = fresh()?.values.get(call.key)
      if (value !== undefined) {
        totals.kept += 1
        return value
      }
      const joined = asked.get(call.key)
      if (joined !== undefined) return joined.promise
      if (asked.size >= WAITING_MAX) {
        totals.refused += 1
        return null
      }
      const item: Asked = { call, ...Promise.withResolvers<ReadValue | null>() }
      asked.set(call.key, item)
      waiting.push(item)
      // Wait until the end of this turn, so that the other reads of this request join the batch.
      if (waiting.length === 1) queueMicrotask(flush)
      return item.promise
    },
    counts: (): RemoteCounts => ({ ...totals, open: endpoints.every(({ breaker }) => breaker.open) }),
  }
}

export const createChainReads = (dependencies: ChainReadsDependencies): ChainReads => {
  const { onError } = dependencies
  const chains = new Map(dependencies.chains.map((chain) => [chain.name, createChain(chain, dependencies)]))
  return {
    read: (definition, request) => {
      const name = dependencies.chainName(definition.chain ?? request.chain.name)
      const chain = name === undefined ? undefined : chains.get(name)
      if (chain === undefined) return null
      try {
        const call = readCallOf(definition, request)
        return call === null ? null : chain.read(call)
      } catch (error) {
        onError(error, name ?? '', null)
        return null
      }
    },
    counts: () => new Map([...chains].map(([name, chain]) => [name, chain.counts()])),
  }
}

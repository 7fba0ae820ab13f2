// Reads on-chain state for policies, cached until the next block. Organizations have separate batches and take turns.
import type { AttestationRequest } from '../domain/attestation.ts'
import { createFairSlots } from '../lib/fair-slots.ts'
import type { Clock } from '../lib/time.ts'
import type { ReadDefinition, ReadValue } from '../policy/types/reads.ts'
import { type ChainEndpoint, createChainEndpoint } from './chain-endpoint.ts'
import { createChainSource } from './chain-source.ts'
import { type ReadCall, readCallOf } from './read-call.ts'
import type { RemoteCaller, RemoteCounts } from './remote.ts'

export interface ReadableChain {
  readonly name: string
  readonly chainId: number
  readonly rpcUrls: readonly string[]
  /** Milliseconds for which the latest block counts as current. */
  readonly blockTimeMs: number
}

export interface ChainReads {
  /** Returns null if the value can't be read. Synchronous if that is known or the value is cached. Never rejects. */
  read(
    definition: ReadDefinition,
    request: AttestationRequest,
    caller: RemoteCaller,
  ): ReadValue | null | Promise<ReadValue | null>
  counts(): ReadonlyMap<string, RemoteCounts>
}

export interface ReadableChains {
  readonly chains: readonly ReadableChain[]
  readonly timeoutMs: number
  readonly clock: Clock
  readonly onError: (error: unknown, chainName: string, url: string | null) => void
}

export interface ChainReadsDependencies extends ReadableChains {
  readonly chainName: (name: string) => string | undefined
  readonly connect?: (chain: ReadableChain, url: string) => ChainEndpoint
}

/** Maximum unanswered calls per organization. */
const PENDING_MAX = 2_000
const CALLS_MAX = 100
/** Maximum batches in flight to one chain, in total and per organization. */
const BATCHES_MAX = 256
const OWN_BATCHES_MAX = 32

interface PendingRead {
  readonly call: ReadCall
  readonly promise: Promise<ReadValue | null>
  readonly resolve: (value: ReadValue | null) => void
  deadlineMs: number
}

/** Separate per organization, so that a slow contract delays only its own organization. */
interface Lane {
  readonly pending: Map<string, PendingRead>
  readonly waiting: PendingRead[]
}

const createChain = (chain: ReadableChain, dependencies: ChainReadsDependencies) => {
  const { clock, timeoutMs, onError } = dependencies
  const connect = dependencies.connect ?? (({ chainId }, url) => createChainEndpoint({ url, chainId, timeoutMs }))
  const sources = chain.rpcUrls.map((url) => ({
    url,
    source: createChainSource({ endpoint: connect(chain, url), blockTimeMs: chain.blockTimeMs, clock }),
  }))
  const totals = { kept: 0, answered: 0, failed: 0, refused: 0 }
  const slots = createFairSlots(BATCHES_MAX, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, OWN_BATCHES_MAX)
  const lanes = new Map<string, Lane>()

  const find = (key: string): ReadValue | null | undefined => {
    for (const { source } of sources) {
      const value = source.find(key)
      if (value !== undefined) return value
    }
    return undefined
  }

  const readBatch = async (
    organizationId: string,
    calls: readonly ReadCall[],
  ): Promise<readonly (ReadValue | null)[] | null> => {
    for (const { url, source } of sources) {
      try {
        const values = await source.read(organizationId, calls)
        if (values !== null) return values
      } catch (error) {
        onError(error, chain.name, url)
      }
    }
    return null
  }

  const sendNext = async (organizationId: string, lane: Lane): Promise<void> => {
    // During this wait, other reads of the same request join the batch.
    const release = await slots.acquire(organizationId)
    const next = lane.waiting.splice(0, CALLS_MAX)
    const nowMs = clock.monotonicMs()
    const batch = next.filter(({ deadlineMs }) => nowMs < deadlineMs)
    const calls = batch.map(({ call }) => call)
    let values: readonly (ReadValue | null)[] | null = null
    try {
      values = calls.length === 0 ? [] : await readBatch(organizationId, calls)
    } finally {
      totals.refused += next.length - batch.length
      totals[values === null ? 'failed' : 'answered'] += batch.length
      const found = new Map(calls.map(({ key }, index) => [key, values?.[index]]))
      for (const { call, resolve } of next) {
        lane.pending.delete(call.key)
        resolve(found.get(call.key) ?? null)
      }
      if (lane.pending.size === 0) lanes.delete(organizationId)
      release?.()
    }
  }

  return {
    read: (
      call: ReadCall,
      { organizationId, deadlineMs }: RemoteCaller,
    ): ReadValue | null | Promise<ReadValue | null> => {
      const value = find(call.key)
      if (value !== undefined) {
        totals.kept += 1
        return value
      }
      const lane: Lane = lanes.get(organizationId) ?? { pending: new Map(), waiting: [] }
      const joined = lane.pending.get(call.key)
      if (joined !== undefined) {
        joined.deadlineMs = Math.max(joined.deadlineMs, deadlineMs)
        return joined.promise
      }
      if (lane.pending.size >= PENDING_MAX) {
        totals.refused += 1
        return null
      }
      lanes.set(organizationId, lane)
      const read: PendingRead = { call, deadlineMs, ...Promise.withResolvers<ReadValue | null>() }
      lane.pending.set(call.key, read)
      lane.waiting.push(read)
      if (lane.waiting.length % CALLS_MAX === 1) void sendNext(organizationId, lane)
      return read.promise
    },
    counts: (): RemoteCounts => ({ ...totals, open: sources.every(({ source }) => source.isOpen()) }),
  }
}

export const createChainReads = (dependencies: ChainReadsDependencies): ChainReads => {
  const { onError } = dependencies
  const chains = new Map(dependencies.chains.map((chain) => [chain.name, createChain(chain, dependencies)]))
  return {
    read: (definition, request, caller) => {
      const name = dependencies.chainName(definition.chain ?? request.chain.name)
      const chain = name === undefined ? undefined : chains.get(name)
      if (chain === undefined) return null
      try {
        const call = readCallOf(definition, request)
        return call === null ? null : chain.read(call, caller)
      } catch (error) {
        onError(error, name ?? '', null)
        return null
      }
    },
    counts: () => new Map([...chains].map(([name, chain]) => [name, chain.counts()])),
  }
}

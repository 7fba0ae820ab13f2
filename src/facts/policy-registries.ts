// Looks up which policy id a contract or program carries on its chain, and caches the answer for a while. At most one
// question about an address is under way at a time. Hits and misses are cached apart, so that asking for addresses
// without a policy can't evict those that have one. A chain that does not answer is a failure, never "none".
import { LRUCache } from 'lru-cache'
import { DependencyUnavailableError } from '../domain/errors.ts'
import type { Clock } from '../lib/time.ts'
import type { ChainRegistry } from './registry.ts'
import type { RpcChoice } from './rpc-choice.ts'

export interface PolicyRegistries {
  /**
   * @returns the policy id, synchronously when it is cached; null when the contract carries none, or its chain has no
   *   registry. Rejects with DependencyUnavailableError when the chain can't be asked.
   */
  policyIdOf(chainName: string, address: string): string | null | Promise<string | null>
}

export interface ReadableRegistry {
  readonly registry: ChainRegistry
  readonly choice: RpcChoice
}

export interface PolicyRegistriesOptions {
  /** By chain name. */
  readonly registries: ReadonlyMap<string, ReadableRegistry>
  readonly clock: Clock
  /**
   * How long a found policy id is cached: after a contract changes its policy, the old one applies for up to this time.
   * Default: 60 s.
   */
  readonly keepMs?: number
  /**
   * How long a miss is cached: a contract that gets its first policy stays unknown for up to this time. Default: 10 s.
   */
  readonly keepMissMs?: number
  readonly keptMax?: number
  /** Maximum number of questions under way to one chain; further ones fail immediately. */
  readonly underWayMax?: number
}

interface Entry {
  readonly policyId: string | null
  readonly untilMs: number
}

const createReader = (
  chainName: string,
  { registry, choice }: ReadableRegistry,
  options: Required<PolicyRegistriesOptions>,
) => {
  const { clock, keepMs, keepMissMs, keptMax, underWayMax } = options
  const found = new LRUCache<string, Entry>({ max: keptMax })
  const missed = new LRUCache<string, Entry>({ max: keptMax })
  const underWay = new Map<string, Promise<string | null>>()
  const unavailable = (cause?: unknown) =>
    new DependencyUnavailableError(`the policy registry of ${chainName} can not be read`, { cause })

  const read = async (address: string): Promise<string | null> => {
    const askedMs = clock.monotonicMs()
    try {
      const policyId = await choice.ask((rpc) => registry.policyId(rpc, address))
      const [into, outOf, ageMs] = policyId === null ? [missed, found, keepMissMs] : [found, missed, keepMs]
      outOf.delete(address)
      into.set(address, { policyId, untilMs: askedMs + ageMs })
      return policyId
    } catch (error) {
      throw unavailable(error)
    } finally {
      underWay.delete(address)
    }
  }

  return (address: string): string | null | Promise<string | null> => {
    const entry = found.get(address) ?? missed.get(address)
    if (entry !== undefined && clock.monotonicMs() < entry.untilMs) return entry.policyId
    const joined = underWay.get(address)
    if (joined !== undefined) return joined
    if (underWay.size >= underWayMax) return Promise.reject(unavailable())
    const reading = read(address)
    underWay.set(address, reading)
    return reading
  }
}

export const createPolicyRegistries = (options: PolicyRegistriesOptions): PolicyRegistries => {
  const complete = { keepMs: 60_000, keepMissMs: 10_000, keptMax: 20_000, underWayMax: 256, ...options }
  const readers = new Map(
    [...options.registries].map(([chainName, readable]) => [chainName, createReader(chainName, readable, complete)]),
  )
  return { policyIdOf: (chainName, address) => readers.get(chainName)?.(address) ?? null }
}

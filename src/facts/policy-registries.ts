// Policy ids of contracts and programs in on-chain registries. Misses are cached separately, so that they can't evict
// hits.
import { LRUCache } from 'lru-cache'
import { DependencyUnavailableError } from '../domain/errors.ts'
import type { Clock } from '../lib/time.ts'
import type { ChainRegistry } from './registry.ts'
import { createRemote } from './remote.ts'
import type { RpcChoice } from './rpc-choice.ts'

export interface PolicyRegistries {
  /** Synchronous if cached. Null if there is no policy id or no registry. @throws DependencyUnavailableError */
  policyIdOf(organizationId: string, chainName: string, address: string): string | null | Promise<string | null>
}

export interface ReadableRegistry {
  readonly registry: ChainRegistry
  readonly choice: RpcChoice
}

export interface PolicyRegistriesOptions {
  readonly registries: ReadonlyMap<string, ReadableRegistry>
  readonly clock: Clock
  /** Milliseconds during which an earlier policy id still applies. Defaults to 60 s. */
  readonly keepMs?: number
  /**
   * Milliseconds for which a miss is cached; a contract's first policy id applies only afterwards. Defaults to 10 s.
   */
  readonly keepMissMs?: number
  readonly keptMax?: number
  /** Maximum queries in flight per chain. */
  readonly underWayMax?: number
  /** Maximum waiting queries per organization; further queries fail immediately. */
  readonly waitingMax?: number
}

interface Entry {
  readonly policyId: string | null
  readonly untilMs: number
}

type Outcome = Pick<Entry, 'policyId'> | { readonly cause: unknown }

const createReader = (
  chainName: string,
  { registry, choice }: ReadableRegistry,
  options: Required<PolicyRegistriesOptions>,
) => {
  const { clock, keepMs, keepMissMs, keptMax, underWayMax, waitingMax } = options
  const found = new LRUCache<string, Entry>({ max: keptMax })
  const missed = new LRUCache<string, Entry>({ max: keptMax })
  const questions = createRemote<Outcome>({
    clock,
    keepMs: 0,
    keptMax: 1,
    underWayMax,
    waitingMax,
    onError: () => undefined,
  })

  const cached = (address: string): Entry | undefined => {
    const entry = found.get(address) ?? missed.get(address)
    return entry !== undefined && clock.monotonicMs() < entry.untilMs ? entry : undefined
  }

  const read = async (address: string): Promise<Outcome> => {
    // Another organization may have queried the address during the wait.
    const entry = cached(address)
    if (entry !== undefined) return entry
    const askedMs = clock.monotonicMs()
    try {
      const policyId = await choice.ask((rpc) => registry.policyId(rpc, address))
      const [into, outOf, ageMs] = policyId === null ? [missed, found, keepMissMs] : [found, missed, keepMs]
      outOf.delete(address)
      into.set(address, { policyId, untilMs: askedMs + ageMs })
      return { policyId }
    } catch (cause) {
      return { cause }
    }
  }

  const readLater = async (organizationId: string, address: string): Promise<string | null> => {
    const caller = { organizationId, deadlineMs: Number.POSITIVE_INFINITY }
    const outcome = await questions.ask(address, () => read(address), caller)
    if (outcome !== null && 'policyId' in outcome) return outcome.policyId
    throw new DependencyUnavailableError(`the policy registry of ${chainName} cannot be read`, {
      cause: outcome?.cause,
    })
  }

  return (organizationId: string, address: string): string | null | Promise<string | null> => {
    const entry = cached(address)
    return entry === undefined ? readLater(organizationId, address) : entry.policyId
  }
}

export const createPolicyRegistries = (options: PolicyRegistriesOptions): PolicyRegistries => {
  const complete = {
    keepMs: 60_000,
    keepMissMs: 10_000,
    keptMax: 20_000,
    underWayMax: 256,
    waitingMax: 256,
    ...options,
  }
  const readers = new Map(
    [...options.registries].map(([chainName, readable]) => [chainName, createReader(chainName, readable, complete)]),
  )
  return {
    policyIdOf: (organizationId, chainName, address) => readers.get(chainName)?.(organizationId, address) ?? null,
  }
}

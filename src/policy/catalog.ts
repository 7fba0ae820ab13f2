// From a request's project or contract to its target, at hand without waiting once it was asked for. Caches are kept per
// organization by a stamp that every change of the organization renews: an entry, and a load under way, counts only
// under the stamp it was begun with, so a load that overlaps a change can never leave the old policy behind.
import { LRUCache } from 'lru-cache'
import type { PolicyRevision } from '../domain/target.ts'
import type { Clock } from '../domain/time.ts'
import { PolicyUnusableError } from './errors.ts'
import { keyOfNeed, NO_NEEDS } from './needs.ts'
import { createRevisionCache, type LoadedRevision, sentRevisionOf } from './revision-cache.ts'
import { createSharedLoads } from './shared-loads.ts'
import type { SentRevision } from './types/program.ts'
import type { PolicySource, ResolvedTarget, TargetRecord } from './types/source.ts'

export interface CatalogDependencies {
  readonly source: PolicySource
  readonly clock: Clock
  /** Targets kept; as many misses again are kept apart, so that asking for what is not there can't push out what is. */
  readonly maxEntries: number
  /** Characters of policy text kept in all. 64 Mi unless stated. */
  readonly maxRevisionCharacters?: number
  /** A load is no longer joined after this, for it may never end. 2 s unless stated. */
  readonly joinWithinMs?: number
}

/** A change that was committed (invariant 7). */
export interface CatalogChange {
  /** Changes of keys and attesters leave targets as they are; any other topic renews the organization's. */
  readonly topic: string
  /** Null concerns every organization. */
  readonly organizationId: string | null
}

export interface Catalog {
  /**
   * The target of a project of this organization; null when it has none of this verification hash. Answers at once
   * when it is known, and rejects when the store is unavailable or (PolicyUnusableError) the policy can't be evaluated.
   */
  resolveProject(
    organizationId: string,
    verificationHash: string,
  ): ResolvedTarget | null | Promise<ResolvedTarget | null>
  /** The same by a bound contract or program, its address canonical. */
  resolveBinding(
    organizationId: string,
    chainName: string,
    address: string,
  ): ResolvedTarget | null | Promise<ResolvedTarget | null>
  /** The revision of a resolved target, at once when it is at hand, as it is right after resolving. */
  revision(revisionId: string): PolicyRevision | null | Promise<PolicyRevision | null>
  /** As workers are given it, without ever loading. */
  cachedRevision(revisionId: string): SentRevision | undefined
  invalidate(change: CatalogChange): void
  /** Forgets everything: changes may have been missed. */
  clear(): void
}

interface Entry {
  readonly target: ResolvedTarget | null
  readonly stamp: number
}

/** Decisions §2: no project has a longer one, and misses must not fill the memory with what callers send. */
const MAX_VERIFICATION_HASH = 64

const NO_FIELDS: ResolvedTarget['shadowRequires'] = []

const UNRELATED_TOPICS: ReadonlySet<string> = new Set(['api-key', 'attester'])

/** One number per organization, new after each of its changes and never used again. */
const createStamps = (maxOrganizations: number) => {
  const stamps = new Map<string, number>()
  let latest = 0
  let base = 0
  const renewAll = (): void => {
    stamps.clear()
    base = ++latest
  }
  return {
    of: (organizationId: string): number => stamps.get(organizationId) ?? base,
    renewAll,
    renew: (organizationId: string): void => {
      if (stamps.size >= maxOrganizations) renewAll()
      stamps.set(organizationId, ++latest)
    },
  }
}

const complete = (
  record: TargetRecord,
  loaded: LoadedRevision | null,
  shadow: LoadedRevision | null,
): ResolvedTarget => {
  if (loaded === null) throw new PolicyUnusableError(new Error(`revision ${record.revisionId} is missing`))
  if ('failure' in loaded) throw loaded.failure
  const { requires, needs } = loaded
  // A shadow that can't be used is no reason to refuse anyone: the worker records that it failed.
  if (shadow === null || 'failure' in shadow) {
    const shadowRevisionId = shadow === null ? null : record.shadowRevisionId
    return Object.freeze({
      ...record,
      shadowRevisionId,
      requires,
      needs,
      shadowNeeds: NO_NEEDS,
      shadowRequires: NO_FIELDS,
    })
  }
  const known = new Set(needs.map(keyOfNeed))
  const shadowNeeds = shadow.needs.filter((need) => !known.has(keyOfNeed(need)))
  return Object.freeze({ ...record, requires, needs, shadowNeeds, shadowRequires: shadow.requires })
}

export const createCatalog = ({
  source,
  clock,
  maxEntries,
  maxRevisionCharacters = 64 * 1024 * 1024,
  joinWithinMs = 2_000,
}: CatalogDependencies): Catalog => {
  const targets = new LRUCache<string, Entry>({ max: maxEntries })
  const misses = new LRUCache<string, Entry>({ max: maxEntries })
  const revisions = createRevisionCache({ source, clock, maxCharacters: maxRevisionCharacters, joinWithinMs })
  const loads = createSharedLoads<ResolvedTarget | null>(clock, joinWithinMs)
  const stamps = createStamps(maxEntries)

  const isAtHand = ({ revisionId, shadowRevisionId }: ResolvedTarget): boolean =>
    revisions.peek(revisionId) !== undefined &&
    (shadowRevisionId === null || revisions.peek(shadowRevisionId) !== undefined)

  const loadRevision = async (revisionId: string): Promise<LoadedRevision | null> =>
    revisions.peek(revisionId) ?? (await revisions.load(revisionId))

  const completed = async (record: TargetRecord): Promise<ResolvedTarget> => {
    const { revisionId, shadowRevisionId } = record
    const shadow = shadowRevisionId === null ? null : await loadRevision(shadowRevisionId)
    return complete(record, await loadRevision(revisionId), shadow)
  }

  const remember = (key: string, entry: Entry): void => {
    const [into, outOf] = entry.target === null ? [misses, targets] : [targets, misses]
    outOf.delete(key)
    into.set(key, entry)
  }

  const resolve = (
    organizationId: string,
    key: string,
    load: () => Promise<TargetRecord | null>,
  ): ResolvedTarget | null | Promise<ResolvedTarget | null> => {
    const stamp = stamps.of(organizationId)
    const entry = targets.get(key) ?? misses.get(key)
    if (entry?.stamp === stamp) {
      // A worker will ask for the revision next: a target without it is not at hand.
      if (entry.target === null || isAtHand(entry.target)) return entry.target
    }
    return loads.join(key, stamp, async () => {
      const record = await load()
      if (record !== null && record.organizationId !== organizationId) {
        throw new PolicyUnusableError(new Error('the store answered with another organization’s target'))
      }
      const target = record === null ? null : await completed(record)
      if (stamps.of(organizationId) === stamp) remember(key, { target, stamp })
      return target
    })
  }

  return {
    // Ids hold no spaces, so a key can't be read in two ways.
    resolveProject: (organizationId, verificationHash) => {
      if (verificationHash.length > MAX_VERIFICATION_HASH) return null
      return resolve(organizationId, `${organizationId} project ${verificationHash}`, () =>
        source.loadProjectTarget(organizationId, verificationHash),
      )
    },
    resolveBinding: (organizationId, chainName, address) =>
      resolve(organizationId, `${organizationId} binding ${chainName} ${address}`, () =>
        source.loadBindingTarget(organizationId, chainName, address),
      ),
    revision: (revisionId) =>
      revisions.peek(revisionId)?.revision ?? revisions.load(revisionId).then((loaded) => loaded?.revision ?? null),
    cachedRevision: (revisionId) => {
      const loaded = revisions.peek(revisionId)
      return loaded === undefined ? undefined : sentRevisionOf(loaded)
    },
    invalidate: ({ topic, organizationId }) => {
      if (UNRELATED_TOPICS.has(topic)) return
      if (organizationId === null) stamps.renewAll()
      else stamps.renew(organizationId)
    },
    clear: () => {
      stamps.renewAll()
      targets.clear()
      misses.clear()
      revisions.clear()
    },
  }
}

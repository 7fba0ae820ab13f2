// Resolves a project or contract to its target. Cached entries and loads are valid only for the organization's current
// stamp, so a load that overlaps a change never caches the old policy.
import { LRUCache } from 'lru-cache'
import { atMostEntries, NO_OPTIONS } from '../lib/cache-limit.ts'
import { type Clock, systemTimers, type Timers } from '../lib/time.ts'
import { PolicyUnusableError } from './evaluation-errors.ts'
import { createFairWork } from './fair-work.ts'
import { keyOfNeed, NO_NEEDS } from './needs.ts'
import { createRevisionCache, type LoadedRevision, type RevisionCache, sentRevisionOf } from './revision-cache.ts'
import { createSharedLoads } from './shared-loads.ts'
import type { SentRevision } from './types/program.ts'
import type { PolicySource, ResolvedTarget, TargetRecord } from './types/source.ts'

export interface CatalogDependencies {
  readonly source: PolicySource
  readonly clock: Clock
  /** Limit for targets, and separately for misses. */
  readonly maxEntries: number
  /** Maximum characters of cached policy texts. Defaults to 64 Mi. */
  readonly maxRevisionCharacters?: number
  /** Age at which a load, which may never end, is no longer shared. Defaults to 2 s. */
  readonly joinWithinMs?: number
  readonly after?: Timers['after']
}

export interface CatalogChange {
  /** `api-key` and `attester` don't affect targets. */
  readonly topic: string
  /** Null for all organizations. */
  readonly organizationId: string | null
}

export interface Catalog {
  /**
   * Returns null for an unknown hash. Synchronous if cached. Rejects if the store is unavailable or the policy
   * unusable.
   */
  resolveProject(
    organizationId: string,
    verificationHash: string,
  ): ResolvedTarget | null | Promise<ResolvedTarget | null>
  /** Like `resolveProject`, for the project of a contract or program (canonical address). */
  resolveBinding(
    organizationId: string,
    chainName: string,
    address: string,
  ): ResolvedTarget | null | Promise<ResolvedTarget | null>
  cachedRevision(revisionId: string): SentRevision | undefined
  invalidate(change: CatalogChange): void
  /** Call after changes may have been missed. */
  clear(): void
}

interface Entry {
  readonly target: ResolvedTarget | null
  readonly stamp: number
}

/** Maximum length. Longer values can't exist (decisions §2) and aren't cached as misses. */
const MAX_VERIFICATION_HASH = 64

const NO_FIELDS: ResolvedTarget['shadowRequires'] = []

const UNRELATED_TOPICS: ReadonlySet<string> = new Set(['api-key', 'attester'])

/** Returns a number per organization, replaced after each change and never reused. */
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
  // An unusable shadow revision must not fail the request; the worker records the failure.
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

const createTargetCache = (maxEntries: number) => {
  const targets = new LRUCache<string, Entry>(atMostEntries(maxEntries))
  const misses = new LRUCache<string, Entry>(atMostEntries(maxEntries))
  const stamps = createStamps(maxEntries)
  return {
    stampOf: stamps.of,
    find: (organizationId: string, key: string): ResolvedTarget | null | undefined => {
      const entry = targets.get(key, NO_OPTIONS) ?? misses.get(key, NO_OPTIONS)
      return entry?.stamp === stamps.of(organizationId) ? entry.target : undefined
    },
    remember: (key: string, entry: Entry): void => {
      const [into, outOf] = entry.target === null ? [misses, targets] : [targets, misses]
      outOf.delete(key)
      into.set(key, entry)
    },
    invalidate: (organizationId: string | null): void => {
      if (organizationId === null) stamps.renewAll()
      else stamps.renew(organizationId)
    },
    clear: (): void => {
      stamps.renewAll()
      targets.clear()
      misses.clear()
    },
  }
}

const isAtHand = (revisions: RevisionCache, { revisionId, shadowRevisionId }: ResolvedTarget): boolean =>
  revisions.peek(revisionId) !== undefined &&
  (shadowRevisionId === null || revisions.peek(shadowRevisionId) !== undefined)

export const createCatalog = ({
  source,
  clock,
  maxEntries,
  maxRevisionCharacters = 64 * 1024 * 1024,
  joinWithinMs = 2_000,
  after = systemTimers.after,
}: CatalogDependencies): Catalog => {
  const targets = createTargetCache(maxEntries)
  const work = createFairWork({ clock, after, pauseFactor: 1, waitingMax: 256 })
  const revisions = createRevisionCache({ source, clock, work, maxCharacters: maxRevisionCharacters, joinWithinMs })
  const loads = createSharedLoads<ResolvedTarget | null>(clock, joinWithinMs)

  const loadRevision = async (organizationId: string, revisionId: string): Promise<LoadedRevision | null> =>
    revisions.peek(revisionId) ?? (await revisions.load(organizationId, revisionId))

  const completed = async (record: TargetRecord): Promise<ResolvedTarget> => {
    const { organizationId, revisionId, shadowRevisionId } = record
    const shadow = shadowRevisionId === null ? null : await loadRevision(organizationId, shadowRevisionId)
    return complete(record, await loadRevision(organizationId, revisionId), shadow)
  }

  const cached = (organizationId: string, key: string): ResolvedTarget | null | undefined => {
    const target = targets.find(organizationId, key)
    // The worker needs the revision next, so a target counts as cached only with its revision.
    return target === undefined || target === null || isAtHand(revisions, target) ? target : undefined
  }

  const load = (
    organizationId: string,
    key: string,
    read: () => Promise<TargetRecord | null>,
  ): Promise<ResolvedTarget | null> => {
    const stamp = targets.stampOf(organizationId)
    return loads.join(key, stamp, async () => {
      const record = await read()
      if (record !== null && record.organizationId !== organizationId) {
        throw new PolicyUnusableError(new Error('the store returned another organization’s target'))
      }
      const target = record === null ? null : await completed(record)
      if (targets.stampOf(organizationId) === stamp) targets.remember(key, { target, stamp })
      return target
    })
  }

  // Separate functions, because resolving a cached target must not allocate a closure.
  const loadProject = (organizationId: string, key: string, verificationHash: string) =>
    load(organizationId, key, () => source.loadProjectTarget(organizationId, verificationHash))
  const loadBinding = (organizationId: string, key: string, chainName: string, address: string) =>
    load(organizationId, key, () => source.loadBindingTarget(organizationId, chainName, address))

  return {
    // Unambiguous, because ids contain no spaces.
    resolveProject: (organizationId, verificationHash) => {
      if (verificationHash.length > MAX_VERIFICATION_HASH) return null
      const key = `${organizationId} project ${verificationHash}`
      const known = cached(organizationId, key)
      return known === undefined ? loadProject(organizationId, key, verificationHash) : known
    },
    resolveBinding: (organizationId, chainName, address) => {
      const key = `${organizationId} binding ${chainName} ${address}`
      const known = cached(organizationId, key)
      return known === undefined ? loadBinding(organizationId, key, chainName, address) : known
    },
    cachedRevision: (revisionId) => {
      const loaded = revisions.peek(revisionId)
      return loaded === undefined ? undefined : sentRevisionOf(loaded)
    },
    invalidate: ({ topic, organizationId }) => {
      if (!UNRELATED_TOPICS.has(topic)) targets.invalidate(organizationId)
    },
    clear: () => {
      targets.clear()
      revisions.clear()
    },
  }
}

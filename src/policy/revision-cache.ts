// Caches revisions on the main thread and compiles them to find their needs. Workers receive parsed documents.
import type { OptionalField, PolicyRevision } from '../domain/target.ts'
import type { Clock } from '../lib/time.ts'
import type { Steps } from './cel/steps.ts'
import type { FairWork } from './fair-work.ts'
import { weightOf } from './program-cache.ts'
import { revisionSteps } from './revision.ts'
import { createSharedLoads } from './shared-loads.ts'
import type { FactNeed } from './types/needs.ts'
import type { SentRevision } from './types/program.ts'
import type { PolicySource } from './types/source.ts'

export interface FairCache<Value> {
  get(key: string): Value | undefined
  set(organizationId: string, key: string, value: Value): void
  clear(): void
}

interface Share<Value> {
  /** Values, least recently used first. */
  readonly values: Map<string, Value>
  weight: number
}

/**
 * When the cache is full, the organization with the largest share loses its least recently used value.
 * @param maxWeight total weight; heavier values aren't cached
 */
export const createFairCache = <Value>(maxWeight: number, weightOf: (value: Value) => number): FairCache<Value> => {
  const shares = new Map<string, Share<Value>>()
  const owners = new Map<string, Share<Value>>()
  let weight = 0

  const add = (share: Share<Value>, change: number): void => {
    share.weight += change
    weight += change
  }

  const remove = (key: string): void => {
    const share = owners.get(key)
    const value = share?.values.get(key)
    if (share === undefined || value === undefined) return
    share.values.delete(key)
    owners.delete(key)
    add(share, -weightOf(value))
  }

  const evict = (): void => {
    let heaviest: Share<Value> | null = null
    for (const [organizationId, share] of shares) {
      if (share.values.size === 0) shares.delete(organizationId)
      else if (heaviest === null || share.weight > heaviest.weight) heaviest = share
    }
    for (const key of heaviest?.values.keys() ?? []) {
      remove(key)
      return
    }
  }

  return {
    get: (key) => {
      const values = owners.get(key)?.values
      const value = values?.get(key)
      if (values === undefined || value === undefined) return undefined
      values.delete(key)
      values.set(key, value)
      return value
    },
    set: (organizationId, key, value) => {
      remove(key)
      const share = shares.get(organizationId) ?? { values: new Map<string, Value>(), weight: 0 }
      shares.set(organizationId, share)
      share.values.set(key, value)
      owners.set(key, share)
      add(share, weightOf(value))
      while (weight > maxWeight) evict()
    },
    clear: () => {
      shares.clear()
      owners.clear()
      weight = 0
    },
  }
}

/** A `failure` is also cached, so that an unusable revision is compiled once. */
export type LoadedRevision =
  | {
      readonly revision: PolicyRevision
      readonly document: string
      readonly requires: readonly OptionalField[]
      readonly needs: readonly FactNeed[]
    }
  | { readonly revision: PolicyRevision; readonly failure: unknown }

export interface RevisionCacheOptions {
  readonly source: Pick<PolicySource, 'loadRevision'>
  readonly clock: Clock
  readonly work: FairWork
  readonly maxCharacters: number
  readonly joinWithinMs: number
}

export const sentRevisionOf = (loaded: LoadedRevision): SentRevision => ({
  id: loaded.revision.id,
  document: 'failure' in loaded ? null : loaded.document,
  size: loaded.revision.source.length,
})

function* examine(revision: PolicyRevision): Steps<LoadedRevision> {
  try {
    const { document, requires, needs } = yield* revisionSteps(revision)
    // Workers run no tests.
    return { revision, document: JSON.stringify({ ...document, tests: [] }), requires, needs }
  } catch (failure) {
    return { revision, failure }
  }
}

export const createRevisionCache = (options: RevisionCacheOptions) => {
  const cache = createFairCache<LoadedRevision>(options.maxCharacters, ({ revision }) =>
    weightOf(revision.source.length),
  )
  const loads = createSharedLoads<LoadedRevision | null>(options.clock, options.joinWithinMs)

  const fetchRevision = async (organizationId: string, revisionId: string): Promise<LoadedRevision | null> => {
    const revision = await options.source.loadRevision(revisionId)
    if (revision === null) return null
    const loaded = await options.work.run(organizationId, examine(revision))
    cache.set(organizationId, revisionId, loaded)
    return loaded
  }

  return {
    peek: (revisionId: string): LoadedRevision | undefined => cache.get(revisionId),
    /**
     * Returns null if unknown. Rejects if the store is unavailable; QueueFullError if too many revisions are being
     * compiled.
     */
    load: (organizationId: string, revisionId: string): Promise<LoadedRevision | null> =>
      loads.join(revisionId, 0, () => fetchRevision(organizationId, revisionId)),
    clear: cache.clear,
  }
}

export type RevisionCache = ReturnType<typeof createRevisionCache>

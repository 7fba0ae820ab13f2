// A number for each organization, configured by short name and asked for by id: its part of the workers' time, and how
// many of its attestations may be under way at once.
import { ALL_OTHERS } from '../config/setting-values.ts'
import type { Change } from '../store/changes.ts'
import type { Store } from '../store/store.ts'

export interface OrganizationNumbers {
  load(): Promise<void>
  of(organizationId: string): number
  /** What the change feed tells: the topic `organization`; others do nothing. */
  followChange(change: Pick<Change, 'topic'>): void
  resync(): void
}

export interface OrganizationNumbersOptions {
  readonly organizations: Pick<Store['organizations'], 'list'>
  readonly bySlug: ReadonlyMap<string, number>
  /** For those that are not named, where the configuration says nothing of all others. */
  readonly fallback: number
  readonly onError: (error: unknown) => void
  /** Short names that no organization has, or not yet. */
  readonly onUnknown: (slugs: readonly string[]) => void
}

export const createOrganizationNumbers = (options: OrganizationNumbersOptions): OrganizationNumbers => {
  const { organizations, bySlug, onError, onUnknown } = options
  const fallback = bySlug.get(ALL_OTHERS) ?? options.fallback
  const named = [...bySlug.keys()].filter((slug) => slug !== ALL_OTHERS)
  let byId: ReadonlyMap<string, number> = new Map()
  const load = async (): Promise<void> => {
    if (named.length === 0) return
    const all = await organizations.list()
    byId = new Map(all.map(({ id, slug }) => [id, bySlug.get(slug) ?? fallback]))
    const unknown = named.filter((slug) => !all.some((organization) => organization.slug === slug))
    if (unknown.length > 0) onUnknown(unknown)
  }
  const refresh = (): void => {
    load().catch(onError)
  }
  return {
    load,
    of: (organizationId) => byId.get(organizationId) ?? fallback,
    followChange: ({ topic }) => {
      if (topic === 'organization') refresh()
    },
    resync: refresh,
  }
}

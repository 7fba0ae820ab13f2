// Each organization's part of the workers' time, where several want more than there is: configured by short name, asked
// for by id. An organization that is not named has 1.
import type { Change } from '../store/changes.ts'
import type { Store } from '../store/store.ts'

export interface OrganizationWeights {
  load(): Promise<void>
  weightOf(organizationId: string): number
  /** What the change feed tells: the topic `organization`; others do nothing. */
  followChange(change: Pick<Change, 'topic'>): void
  resync(): void
}

export const createOrganizationWeights = (
  organizations: Pick<Store['organizations'], 'list'>,
  bySlug: ReadonlyMap<string, number>,
  onError: (error: unknown) => void,
  /** Short names that no organization has, or not yet. */
  onUnknown: (slugs: readonly string[]) => void,
): OrganizationWeights => {
  let byId: ReadonlyMap<string, number> = new Map()
  const load = async (): Promise<void> => {
    if (bySlug.size === 0) return
    const all = await organizations.list()
    byId = new Map(all.map(({ id, slug }) => [id, bySlug.get(slug) ?? 1]))
    const unknown = [...bySlug.keys()].filter((slug) => !all.some((organization) => organization.slug === slug))
    if (unknown.length > 0) onUnknown(unknown)
  }
  const refresh = (): void => {
    load().catch(onError)
  }
  return {
    load,
    weightOf: (organizationId) => byId.get(organizationId) ?? 1,
    followChange: ({ topic }) => {
      if (topic === 'organization') refresh()
    },
    resync: refresh,
  }
}

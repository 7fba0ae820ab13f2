// Numbers configured by an organization's short name and read by its id: queue weight, maximum attestations in flight.

import type { Config } from '../config/config.ts'
import { ALL_OTHERS } from '../config/setting-values.ts'
import { createReload } from '../lib/reload.ts'
import type { Change } from '../store/changes.ts'
import type { Store } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'

export interface OrganizationNumbers {
  load(): Promise<void>
  of(organizationId: string): number
  followChange(change: Pick<Change, 'topic'>): void
  resync(): void
}

export interface OrganizationNumbersOptions {
  readonly organizations: Pick<Store['organizations'], 'list'>
  readonly bySlug: ReadonlyMap<string, number>
  /** Number for organizations that aren't configured. */
  readonly fallback: number
  readonly onError: (error: unknown) => void
  /** Called with short names that no organization has yet. */
  readonly onUnknown: (slugs: readonly string[]) => void
}

export const createOrganizationNumbers = (options: OrganizationNumbersOptions): OrganizationNumbers => {
  const { organizations, bySlug, onError, onUnknown } = options
  const fallback = bySlug.get(ALL_OTHERS) ?? options.fallback
  const named = [...bySlug.keys()].filter((slug) => slug !== ALL_OTHERS)
  let byId: ReadonlyMap<string, number> = new Map()

  const read = async (): Promise<void> => {
    if (named.length === 0) return
    const all = await organizations.list()
    byId = new Map(all.map(({ id, slug }) => [id, bySlug.get(slug) ?? fallback]))
    const unknown = named.filter((slug) => !all.some((organization) => organization.slug === slug))
    if (unknown.length > 0) onUnknown(unknown)
  }
  const { load, refresh } = createReload(read, onError)
  return {
    load,
    of: (organizationId) => byId.get(organizationId) ?? fallback,
    followChange: ({ topic }) => {
      if (topic === 'organization') refresh()
    },
    resync: refresh,
  }
}

export const createOrganizationShares = (
  config: Pick<Config, 'organizationWeights' | 'organizationConcurrency'>,
  { organizations }: Pick<Store, 'organizations'>,
  log: Logger,
) => {
  const numbersOf = (setting: string, bySlug: ReadonlyMap<string, number>, fallback: number): OrganizationNumbers =>
    createOrganizationNumbers({
      organizations,
      bySlug,
      fallback,
      onError: (error) =>
        log.warn('could not read the organizations; keeping the previous values of a setting', { error, setting }),
      onUnknown: (slugs) => log.warn('a setting names unknown organizations', { setting, slugs }),
    })
  const weights = numbersOf('organization-weights', config.organizationWeights, 1)
  const caps = numbersOf('organization-concurrency', config.organizationConcurrency, Number.POSITIVE_INFINITY)
  const followers = [weights, caps]
  return {
    /** These followers must be loaded and receive all changes. */
    followers,
    weightOf: config.organizationWeights.size === 0 ? undefined : weights.of,
    /** Infinity for an organization without a limit; null if no organization has a limit. */
    capOf: config.organizationConcurrency.size === 0 ? null : caps.of,
  }
}

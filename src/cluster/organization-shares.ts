// Configured limits of each organization under load: queue weight, and maximum attestations in flight.

import type { Config } from '../config/config.ts'
import type { Store } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'
import { createOrganizationNumbers, type OrganizationNumbers } from './organization-numbers.ts'

export interface OrganizationShares {
  /** Must be loaded and receive all changes. */
  readonly followers: readonly OrganizationNumbers[]
  /** Undefined if all organizations have the same weight. */
  readonly weightOf: ((organizationId: string) => number) | undefined
  /** Returns Infinity for an organization without a limit; null if no organization has one. */
  readonly capOf: ((organizationId: string) => number) | null
}

export const createOrganizationShares = (
  config: Pick<Config, 'organizationWeights' | 'organizationConcurrency'>,
  { organizations }: Pick<Store, 'organizations'>,
  log: Logger,
): OrganizationShares => {
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
    followers,
    weightOf: config.organizationWeights.size === 0 ? undefined : weights.of,
    capOf: config.organizationConcurrency.size === 0 ? null : caps.of,
  }
}

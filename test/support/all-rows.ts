// Returns all rows of an organization as one page, because the store reads them page by page.
import type { Tables } from '../../src/store/store.ts'

const ALL = { after: null, limit: 1_000 }

export const allKeys = async ({ apiKeys }: Pick<Tables, 'apiKeys'>, organizationId: string) =>
  (await apiKeys.page({ organizationId }, ALL)).items

export const allBindings = async ({ bindings }: Pick<Tables, 'bindings'>, organizationId: string, projectId: string) =>
  (await bindings.page({ organizationId, projectId }, ALL)).items

/** Oldest first. */
export const allPolicies = async ({ policies }: Pick<Tables, 'policies'>, organizationId: string) =>
  (await policies.page(organizationId, ALL)).items

/** Newest first. */
export const allRevisions = async ({ policies }: Pick<Tables, 'policies'>, organizationId: string, policyId: string) =>
  (await policies.pageRevisions(organizationId, policyId, ALL)).items

// All rows of an organization in one page: tests have few, and the store reads them page by page.
import type { Tables } from '../../src/store/store.ts'

const ALL = { after: null, limit: 1_000 }

export const allKeys = async ({ apiKeys }: Pick<Tables, 'apiKeys'>, organizationId: string) =>
  (await apiKeys.page({ organizationId }, ALL)).items

export const allBindings = async ({ bindings }: Pick<Tables, 'bindings'>, organizationId: string, projectId: string) =>
  (await bindings.page({ organizationId, projectId }, ALL)).items

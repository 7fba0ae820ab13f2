// Policies and revisions of one organization, or 404; and what its documents may name.
import type { Policy, StoredRevision } from '../../store/policies.ts'
import type { Store, Tables } from '../../store/store.ts'
import { SubjectUnknownError } from '../errors.ts'
import type { Services } from '../services.ts'

export const requirePolicy = async (
  tables: Pick<Tables, 'policies'>,
  organizationId: string,
  policyId: string,
): Promise<Policy> => {
  const policy = await tables.policies.find(organizationId, policyId)
  if (policy === null) throw new SubjectUnknownError('policy')
  return policy
}

export const requireRevision = async (
  tables: Pick<Tables, 'policies'>,
  organizationId: string,
  policyId: string,
  revisionId: string,
): Promise<StoredRevision> => {
  const revision = await tables.policies.findRevision(organizationId, revisionId)
  if (revision === null || revision.policyId !== policyId) throw new SubjectUnknownError('revision')
  return revision
}

/** The lists, chains and screeners that a document of this organization may name. */
export const knownSources = async (
  store: Store,
  organizationId: string,
  { screeners, chains }: Services['policyFacts'],
) => {
  const lists = [...(await store.lists.list(organizationId)), ...(await store.lists.list(null))]
  return { lists: new Set(['allow', 'deny', ...lists.map(({ name }) => name)]), screeners, chains }
}

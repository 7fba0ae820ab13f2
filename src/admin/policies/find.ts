import { FieldInvalidError } from '../../domain/errors.ts'
import type { PolicySubject } from '../../policy/types/document.ts'
import type { CompiledPolicy } from '../../policy/types/program.ts'
import type { Policy, StoredRevision } from '../../store/organizations/policies.ts'
import type { Store, Tables } from '../../store/store.ts'
import { requireFound, SubjectUnknownError } from '../errors.ts'
import type { Services } from '../services.ts'

export const requirePolicy = async (
  tables: Pick<Tables, 'policies'>,
  organizationId: string,
  policyId: string,
): Promise<Policy> => requireFound(await tables.policies.find(organizationId, policyId), 'policy')

/** @throws FieldInvalidError if the document and the policy decide different subjects */
export const requireSameSubject = (decides: PolicySubject, { document }: CompiledPolicy): void => {
  if (document.decides === decides) return
  throw new FieldInvalidError('source', `decides ${document.decides}, but the policy decides ${decides}`)
}

export const requirePolicyOf = async (
  decides: PolicySubject,
  tables: Pick<Tables, 'policies'>,
  organizationId: string,
  policyId: string,
): Promise<Policy> => {
  const policy = await requirePolicy(tables, organizationId, policyId)
  if (policy.decides === decides) return policy
  throw new FieldInvalidError('policy_id', `must name a policy that decides ${decides}`)
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

/**
 * Returns the lists, chains and screeners that documents can use. Includes only existing lists: a rule fails without
 * its list.
 */
export const knownSources = async (
  store: Store,
  organizationId: string,
  { screeners, chains }: Pick<Services['policyFacts'], 'screeners' | 'chains'>,
) => {
  const lists = [...(await store.lists.list(organizationId)), ...(await store.lists.list(null))]
  return { organization: organizationId, lists: new Set(lists.map(({ name }) => name)), screeners, chains }
}

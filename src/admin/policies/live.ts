import { compileRevision } from '../../policy/revision.ts'
import type { FactNeed } from '../../policy/types/needs.ts'
import type { Policy } from '../../store/organizations/policies.ts'
import type { Tables } from '../../store/store.ts'
import { ConflictError, requireFound } from '../errors.ts'
import type { Note } from '../route.ts'
import { requirePolicy, requireRevision } from './find.ts'
import { requireTriedDecider } from './tried.ts'

export const activate = async (
  tables: Tables,
  note: Note,
  organizationId: string,
  policyId: string,
  revisionId: string,
): Promise<{ readonly policy: Policy; readonly needs: readonly FactNeed[] }> => {
  const before = await requirePolicy(tables, organizationId, policyId)
  const revision = await requireRevision(tables, organizationId, policyId, revisionId)
  // Responses contain the name in the active document, so rename the policy.
  const { document, needs } = await compileRevision(revision)
  const { name } = document
  if (name !== before.name) await tables.policies.rename(organizationId, policyId, name)
  const after = requireFound(await tables.policies.activateRevision(organizationId, policyId, revisionId), 'revision')
  await requireTriedDecider(tables, organizationId, policyId)
  note({
    action: 'policy.activate',
    subject: policyId,
    organizationId,
    detail: {
      revision: [before.activeRevisionId, revisionId],
      number: revision.number,
      content_hash: revision.contentHash,
      name: [before.name, name],
    },
  })
  return { policy: after, needs }
}

export const requireVersion = (policy: Policy, version: number | undefined): void => {
  if (version !== undefined && version !== policy.version) {
    throw new ConflictError('the policy has changed since you read it: read it again')
  }
}

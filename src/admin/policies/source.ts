import { FieldInvalidError, FieldMissingError } from '../../domain/errors.ts'
import { savedSteps, sourceSteps } from '../../policy/cel/compile.ts'
import type { CompiledPolicy } from '../../policy/types/program.ts'
import type { Deadline } from '../../server/deadline.ts'
import { requireFound } from '../errors.ts'
import { Type } from '../schema.ts'
import type { Services } from '../services.ts'

export const SOURCE_BYTES_MAX = 1_048_576
export const SOURCE = Type.String({ minLength: 1, maxLength: 262_144, description: 'Policy document, YAML or JSON' })

export const compiledOf = async (
  { store, policyWork }: Services,
  organizationId: string,
  deadline: Deadline,
  { source, revision_id: revisionId }: { source?: string; revision_id?: string },
): Promise<{ readonly source: string; readonly policy: CompiledPolicy }> => {
  if (source !== undefined && revisionId !== undefined) {
    throw new FieldInvalidError('source', 'must not be combined with revision_id')
  }
  if (source !== undefined) {
    const { policy } = await policyWork.run(organizationId, sourceSteps(source), deadline)
    return { source, policy }
  }
  if (revisionId === undefined) throw new FieldMissingError('source or revision_id')
  const revision = requireFound(await store.policies.findRevision(organizationId, revisionId), 'revision')
  return {
    source: revision.source,
    policy: await policyWork.run(organizationId, savedSteps(revision.source), deadline),
  }
}

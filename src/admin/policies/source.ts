// Reads the document of a trial from the request or from a revision.
import { FieldInvalidError, FieldMissingError } from '../../domain/errors.ts'
import { compilePolicy } from '../../policy/compile.ts'
import type { CompiledPolicy } from '../../policy/types/program.ts'
import { SubjectUnknownError } from '../errors.ts'
import { Type } from '../schema.ts'
import type { Services } from '../services.ts'

export const SOURCE_BYTES_MAX = 1_048_576
export const SOURCE = Type.String({ minLength: 1, maxLength: 262_144, description: 'The document, YAML or JSON' })

export const sourceOf = async (
  { store }: Services,
  organizationId: string,
  { source, revision_id: revisionId }: { source?: string; revision_id?: string },
): Promise<string> => {
  if (source !== undefined && revisionId !== undefined) {
    throw new FieldInvalidError('source', 'and revision_id exclude each other')
  }
  if (source !== undefined) return source
  if (revisionId === undefined) throw new FieldMissingError('source or revision_id')
  const revision = await store.policies.findRevision(organizationId, revisionId)
  if (revision === null) throw new SubjectUnknownError('revision')
  return revision.source
}

export const compiledOf = async (
  services: Services,
  organizationId: string,
  subject: { source?: string; revision_id?: string },
): Promise<CompiledPolicy> => compilePolicy(await sourceOf(services, organizationId, subject))

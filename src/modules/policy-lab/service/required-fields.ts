// Request fields that a policy's saved revisions read. The log does not distinguish an omitted field from an empty one, but
// a request with a verdict contained the fields that its revision read.
import type { OptionalField } from '../../../domain/target.ts'
import { PolicyUnusableError } from '../../../policy/evaluation-errors.ts'
import { compileRevision } from '../../../policy/revision.ts'
import type { CompiledPolicy } from '../../../policy/types/program.ts'
import type { StoredRevision } from '../../../store/organizations/policies.ts'
import type { Store } from '../../../store/store.ts'

/** Compiling takes up to 50 ms per revision. */
const REVISIONS_MAX = 20

/** Keyed by revision id. Empty if the replayed policy needs none of these fields. */
export type RequiredFields = Readonly<Record<string, readonly OptionalField[]>>

/** Returns an empty list if the revision is unknown or this version cannot use it. */
export const requiredBy = async (
  { policies }: Pick<Store, 'policies'>,
  organizationId: string,
  revisionId: string,
  compile: (revision: StoredRevision) => Promise<CompiledPolicy> = compileRevision,
): Promise<readonly OptionalField[]> => {
  const revision = await policies.findRevision(organizationId, revisionId)
  if (revision === null) return []
  try {
    return (await compile(revision)).requires
  } catch (error) {
    if (!(error instanceof PolicyUnusableError)) throw error
    return []
  }
}

/** Reads at most the newest 20 revisions. */
export const readRequiredFields = async (
  store: Pick<Store, 'policies'>,
  organizationId: string,
  policyId: string,
  { requires }: Pick<CompiledPolicy, 'requires'>,
  compile?: (revision: StoredRevision) => Promise<CompiledPolicy>,
): Promise<RequiredFields> => {
  const fields: Record<string, readonly OptionalField[]> = {}
  if (!requires.includes('data') && !requires.includes('msg_value')) return fields
  const { items } = await store.policies.pageRevisions(organizationId, policyId, { after: null, limit: REVISIONS_MAX })
  for (const { id } of items) fields[id] = await requiredBy(store, organizationId, id, compile)
  return fields
}

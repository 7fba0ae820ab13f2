// Compiles revisions in the organization's turn before a transaction reads them. Within the transaction, compiling would
// delay the writes of all organizations.
import { PolicyUnusableError } from '../../policy/evaluation-errors.ts'
import { rememberedSteps } from '../../policy/revision.ts'
import type { Deadline } from '../../server/deadline.ts'
import type { Services } from '../services.ts'

/**
 * Ignores revisions that are unknown or unusable; the transaction reports them.
 * @throws QueueFullError, DeadlineExceededError
 */
export const compileAhead = async (
  { store, policyWork }: Pick<Services, 'store' | 'policyWork'>,
  organizationId: string,
  revisionIds: readonly (string | null | undefined)[],
  deadline: Deadline,
): Promise<void> => {
  for (const revisionId of revisionIds) {
    const revision =
      typeof revisionId === 'string' ? await store.policies.findRevision(organizationId, revisionId) : null
    if (revision === null) continue
    await policyWork.run(organizationId, rememberedSteps(revision), deadline).catch((error: unknown) => {
      if (!(error instanceof PolicyUnusableError)) throw error
    })
  }
}

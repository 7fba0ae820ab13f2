// A policy decides sessions only by a revision that was tried on past sessions lately. The trial is a replay of exactly the
// revision's document that is done, whichever door it was asked for through.
import type { StoredRevision } from '../../store/organizations/policies.ts'
import type { Tables } from '../../store/store.ts'
import { ConflictError } from '../errors.ts'

export const REPLAY_KIND = 'policy.replay'
const TRIAL_DAYS = 30
const DAY_SECONDS = 86_400

/** @throws ConflictError where the revision was not tried */
const requireTrial = async (
  { tasks }: Pick<Tables, 'tasks'>,
  { id, number, organizationId, contentHash }: StoredRevision,
): Promise<void> => {
  if ((await tasks.newestDone(organizationId, REPLAY_KIND, { contentHash }, TRIAL_DAYS * DAY_SECONDS)) !== null) return
  throw new ConflictError(
    `revision ${number} was not tried on past sessions in the last ${TRIAL_DAYS} days: try it first, by replay in the ` +
      `dashboard, replayPolicy of the admin API or "countersign policy replay ${id}"`,
  )
}

/**
 * To be called in the transaction that chose the policy or activated its revision, after it did: of two such changes at
 * once the later one sees the other.
 * @throws ConflictError where the policy decides sessions by a revision that was not tried
 */
export const requireTriedDecider = async (
  tables: Pick<Tables, 'tasks' | 'policies' | 'sessionPolicies'>,
  organizationId: string,
  policyId: string,
): Promise<void> => {
  if ((await tables.sessionPolicies.find(organizationId)) !== policyId) return
  const revisionId = (await tables.policies.find(organizationId, policyId))?.activeRevisionId ?? null
  const revision = revisionId === null ? null : await tables.policies.findRevision(organizationId, revisionId)
  if (revision !== null) await requireTrial(tables, revision)
}

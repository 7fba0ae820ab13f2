// Requires a recent trial of a revision on past sessions before it decides sessions. The trial is a completed replay of
// exactly the revision's document, no matter how it was requested. A trial without sessions counts only if people have
// not decided any.

import { PROGRAM } from '../../program/labels.ts'
import type { StoredRevision } from '../../store/organizations/policies.ts'
import type { Tables } from '../../store/store.ts'
import { ConflictError } from '../errors.ts'

export const REPLAY_KIND = 'policy.replay'
const TRIAL_DAYS = 30
const DAY_SECONDS = 86_400

const EVER = { sinceSeconds: 0, untilSeconds: Number.MAX_SAFE_INTEGER }
/** Number of newest sessions per outcome among which one decided by people is searched. */
const SESSIONS_SEARCHED = 1_000

/** @throws ConflictError if the revision was not tried, or only without sessions although people have decided some */
const requireTrial = async (
  { tasks, sessions }: Pick<Tables, 'tasks' | 'sessions'>,
  { id, number, organizationId, contentHash }: StoredRevision,
): Promise<void> => {
  const trial = await tasks.newestDone(organizationId, REPLAY_KIND, { contentHash }, TRIAL_DAYS * DAY_SECONDS)
  if (trial === null) {
    throw new ConflictError(
      `revision ${number} was not tried on past sessions in the last ${TRIAL_DAYS} days: first try it with a replay in the dashboard, replayPolicy of the admin API or "${PROGRAM} policy replay ${id}"`,
    )
  }
  if (trial.result?.['sessions'] !== 0) return
  if ((await sessions.findDecidedByPeople(organizationId, EVER, SESSIONS_SEARCHED)).length === 0) return
  throw new ConflictError(
    `the newest trial of revision ${number} covered no sessions: try it on a period in which reviewers decided sessions`,
  )
}

/**
 * Must be called in the transaction that selects the policy or activates its revision, after that change. If two
 * changes are concurrent, the later one then sees the other.
 * @throws ConflictError if the policy decides sessions by an untried revision
 */
export const requireTriedDecider = async (
  tables: Pick<Tables, 'tasks' | 'sessions' | 'policies' | 'sessionPolicies'>,
  organizationId: string,
  policyId: string,
): Promise<void> => {
  if ((await tables.sessionPolicies.find(organizationId)) !== policyId) return
  const revisionId = (await tables.policies.find(organizationId, policyId))?.activeRevisionId ?? null
  const revision = revisionId === null ? null : await tables.policies.findRevision(organizationId, revisionId)
  if (revision !== null) await requireTrial(tables, revision)
}

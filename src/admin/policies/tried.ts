// A policy decides sessions only by a revision that was tried on past sessions lately. The trial is a replay of exactly the
// revision's document that is done, whichever door it was asked for through. A trial on no session counts only while people
// have decided none.

import { PROGRAM } from '../../program/labels.ts'
import type { StoredRevision } from '../../store/organizations/policies.ts'
import type { Tables } from '../../store/store.ts'
import { ConflictError } from '../errors.ts'

export const REPLAY_KIND = 'policy.replay'
const TRIAL_DAYS = 30
const DAY_SECONDS = 86_400

const EVER = { sinceSeconds: 0, untilSeconds: Number.MAX_SAFE_INTEGER }
/** Newest sessions of each outcome among which one is searched that people have decided. */
const SESSIONS_SEARCHED = 1_000

/** @throws ConflictError if the revision was not tried, or on no session although people have decided some */
const requireTrial = async (
  { tasks, sessions }: Pick<Tables, 'tasks' | 'sessions'>,
  { id, number, organizationId, contentHash }: StoredRevision,
): Promise<void> => {
  const trial = await tasks.newestDone(organizationId, REPLAY_KIND, { contentHash }, TRIAL_DAYS * DAY_SECONDS)
  if (trial === null) {
    throw new ConflictError(
      `revision ${number} was not tried on past sessions in the last ${TRIAL_DAYS} days: try it first, by replay in the ` +
        `dashboard, replayPolicy of the admin API or "${PROGRAM} policy replay ${id}"`,
    )
  }
  if (trial.result?.['sessions'] !== 0) return
  if ((await sessions.findDecidedByPeople(organizationId, EVER, SESSIONS_SEARCHED)).length === 0) return
  throw new ConflictError(
    `the newest trial of revision ${number} had no session: try it on a time in which people have decided sessions`,
  )
}

/**
 * To be called in the transaction that chose the policy or activated its revision, after it did: of two such changes at
 * once the later one sees the other.
 * @throws ConflictError where the policy decides sessions by a revision that was not tried
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

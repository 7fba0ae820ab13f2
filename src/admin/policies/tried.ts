// Requires a recent replay of a document on past sessions before exactly this document decides sessions.

import { PROGRAM } from '../../program/labels.ts'
import type { StoredRevision } from '../../store/organizations/policies.ts'
import type { Tables } from '../../store/store.ts'
import { ConflictError } from '../errors.ts'

export const REPLAY_KIND = 'policy.replay'
const TRIAL_DAYS = 30
const DAY_SECONDS = 86_400

const EVER = { sinceSeconds: 0, untilSeconds: Number.MAX_SAFE_INTEGER }
/** Newest sessions per outcome that are searched for a decision by a person. */
const SESSIONS_SEARCHED = 1_000

const requireTrial = async (
  { tasks, sessions }: Pick<Tables, 'tasks' | 'sessions'>,
  { id, number, organizationId, contentHash }: StoredRevision,
): Promise<void> => {
  const trial = await tasks.newestDone(organizationId, REPLAY_KIND, { contentHash }, TRIAL_DAYS * DAY_SECONDS)
  if (trial === null) {
    throw new ConflictError(
      `revision ${number} was not replayed on past sessions in the last ${TRIAL_DAYS} days: replay it in the dashboard, with replayPolicy in the admin API, or with "${PROGRAM} policy replay ${id}"`,
    )
  }
  if (trial.result?.['sessions'] !== 0) return
  if ((await sessions.findDecidedByPeople(organizationId, EVER, SESSIONS_SEARCHED)).length === 0) return
  throw new ConflictError(
    `the newest replay of revision ${number} covered no sessions: replay it on a period in which reviewers decided sessions`,
  )
}

/** Call after selecting the policy or activating its revision, in the same transaction. @throws ConflictError */
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

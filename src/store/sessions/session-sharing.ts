// Which completed sessions other organizations may rely on, and the notice to caches when that changes for another reason
// than a change of the session. Source: threats row 3.
import type { Transaction } from '../database.ts'
import { announceSession } from './session-changes.ts'
import { placeholdersFor, readState } from './session-rows.ts'

const HAS_UNSETTLED_HIT = `EXISTS (SELECT 1 FROM screening_hits hit WHERE hit.organization_id = sessions.organization_id
    AND hit.session_id = sessions.id AND hit.state IN ('open', 'confirmed'))`

/** For statements over `sessions`: the person agreed, all checks are made, and no hit is open or confirmed. */
export const IS_SHARED = `sessions.consented_at_seconds IS NOT NULL AND NOT ${HAS_UNSETTLED_HIT}
  AND NOT EXISTS (SELECT 1 FROM session_check_queue queued WHERE queued.organization_id = sessions.organization_id
    AND queued.session_id = sessions.id AND queued.is_made = 0)`

/** Call it when a session's hits or pending checks have changed. Caches drop what they hold of its wallets and its person. */
export const announceSharing = async (
  transaction: Transaction,
  organizationId: string,
  sessionId: string,
  nowSeconds: number,
): Promise<void> => {
  const state = await readState(transaction, organizationId, sessionId)
  if (state?.session.status === 'completed') await announceSession(transaction, state, nowSeconds)
}

/** Changes the hits of sessions by `work`, and announces the sessions of which that starts or ends the sharing. */
export const whileSharing = async <Result>(
  transaction: Transaction,
  organizationId: string,
  sessionIds: readonly string[],
  nowSeconds: number,
  work: () => Promise<Result>,
): Promise<Result> => {
  const readUnsettled = async () =>
    new Set(
      (
        await transaction.query<{ id: string }>(
          `SELECT id FROM sessions WHERE organization_id = ? AND id IN (${placeholdersFor(sessionIds)})
             AND status = 'completed' AND ${HAS_UNSETTLED_HIT}`,
          [organizationId, ...sessionIds],
        )
      ).map(({ id }) => id),
    )
  const before = await readUnsettled()
  const result = await work()
  for (const id of before.symmetricDifference(await readUnsettled())) {
    await announceSharing(transaction, organizationId, id, nowSeconds)
  }
  return result
}

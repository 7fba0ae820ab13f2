// Completed sessions on which other organizations can rely, and their announcement to caches (threats row 3).
import type { Transaction } from '../database.ts'
import { announceSession } from './session-changes.ts'
import { placeholdersFor, readState } from './session-rows.ts'

/**
 * Conditions for statements over `sessions`, like the following conditions. The concatenation keeps SQLite from reading
 * by organization.
 */
export const IS_OWN = "sessions.organization_id || '' = ?"

export const HAS_UNSETTLED_HIT = `EXISTS (SELECT 1 FROM screening_hits hit WHERE hit.organization_id = sessions.organization_id
    AND hit.session_id = sessions.id AND hit.state IN ('open', 'confirmed'))`

export const IS_REVOKED = "(sessions.decided_sequence IS NOT NULL AND sessions.status NOT IN ('completed', 'rejected'))"
export const HAS_PENDING_CHECKS = `EXISTS (SELECT 1 FROM session_check_queue queued
    WHERE queued.organization_id = sessions.organization_id AND queued.session_id = sessions.id AND queued.is_made = 0)`

/** A hit is open or confirmed, checks are pending, or the session was revoked and has not been decided since. */
export const IS_UNSETTLED = `(${HAS_UNSETTLED_HIT} OR ${IS_REVOKED} OR ${HAS_PENDING_CHECKS})`

/** Independent of open hits: one organization's doubt must not end other organizations' rejections. */
export const IS_COMPLETED_WITH_CONSENT = "(sessions.status = 'completed' AND sessions.consented_at_seconds IS NOT NULL)"

export const IS_SHARED = `sessions.consented_at_seconds IS NOT NULL AND NOT ${IS_UNSETTLED}`

/** Call after the session's hits or pending checks have changed. */
export const announceSharing = async (
  transaction: Transaction,
  organizationId: string,
  sessionId: string,
  nowSeconds: number,
): Promise<void> => {
  const state = await readState(transaction, organizationId, sessionId)
  if (state !== null) await announceSession(transaction, state, nowSeconds)
}

/** Runs `work`, and announces the sessions whose first hit it opens or whose last open hit it settles. */
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
             AND ${HAS_UNSETTLED_HIT}`,
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

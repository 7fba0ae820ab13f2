// Blocks automatic completions (by policies, external deciders and verification services) if anything counts against
// the session or its linked sessions. Source: decisions §5, "Automatic completion".
import { isUncompared } from '../../domain/screening-hit.ts'
import type { Session } from '../../domain/session.ts'
import { LinkedChecksPendingError, LinkedSessionsError, RejectedBeforeError } from '../../domain/session-errors.ts'
import type { Statements, Transaction } from '../database.ts'
import { lockDeployment } from '../row-locks.ts'
import { findLinkedSessions, type LinkedSessions } from './linked-sessions.ts'
import { IS_SAME_WALLET } from './persons.ts'
import { requireCompared } from './session-checks.ts'
import { placeholdersFor } from './session-rows.ts'
import { HAS_PENDING_CHECKS, HAS_UNSETTLED_HIT, IS_REVOKED, IS_UNSETTLED } from './session-sharing.ts'

/** An operator's last completion with this type of check, per connected wallet; null if there is none. */
export const OPERATOR_COMPLETIONS = `SELECT (
    SELECT MAX(COALESCE(sessions.decided_sequence, 0)) FROM session_wallets theirs
    JOIN sessions ON sessions.organization_id = theirs.organization_id AND sessions.id = theirs.session_id
    WHERE ${IS_SAME_WALLET} AND theirs.environment = mine.environment
      AND theirs.organization_id = mine.organization_id AND sessions.status = 'completed' AND sessions.check_type = ?
      AND EXISTS (SELECT 1 FROM session_events decision WHERE decision.organization_id = sessions.organization_id
        AND decision.session_id = sessions.id AND decision.kind = 'status' AND decision.status = 'completed'
        AND decision.actor LIKE 'operator:%')) AS decided
  FROM session_wallets mine WHERE mine.organization_id = ? AND mine.session_id = ?`

/**
 * Returns the sequence number of the oldest of the operators' last completions per connected wallet. Everything before
 * it is settled.
 */
const findSettled = async (statements: Statements, { organizationId, id, checkType }: Session): Promise<number> => {
  const parameters = [checkType, organizationId, id]
  const rows = await statements.query<{ decided: number | null }>(OPERATOR_COMPLETIONS, parameters)
  if (rows.length === 0) return Number.NEGATIVE_INFINITY
  return Math.min(...rows.map(({ decided }) => (decided === null ? Number.NEGATIVE_INFINITY : Number(decided))))
}

export const selectLastRejection = (
  subjects: readonly string[],
): string => `SELECT MAX(decided_sequence) AS decided FROM session_rejections
  WHERE subject IN (${placeholdersFor(subjects)}) AND organization_id = ? AND environment = ? AND needs_operator = 1`

interface UnsettledRow {
  readonly is_rejected: number
  readonly decided: number
  readonly has_hit: number
  readonly is_pending: number
  readonly is_revoked: number
}

const flagged = (condition: string): string => `CASE WHEN ${condition} THEN 1 ELSE 0 END`

const selectUnsettled = (
  ids: readonly string[],
): string => `SELECT ${flagged("sessions.status = 'rejected'")} AS is_rejected,
    COALESCE(sessions.decided_sequence, 0) AS decided, ${flagged(HAS_UNSETTLED_HIT)} AS has_hit,
    ${flagged(HAS_PENDING_CHECKS)} AS is_pending, ${flagged(IS_REVOKED)} AS is_revoked
  FROM sessions WHERE sessions.organization_id = ? AND sessions.id IN (${placeholdersFor(ids)}) AND ${IS_UNSETTLED}`

const selectChecks = (
  ids: readonly string[],
): string => `SELECT session_checks.name, session_checks.outcome FROM sessions
  JOIN session_checks ON session_checks.organization_id = sessions.organization_id
    AND session_checks.session_id = sessions.id
  WHERE sessions.organization_id = ? AND sessions.id IN (${placeholdersFor(ids)}) AND sessions.status = 'submitted'`

const requireSettled = async (
  transaction: Transaction,
  organizationId: string,
  ids: readonly string[],
  settled: number,
): Promise<void> => {
  const rows = await transaction.query<UnsettledRow>(selectUnsettled(ids), [organizationId, ...ids])
  // A rejected session gets no new hits, so settling the rejection settles its hits too.
  if (rows.some((row) => row.has_hit === 1 && !(row.is_rejected === 1 && row.decided <= settled))) {
    throw new LinkedSessionsError('another session of the person or their wallets has an open or confirmed hit')
  }
  if (rows.some((row) => row.is_revoked === 1 && row.decided > settled)) {
    throw new LinkedSessionsError('a session of the person or their wallets was revoked and has not been decided again')
  }
  const checks = await transaction.query<{ name: string; outcome: string }>(selectChecks(ids), [organizationId, ...ids])
  if (isUncompared(checks)) {
    throw new LinkedSessionsError(
      'another session of the same person or with the same wallets could not be compared with the lists',
    )
  }
  if (rows.some((row) => row.is_pending === 1)) throw new LinkedChecksPendingError()
}

/** @returns the result of findSettled @throws RejectedBeforeError for a rejection that is not settled */
export const requireNotRejected = async (
  statements: Statements,
  session: Session,
  { addresses, persons }: Pick<LinkedSessions, 'addresses' | 'persons'>,
): Promise<number> => {
  const settled = await findSettled(statements, session)
  const subjects = ['', ...addresses, ...persons]
  const [last] = await statements.query<{ decided: number | null }>(selectLastRejection(subjects), [
    ...subjects,
    session.organizationId,
    session.environment,
  ])
  const rejected = last?.decided ?? null
  if (rejected !== null && Number(rejected) > settled) throw new RejectedBeforeError()
  return settled
}

/**
 * Call in the transaction that completes a session automatically, after requireHitsDecided. It fails on:
 * - a name or a wallet of a submitted session that could not be compared;
 * - a rejection of a linked address or person by an operator or by screening;
 * - an open or confirmed hit, or pending checks, of a linked session;
 * - the session or a linked session that was revoked and has not been decided since.
 * An operator's later completion of all connected wallets, with the same type of check, settles rejections and
 * revocations.
 * @throws UncomparedError, RejectedBeforeError, LinkedSessionsError, LinkedChecksPendingError
 */
export const requireNothingAgainst = async (transaction: Transaction, session: Session): Promise<void> => {
  const { organizationId, id } = session
  await requireCompared(transaction, session)
  // Rejections and completions of linked sessions take this lock too: each has committed or waits.
  await lockDeployment(transaction)
  const linked = await findLinkedSessions(transaction, session)
  const settled = await requireNotRejected(transaction, session, linked)
  await requireSettled(transaction, organizationId, [id, ...linked.sessionIds], settled)
}

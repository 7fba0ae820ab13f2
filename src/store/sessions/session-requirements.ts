// Requirements for completing a session: wallets, and evidence of its level, all of it submitted.
import { missingParts, type SessionPart } from '../../domain/requirements.ts'
import { isSessionOpen, type Session } from '../../domain/session.ts'
import { ChangesUnsubmittedError, ChecksPendingError } from '../../domain/session-errors.ts'
import { splitNames } from '../columns.ts'
import type { Statements, Transaction } from '../database.ts'
import { FIELDS_KIND, KEPT_OF_SESSION } from '../evidence/evidence-rows.ts'
import { SESSIONS } from './session-rows.ts'

type Target = Pick<Session, 'organizationId' | 'id'>

const GIVEN = `SELECT CASE kind WHEN '${FIELDS_KIND}' THEN field_names ELSE kind END AS parts FROM session_evidence
    WHERE ${KEPT_OF_SESSION}
  UNION ALL SELECT 'wallets' FROM session_wallets WHERE organization_id = ? AND session_id = ?`

/** Returns the filled fields, kinds of documents, and `wallets` if one is connected. */
export const readGivenParts = async (
  statements: Statements,
  { organizationId, id }: Target,
): Promise<ReadonlySet<string>> => {
  const session = [organizationId, id]
  const rows = await statements.query<{ readonly parts: string }>(GIVEN, [...session, ...session])
  return new Set(rows.flatMap(({ parts }) => splitNames(parts)))
}

export const findMissingParts = async (
  statements: Statements,
  session: Target & Pick<Session, 'checkType' | 'level'>,
): Promise<readonly SessionPart[]> => missingParts(session, await readGivenParts(statements, session))

interface ChangeRow {
  readonly submitted: number | null
  readonly evidence: number | null
  readonly wallets: number | null
  readonly submitted_at: number | null
  /** Sequence number at which the checks were last queued without a submission. */
  readonly queued: number | null
  readonly queued_at: number | null
  readonly connected: number
}

/** Validity of the checks of an open session, which list changes do not repeat. */
export const CHECKS_VALID_SECONDS = 600

const EVENTS = 'FROM session_events event WHERE event.organization_id = s.organization_id AND event.session_id = s.id'
const SUBMITTED = "event.kind = 'status' AND event.status = 'submitted'"
const LAST_CHANGES = `SELECT
    (SELECT MAX(sequence) ${EVENTS} AND ${SUBMITTED}) AS submitted,
    (SELECT MAX(created_at_seconds) ${EVENTS} AND ${SUBMITTED}) AS submitted_at,
    (SELECT MAX(sequence) ${EVENTS} AND event.kind = 'evidence-changed') AS evidence,
    (SELECT MAX(sequence) ${EVENTS} AND event.kind IN ('wallet-connected', 'wallet-removed')) AS wallets,
    (SELECT COUNT(*) FROM session_wallets wallet
      WHERE wallet.organization_id = s.organization_id AND wallet.session_id = s.id) AS connected,
    checks_queued_sequence AS queued, checks_queued_at_seconds AS queued_at
  FROM sessions s WHERE s.organization_id = ? AND s.id = ?`

const readChecksState = async (
  statements: Statements,
  { organizationId, id, status }: Target & Pick<Session, 'status'>,
  nowSeconds: number,
): Promise<'current' | 'outdated' | 'unsubmitted'> => {
  if (!isSessionOpen(status)) return 'current'
  const [row] = await statements.query<ChangeRow>(LAST_CHANGES, [organizationId, id])
  if (row === undefined) return 'current'
  const { submitted, evidence, connected } = row
  const wallets = row.wallets ?? 0
  if ((evidence ?? 0) > (submitted ?? 0) || (submitted !== null && wallets > submitted)) return 'unsubmitted'
  if (submitted === null && connected === 0) return 'current'
  const checkedSequence = Math.max(submitted ?? 0, row.queued ?? 0)
  const checkedAtSeconds = Math.max(row.submitted_at ?? 0, row.queued_at ?? 0)
  return checkedSequence < wallets || nowSeconds - checkedAtSeconds > CHECKS_VALID_SECONDS ? 'outdated' : 'current'
}

/**
 * Call in the transaction that completes a session. If it was never submitted, an operator can complete it once its
 * wallets are checked; `queueMissingChecks` queues the checks. @throws ChangesUnsubmittedError, ChecksPendingError
 */
export const requireCurrentChecks = async (
  transaction: Transaction,
  session: Target & Pick<Session, 'status'>,
  nowSeconds: number,
): Promise<void> => {
  const state = await readChecksState(transaction, session, nowSeconds)
  if (state === 'unsubmitted') throw new ChangesUnsubmittedError()
  if (state === 'outdated') throw new ChecksPendingError()
}

/** Returns true if the checks were outdated; the caller must then queue them. */
export const markQueued = async (
  transaction: Transaction,
  session: Target & Pick<Session, 'status' | 'sequence'>,
  nowSeconds: number,
): Promise<boolean> => {
  if ((await readChecksState(transaction, session, nowSeconds)) !== 'outdated') return false
  const { organizationId, id, sequence } = session
  const queued = { checksQueuedSequence: sequence, checksQueuedAtSeconds: nowSeconds }
  await SESSIONS.updateAll(transaction, { organizationId, id }, queued)
  return true
}

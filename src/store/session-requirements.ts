// What a session must have before it is completed: its wallets and the evidence of its level (domain/requirements.ts), all of
// it submitted, so that the checks have seen it.
import { missingParts, type SessionPart } from '../domain/requirements.ts'
import { isSessionOpen, type Session } from '../domain/session.ts'
import { ChangesUnsubmittedError } from '../domain/session-errors.ts'
import type { Statements, Transaction } from './database.ts'
import { FIELDS_KIND, OF_SESSION, splitNames } from './evidence/evidence-rows.ts'

type Target = Pick<Session, 'organizationId' | 'id'>

const GIVEN = `SELECT CASE kind WHEN '${FIELDS_KIND}' THEN field_names ELSE kind END AS parts FROM session_evidence
    WHERE ${OF_SESSION}
  UNION ALL SELECT 'wallets' FROM session_wallets WHERE organization_id = ? AND session_id = ?`

/** The parts that a session has: filled fields, kinds of documents, and `wallets` if one is connected. */
export const readGivenParts = async (
  statements: Statements,
  { organizationId, id }: Target,
): Promise<ReadonlySet<string>> => {
  const session = [organizationId, id]
  const rows = await statements.query<{ readonly parts: string }>(GIVEN, [...session, ...session])
  return new Set(rows.flatMap(({ parts }) => splitNames(parts)))
}

/** The required parts that a session lacks. */
export const findMissingParts = async (
  statements: Statements,
  session: Target & Pick<Session, 'checkType' | 'level'>,
): Promise<readonly SessionPart[]> => missingParts(session, await readGivenParts(statements, session))

interface ChangeRow {
  readonly submitted: number | null
  readonly evidence: number | null
  readonly wallets: number | null
}

const lastEvent = (where: string): string =>
  `(SELECT MAX(sequence) FROM session_events WHERE organization_id = ? AND session_id = ? AND ${where})`
const LAST_CHANGES = `SELECT ${lastEvent("kind = 'status' AND status = 'submitted'")} AS submitted,
  ${lastEvent("kind = 'evidence-changed'")} AS evidence,
  ${lastEvent("kind IN ('wallet-connected', 'wallet-removed')")} AS wallets`

/**
 * Call it in the transaction that completes a session. The wallets of a session that was never submitted don't count: such a
 * session has no evidence, so that an operator must override the requirement anyway.
 * @throws ChangesUnsubmittedError
 */
export const requireSubmitted = async (
  transaction: Transaction,
  { organizationId, id, status }: Target & Pick<Session, 'status'>,
): Promise<void> => {
  if (!isSessionOpen(status)) return
  const session = [organizationId, id]
  const [row] = await transaction.query<ChangeRow>(LAST_CHANGES, [...session, ...session, ...session])
  const { submitted = null, evidence = null, wallets = null } = row ?? {}
  const isChanged = (evidence ?? 0) > (submitted ?? 0) || (submitted !== null && (wallets ?? 0) > submitted)
  if (isChanged) throw new ChangesUnsubmittedError()
}

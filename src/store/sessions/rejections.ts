// Rejections by address and person. They apply to all types of check until a later completion with the wallet; revoking
// that completion restores them. Only the last rejection of a subject is kept. Source: decisions §5, "Session states".
import type { WalletAddress } from '../../domain/address.ts'
import type { ApiKeyEnvironment } from '../../domain/api-key.ts'
import { isOperatorActor, SCREENING_ACTOR, type Session } from '../../domain/session.ts'
import { flag, integer, text, typed } from '../columns.ts'
import type { Statements, Transaction } from '../database.ts'
import { lockDeployment } from '../row-locks.ts'
import { defineTable } from '../table.ts'
import { findRejectedPersons, personsOf, WALLETS_OF_SESSION } from './persons.ts'
import { IS_COMPLETED_WITH_CONSENT, IS_OWN, IS_REVOKED } from './session-sharing.ts'

const REJECTIONS = defineTable('session_rejections', {
  /** Address, person, or the session itself. The session's own row is never replaced. */
  subject: text,
  organizationId: text,
  environment: typed<ApiKeyEnvironment>(),
  sessionId: text,
  /** Rejected by an operator or by screening: only an operator's completion lifts it for automatic deciders. */
  needsOperator: flag,
  /** Assigned at the commit by numberDecision. */
  decidedSequence: integer,
})

/**
 * Returns a condition on `session_rejections` as `rejected`. Parameters are SQL expressions that don't refer to
 * `sessions`.
 */
export const concerns = (address: string, environment: string, organizationId: string): string =>
  `rejected.subject IN (SELECT ${address} UNION ALL ${personsOf(address, environment, organizationId)})
    AND rejected.organization_id = ${organizationId} AND rejected.environment = ${environment}`

interface WalletOfOrganization {
  readonly organizationId: string
  readonly environment: ApiKeyEnvironment
}

export const REJECTIONS_OF_WALLET = `session_rejections rejected WHERE ${concerns('?', '?', '?')}`
export const ofWallet = ({ organizationId, environment }: WalletOfOrganization, address: WalletAddress) => [
  address,
  address,
  environment,
  organizationId,
  organizationId,
  environment,
]

const SUBJECTS_OF_REJECTION = 'SELECT subject FROM session_rejections WHERE organization_id = ? AND session_id = ?'

/** Condition for statements over `sessions` as `s`. */
export const NEEDS_OPERATOR = `EXISTS (SELECT 1 FROM session_rejections rejected
  WHERE rejected.organization_id = s.organization_id AND rejected.session_id = s.id AND rejected.needs_operator = 1)`

/** Includes disconnected wallets: a person must not lift a rejection by disconnecting the address. */
export const ADD_ADDRESSES = `INSERT INTO session_rejections
    (subject, organization_id, environment, session_id, needs_operator, decided_sequence)
  SELECT address, ?, ?, ?, CASE WHEN ? = 'yes' THEN 1 ELSE 0 END, 0 FROM (
    SELECT address FROM (${WALLETS_OF_SESSION}) AS of_session
    UNION SELECT held.address FROM sessions JOIN session_wallets held
      ON held.organization_id = sessions.organization_id AND held.session_id = sessions.id
    WHERE sessions.person_id IN (${SUBJECTS_OF_REJECTION})
      AND (sessions.organization_id = ? OR ${IS_COMPLETED_WITH_CONSENT})
    UNION SELECT removed.address FROM sessions JOIN session_removed_wallets removed
      ON removed.organization_id = sessions.organization_id AND removed.session_id = sessions.id
    WHERE sessions.person_id IN (${SUBJECTS_OF_REJECTION}) AND ${IS_OWN}
  ) AS addresses`

/**
 * Each organization keeps the last rejection per subject, and the last rejection that needs an operator. Reads of a
 * subject are therefore short, however many sessions of its persons are rejected.
 */
export const REPLACE_EARLIER = `DELETE FROM session_rejections WHERE organization_id = ? AND environment = ? AND needs_operator = ?
  AND session_id <> ? AND subject IN (${SUBJECTS_OF_REJECTION})`

/** Call before numbering and announcing the rejection. Returns the person to assign to the session, if any. */
export const recordRejection = async (transaction: Transaction, session: Session, actor: string) => {
  const { organizationId, id: sessionId, environment } = session
  // Prevents concurrent completions from assigning a person or completing a wallet that the rejection misses.
  await lockDeployment(transaction)
  const { personIds, assigned } = await findRejectedPersons(transaction, session)
  const needsOperator = isOperatorActor(actor) || actor === SCREENING_ACTOR
  const rejection = { organizationId, environment, sessionId, needsOperator, decidedSequence: 0 }
  for (const subject of [...personIds, sessionId]) await REJECTIONS.insert(transaction, { ...rejection, subject })
  const ids = [organizationId, sessionId]
  const person = [...ids, organizationId]
  const row = [organizationId, environment, sessionId, needsOperator ? 'yes' : 'no']
  await transaction.execute(ADD_ADDRESSES, [...row, ...ids, ...ids, ...ids, ...person, ...person])
  await transaction.execute(REPLACE_EARLIER, [organizationId, environment, needsOperator ? 1 : 0, sessionId, ...ids])
  return assigned
}

/** Returns a condition on `session_rejections` as `rejected`: the subject has no such or later rejection. */
const isLaterThanThoseOf = (subject: string): string => `NOT EXISTS (SELECT 1 FROM session_rejections kept
    WHERE kept.subject = ${subject} AND kept.organization_id = rejected.organization_id
      AND kept.environment = rejected.environment AND kept.needs_operator = rejected.needs_operator
      AND (kept.decided_sequence, kept.session_id) >= (rejected.decided_sequence, rejected.session_id))`

const ADD_PERSON = `INSERT INTO session_rejections
    (subject, organization_id, environment, session_id, needs_operator, decided_sequence)
  SELECT DISTINCT sessions.person_id, rejected.organization_id, rejected.environment, rejected.session_id,
    rejected.needs_operator, rejected.decided_sequence
  FROM sessions JOIN session_wallets held
    ON held.organization_id = sessions.organization_id AND held.session_id = sessions.id
  JOIN session_rejections rejected ON rejected.subject = held.address AND rejected.environment = held.environment
    AND rejected.organization_id <> held.organization_id
  WHERE sessions.organization_id = ? AND sessions.id = ? AND ${IS_COMPLETED_WITH_CONSENT}
    AND sessions.person_id IS NOT NULL AND ${isLaterThanThoseOf('sessions.person_id')}`

/** Query for the wallets that other organizations connect with a person through consenting sessions. */
const WALLETS_OF_PERSON = `SELECT held.address FROM sessions JOIN session_wallets held
    ON held.organization_id = sessions.organization_id AND held.session_id = sessions.id
  WHERE sessions.person_id = ? AND ${IS_COMPLETED_WITH_CONSENT}`

export const ADD_WALLETS = `INSERT INTO session_rejections
    (subject, organization_id, environment, session_id, needs_operator, decided_sequence)
  SELECT DISTINCT held.address, rejected.organization_id, rejected.environment, rejected.session_id,
    rejected.needs_operator, rejected.decided_sequence
  FROM session_rejections rejected
  JOIN sessions ON sessions.person_id = rejected.subject AND sessions.environment = rejected.environment
  JOIN session_wallets held ON held.organization_id = sessions.organization_id AND held.session_id = sessions.id
  WHERE rejected.subject = ? AND rejected.organization_id <> ? AND ${IS_COMPLETED_WITH_CONSENT}
    AND ${isLaterThanThoseOf('held.address')}`

const isReplaced = `EXISTS (SELECT 1 FROM session_rejections later WHERE later.subject = session_rejections.subject
    AND later.organization_id = session_rejections.organization_id
    AND later.environment = session_rejections.environment
    AND later.needs_operator = session_rejections.needs_operator
    AND (later.decided_sequence, later.session_id) > (session_rejections.decided_sequence, session_rejections.session_id))`
const REMOVE_REPLACED_OF_PERSON = `DELETE FROM session_rejections WHERE subject = ? AND ${isReplaced}`
export const REMOVE_REPLACED_OF_WALLETS = `DELETE FROM session_rejections
  WHERE subject IN (${WALLETS_OF_PERSON}) AND ${isReplaced}`

/**
 * Adds a consenting session's person and wallets to other organizations' earlier rejections, permanently. Call it after
 * the rows are written, in the transaction that completes the session or records its consent.
 */
export const addToRejections = async (
  transaction: Transaction,
  { organizationId, id, status, consentedAtSeconds, personId }: Session,
): Promise<void> => {
  if (status !== 'completed' || consentedAtSeconds === null || personId === null) return
  // A concurrent rejection has either committed or finds this session.
  await lockDeployment(transaction)
  const added = await transaction.execute(ADD_PERSON, [organizationId, id])
  if (added > 0) await transaction.execute(REMOVE_REPLACED_OF_PERSON, [personId])
  const addedToWallets = await transaction.execute(ADD_WALLETS, [personId, organizationId])
  if (addedToWallets > 0) await transaction.execute(REMOVE_REPLACED_OF_WALLETS, [personId])
}

const HELD = 'WHERE address = ? AND environment = ? AND organization_id = ?'

/** Last rejection of a wallet or its persons, or revocation of one of its sessions, by any type of check. */
export const LAST_ADVERSE = `SELECT id, decided FROM (
    SELECT rejected.session_id AS id, rejected.decided_sequence AS decided FROM ${REJECTIONS_OF_WALLET}
    UNION ALL
    SELECT sessions.id, sessions.decided_sequence AS decided FROM (
      SELECT organization_id, session_id FROM session_wallets ${HELD}
      UNION ALL SELECT organization_id, session_id FROM session_removed_wallets ${HELD}
    ) AS held JOIN sessions ON sessions.organization_id = held.organization_id AND sessions.id = held.session_id
    WHERE ${IS_REVOKED}
  ) AS adverse ORDER BY decided DESC, id DESC LIMIT 1`

/** Returns the id of the rejected or revoked session and the number of the decision. */
export const findLastAdverse = async (
  statements: Statements,
  owner: WalletOfOrganization,
  address: WalletAddress,
): Promise<{ readonly id: string; readonly decided: number } | null> => {
  const wallet = [address, owner.environment, owner.organizationId]
  const parameters = [...ofWallet(owner, address), ...wallet, ...wallet]
  const [row] = await statements.query<{ id: string; decided: number }>(LAST_ADVERSE, parameters)
  return row ?? null
}

// Rejections by subject: each address and each person of a rejected session, of any type of check. A rejected session
// never changes again, so neither do these rows. A rejection counts for a wallet until a session with this wallet is
// completed later; if that completion is revoked, the rejection counts again. Source: decisions §5, "Session states".
import type { WalletAddress } from '../../domain/address.ts'
import type { ApiKeyEnvironment } from '../../domain/api-key.ts'
import { isOperatorActor, type Session, type SessionState } from '../../domain/session.ts'
import { RejectedBeforeError } from '../../domain/session-errors.ts'
import { flag, integer, text, typed } from '../columns.ts'
import type { Statements, Transaction } from '../database.ts'
import { lockDeployment } from '../row-locks.ts'
import { defineTable } from '../table.ts'
import { findRejectedPersons, IS_SAME_WALLET, personsOf, WALLETS_OF_SESSION } from './persons.ts'
import { IS_SHARED } from './session-sharing.ts'

const REJECTIONS = defineTable('session_rejections', {
  /** An address, or the id of a person. */
  subject: text,
  organizationId: text,
  environment: typed<ApiKeyEnvironment>(),
  sessionId: text,
  byOperator: flag,
  /** Assigned at the commit (numberDecision). */
  decidedSequence: integer,
})

/**
 * Condition over `session_rejections` as `rejected`: the rejection concerns the wallet or one of its persons. Parameters
 * are SQL expressions that don't refer to `sessions`.
 */
export const concerns = (address: string, environment: string, organizationId: string): string =>
  `rejected.subject IN (SELECT ${address} UNION ALL ${personsOf(address, environment, organizationId)})
    AND rejected.organization_id = ${organizationId} AND rejected.environment = ${environment}`

interface WalletOfOrganization {
  readonly organizationId: string
  readonly environment: ApiKeyEnvironment
}

/** `session_rejections` as `rejected`, for one wallet of an organization. */
export const REJECTIONS_OF_WALLET = `session_rejections rejected WHERE ${concerns('?', '?', '?')}`
/** Parameters of REJECTIONS_OF_WALLET. */
export const ofWallet = ({ organizationId, environment }: WalletOfOrganization, address: WalletAddress) => [
  address,
  address,
  environment,
  organizationId,
  organizationId,
  environment,
]

/** Persons of the rejection of a session, before its addresses are added. */
const PERSONS_OF_REJECTION = 'SELECT subject FROM session_rejections WHERE organization_id = ? AND session_id = ?'

/** For statements over `sessions` as `s`, with any wallet or person. */
export const REJECTED_BY_OPERATOR = `EXISTS (SELECT 1 FROM session_rejections rejected
  WHERE rejected.organization_id = s.organization_id AND rejected.session_id = s.id AND rejected.by_operator = 1)`

/**
 * Addresses of the session, and all addresses of its rejected persons: wallets that are or were connected to their own
 * sessions, and wallets of shared sessions of other organizations. A person can't free an address by disconnecting it.
 */
const ADD_ADDRESSES = `INSERT INTO session_rejections
    (subject, organization_id, environment, session_id, by_operator, decided_sequence)
  SELECT address, ?, ?, ?, CASE WHEN ? = 'yes' THEN 1 ELSE 0 END, 0 FROM (
    SELECT address FROM (${WALLETS_OF_SESSION}) AS of_session
    UNION SELECT held.address FROM sessions JOIN session_wallets held
      ON held.organization_id = sessions.organization_id AND held.session_id = sessions.id
    WHERE sessions.person_id IN (${PERSONS_OF_REJECTION})
      AND (sessions.organization_id = ? OR (sessions.status = 'completed' AND ${IS_SHARED}))
    UNION SELECT removed.address FROM sessions JOIN session_removed_wallets removed
      ON removed.organization_id = sessions.organization_id AND removed.session_id = sessions.id
    WHERE sessions.person_id IN (${PERSONS_OF_REJECTION}) AND sessions.organization_id = ?
  ) AS addresses`

/**
 * Records the rejection in its transaction, before it is announced and numbered. Returns the person to assign to the
 * session; null for none.
 */
export const recordRejection = async (transaction: Transaction, session: Session, actor: string) => {
  const { organizationId, id: sessionId, environment } = session
  // Concurrent completions wait: none assigns a person or completes a wallet that the rejection misses.
  await lockDeployment(transaction)
  const { personIds, assigned } = await findRejectedPersons(transaction, session)
  const byOperator = isOperatorActor(actor)
  const rejection = { organizationId, environment, sessionId, byOperator, decidedSequence: 0 }
  for (const subject of personIds) await REJECTIONS.insert(transaction, { ...rejection, subject })
  const ids = [organizationId, sessionId]
  const person = [...ids, organizationId]
  const row = [organizationId, environment, sessionId, byOperator ? 'yes' : 'no']
  await transaction.execute(ADD_ADDRESSES, [...row, ...ids, ...ids, ...ids, ...person, ...person])
  return assigned
}

/** The last rejection of a wallet or its persons, of any type of check. */
export const LAST_REJECTION = `SELECT rejected.session_id AS id, rejected.decided_sequence AS decided
  FROM ${REJECTIONS_OF_WALLET} ORDER BY decided DESC, id DESC LIMIT 1`

/** The session and the number of its decision. Null if there is no rejection. */
export const findLastRejection = async (
  statements: Statements,
  owner: WalletOfOrganization,
  address: WalletAddress,
): Promise<{ readonly id: string; readonly decided: number } | null> => {
  const [row] = await statements.query<{ id: string; decided: number }>(LAST_REJECTION, ofWallet(owner, address))
  return row ?? null
}

/** An operator's rejection without a later completion by an operator. Takes the wallet's id after ofWallet. */
export const OPERATOR_REJECTION = `SELECT 1 FROM ${REJECTIONS_OF_WALLET} AND rejected.by_operator = 1
    AND NOT EXISTS (SELECT 1 FROM session_wallets mine
      JOIN session_wallets theirs ON ${IS_SAME_WALLET} AND theirs.environment = mine.environment
      JOIN sessions ON sessions.organization_id = theirs.organization_id AND sessions.id = theirs.session_id
      WHERE mine.id = ? AND theirs.organization_id = mine.organization_id AND sessions.status = 'completed'
        AND COALESCE(sessions.decided_sequence, 0) > rejected.decided_sequence
        AND EXISTS (SELECT 1 FROM session_events decision WHERE decision.organization_id = sessions.organization_id
          AND decision.session_id = sessions.id AND decision.kind = 'status' AND decision.status = 'completed'
          AND decision.actor LIKE 'operator:%'))
  LIMIT 1`

/**
 * Call it in the transaction that completes a session automatically. After an operator rejects a wallet or its person,
 * automatic completion is possible only once an operator has completed a later session of it.
 * @throws RejectedBeforeError
 */
export const requireNoRejection = async (
  transaction: Transaction,
  { session, wallets }: SessionState,
): Promise<void> => {
  // A rejection of the same wallet or person takes this lock, too, so it has either committed or waits.
  await lockDeployment(transaction)
  for (const { id, address } of wallets) {
    const found = await transaction.query(OPERATOR_REJECTION, [...ofWallet(session, address), id])
    if (found.length > 0) throw new RejectedBeforeError()
  }
}

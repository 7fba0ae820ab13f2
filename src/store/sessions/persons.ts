// The persons that sessions identified. A person is recognized across organizations by a wallet proven in both, only
// with recorded consent on both sides. Each organization gets its own id for the person (decisions §5, "userId";
// threats row 3).
import { newIdentifier } from '../../domain/identifier.ts'
import type { Session } from '../../domain/session.ts'
import { integer, text } from '../columns.ts'
import type { Statements, Transaction } from '../database.ts'
import { readValue, USER_KEY_NAME } from '../deployment.ts'
import { lockDeployment } from '../row-locks.ts'
import { defineTable } from '../table.ts'
import { IS_SHARED } from './session-sharing.ts'

const PERSONS = defineTable('persons', {
  id: text,
  organizationId: text,
  environment: text,
  checkType: text,
  createdAtSeconds: integer,
})

/**
 * Returns an organization's id for a person: the first 16 bytes of an HMAC-SHA-256 with the deployment's key, as a UUID
 * v8 (RFC 9562 §5.8). It is stable, and without the key, ids of one person cannot be linked.
 */
export const pairwiseUserId = (userKey: Uint8Array, organizationId: string, personId: string): string => {
  const bytes = new Bun.CryptoHasher('sha256', userKey)
    .update(`${organizationId}\n${personId}`)
    .digest()
    .subarray(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

export const readUserKey = async (statements: Statements): Promise<Uint8Array> => {
  const key = Uint8Array.fromHex((await readValue(statements, USER_KEY_NAME)) ?? '')
  if (key.length !== 32) throw new Error('the key of the user ids is missing')
  return key
}

/**
 * For statements over two rows of `session_wallets`: both belong to the same person. A key has the same address on
 * every chain, even if a contract proved it once (EIP-7702). A contract's address may have a different owner on another
 * chain.
 */
export const IS_SAME_WALLET = `theirs.address = mine.address AND (theirs.chain = mine.chain OR 2 > (SELECT COUNT(*)
    FROM wallet_proofs WHERE wallet_proofs.wallet_id IN (mine.id, theirs.id) AND wallet_proofs.kind = 'erc1271'))`

/**
 * For statements over `sessions`: selects sessions of one organization that identified a person of the wallet. An
 * expression, because the index of an organization yields many more rows than the index of a person. Parameters: the
 * address, the environment and the organization.
 */
export const OF_WALLETS_PERSON = `sessions.person_id IN (SELECT holding.person_id FROM session_wallets held
    JOIN sessions holding ON holding.organization_id = held.organization_id AND holding.id = held.session_id
    WHERE held.address = ? AND held.environment = ?) AND sessions.organization_id || '' = ?`

const THEIR_PERSONS = `JOIN sessions ON sessions.organization_id = theirs.organization_id AND sessions.id = theirs.session_id
  WHERE mine.organization_id = ? AND mine.session_id = ? AND sessions.check_type = ?
    AND sessions.status = 'completed' AND sessions.person_id IS NOT NULL
    AND (sessions.organization_id = ? OR (? = 1 AND ${IS_SHARED}))`
const OTHERS_OF_SAME_WALLETS = `SELECT DISTINCT sessions.person_id FROM session_wallets AS mine
  JOIN session_wallets AS theirs ON ${IS_SAME_WALLET} AND theirs.environment = mine.environment ${THEIR_PERSONS}`
/** Sessions of a disconnected wallet; the chain of its proof is unknown. */
const OTHERS_OF_REMOVED_WALLETS = `SELECT DISTINCT sessions.person_id FROM session_removed_wallets AS mine
  JOIN session_wallets AS theirs ON theirs.address = mine.address AND theirs.environment = mine.environment
  ${THEIR_PERSONS}`

/** Returns the only person known by the session's wallets. Null if there is none or more than one. */
const findPerson = async (
  transaction: Transaction,
  { organizationId, id, checkType, consentedAtSeconds }: Session,
  statement: string,
): Promise<string | null> => {
  const session = [organizationId, id, checkType, organizationId, consentedAtSeconds === null ? 0 : 1]
  const parameters = Array.from(
    { length: statement.split('?').length - 1 },
    (_, at) => session[at % session.length] ?? '',
  )
  const known = await transaction.query<{ person_id: string }>(`${statement} LIMIT 2`, parameters)
  return known.length === 1 ? (known[0]?.person_id ?? null) : null
}

const withUserId = async (transaction: Transaction, organizationId: string, personId: string) => ({
  personId,
  userId: pairwiseUserId(await readUserKey(transaction), organizationId, personId),
})

/**
 * Returns the person of a session that is being completed: the person known by one of its proven wallets, or a new
 * person. If the wallets belong to two known persons, these are never merged: the session gets a new person, and people
 * must resolve the identity.
 */
export const identifyPerson = async (transaction: Transaction, session: Session, nowSeconds: number) => {
  const { organizationId, checkType, environment } = session
  // The lock serializes concurrent completions, so that two sessions of one person do not create two persons.
  await lockDeployment(transaction)
  let personId = await findPerson(transaction, session, OTHERS_OF_SAME_WALLETS)
  if (personId === null) {
    personId = newIdentifier('person')
    await PERSONS.insert(transaction, {
      id: personId,
      organizationId,
      environment,
      checkType,
      createdAtSeconds: nowSeconds,
    })
  }
  return withUserId(transaction, organizationId, personId)
}

/**
 * Returns the person of a session that is being rejected, so that the rejection applies to the person's other wallets:
 * the person known by a wallet that is or was connected to it. Null if no person or more than one is known, or if the session has a person.
 */
export const identifyRejected = async (transaction: Transaction, session: Session) => {
  // A completion at the same time must not give the person a wallet that the rejection doesn't see.
  await lockDeployment(transaction)
  if (session.personId !== null) return null
  const statement = `${OTHERS_OF_SAME_WALLETS} UNION ${OTHERS_OF_REMOVED_WALLETS}`
  const personId = await findPerson(transaction, session, statement)
  return personId === null ? null : withUserId(transaction, session.organizationId, personId)
}

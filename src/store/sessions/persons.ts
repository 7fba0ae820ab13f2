// The persons that sessions identified. A person is recognised across organizations by a wallet proven in both, and
// only where consent was recorded on both sides; each organization knows the person by its own id (decisions §5,
// "userId"; threats row 3).
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
 * The id by which one organization knows a person: the first 16 bytes of an HMAC-SHA-256 under the deployment's key,
 * written as a UUID v8 (RFC 9562 §5.8). It is always the same, and without the key nobody can tell that two ids belong
 * to one person.
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
 * For statements over two rows of `session_wallets`: both belong to the same person. A key has the same address on every
 * chain, also if a contract proved it once (EIP-7702); a contract's address may belong to somebody else on another chain.
 */
export const IS_SAME_WALLET = `theirs.address = mine.address AND (theirs.chain = mine.chain OR 2 > (SELECT COUNT(*)
    FROM wallet_proofs WHERE wallet_proofs.wallet_id IN (mine.id, theirs.id) AND wallet_proofs.kind = 'erc1271'))`

/**
 * For statements over `sessions`, which it makes those of one organization that identified a person of the wallet. An
 * expression, because the index of an organization leads to many more rows than the index of a person. Parameters: the
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
/** A session of a wallet that was disconnected; on which chain it was proven is not known. */
const OTHERS_OF_REMOVED_WALLETS = `SELECT DISTINCT sessions.person_id FROM session_removed_wallets AS mine
  JOIN session_wallets AS theirs ON theirs.address = mine.address AND theirs.environment = mine.environment
  ${THEIR_PERSONS}`

/** The only person who is known by the session's wallets; null if there is none, or more than one. */
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
 * The person of a session that is being completed: the one already known by one of its proven wallets, or a new one.
 * When the wallets lead to two known persons, these are never merged: the session gets a new person, and people have to
 * find out who is who.
 */
export const identifyPerson = async (transaction: Transaction, session: Session, nowSeconds: number) => {
  const { organizationId, checkType, environment } = session
  // If two sessions of one person are completed at once, they must not create two persons: the second transaction sees
  // the first's.
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
 * The person of a session that is being rejected, whose other wallets the rejection concerns: the one already known by a
 * wallet that is or was connected to it. Null if nobody or more than one person is known.
 */
export const identifyRejected = async (transaction: Transaction, session: Session) => {
  await lockDeployment(transaction)
  const statement = `${OTHERS_OF_SAME_WALLETS} UNION ${OTHERS_OF_REMOVED_WALLETS}`
  const personId = await findPerson(transaction, session, statement)
  return personId === null ? null : withUserId(transaction, session.organizationId, personId)
}

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

const OTHERS_OF_SAME_WALLETS = `SELECT DISTINCT sessions.person_id FROM session_wallets AS mine
  JOIN session_wallets AS theirs ON ${IS_SAME_WALLET} AND theirs.environment = mine.environment
  JOIN sessions ON sessions.organization_id = theirs.organization_id AND sessions.id = theirs.session_id
  WHERE mine.organization_id = ? AND mine.session_id = ? AND sessions.check_type = ?
    AND sessions.status = 'completed' AND sessions.person_id IS NOT NULL
    AND (sessions.organization_id = ? OR (? = 1 AND ${IS_SHARED})) LIMIT 2`

/**
 * The person of a session that is being completed: the one already known by one of its proven wallets, or a new one.
 * When the wallets lead to two known persons, these are never merged: the session gets a new person, and people have to
 * find out who is who.
 */
export const identifyPerson = async (transaction: Transaction, session: Session, nowSeconds: number) => {
  const { organizationId, id, checkType, environment } = session
  // If two sessions of one person are completed at once, they must not create two persons: the second transaction sees
  // the first's.
  await lockDeployment(transaction)
  const known = await transaction.query<{ person_id: string }>(OTHERS_OF_SAME_WALLETS, [
    organizationId,
    id,
    checkType,
    organizationId,
    session.consentedAtSeconds === null ? 0 : 1,
  ])
  let personId = known.length === 1 ? known[0]?.person_id : undefined
  if (personId === undefined) {
    personId = newIdentifier('person')
    await PERSONS.insert(transaction, {
      id: personId,
      organizationId,
      environment,
      checkType,
      createdAtSeconds: nowSeconds,
    })
  }
  return { personId, userId: pairwiseUserId(await readUserKey(transaction), organizationId, personId) }
}

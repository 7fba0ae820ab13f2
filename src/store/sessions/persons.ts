// The persons that sessions identified. A person is recognized across organizations by a wallet proven in both, only
// with recorded consent on both sides. Each organization gets its own id for the person (decisions §5, "userId";
// threats row 3).
import { newIdentifier } from '../../domain/identifier.ts'
import type { CheckType, Session } from '../../domain/session.ts'
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

/** Persons whom a session rejected: all persons with one of its wallets, of any type of check. */
const REJECTED_PERSONS = defineTable('session_rejected_persons', {
  organizationId: text,
  sessionId: text,
  personId: text,
})

/**
 * Selects the persons of a wallet that an organization may know, from its own sessions and from shared sessions of other
 * organizations. Parameters are SQL expressions that don't refer to `sessions`.
 */
export const personsOf = (address: string, environment: string, organizationId: string): string =>
  `SELECT sessions.person_id FROM session_wallets held
    JOIN sessions ON sessions.organization_id = held.organization_id AND sessions.id = held.session_id
  WHERE held.address = ${address} AND held.environment = ${environment}
    AND (sessions.organization_id = ${organizationId} OR (sessions.status = 'completed' AND ${IS_SHARED}))`

/**
 * Rejected sessions (as `sessions`) of one organization that concern a person of the wallet. The organization is compared
 * as an expression, because its index yields many more rows than the index of a person. Parameters: the address, the
 * environment, and the organization twice.
 */
export const REJECTIONS_OF_PERSONS = `session_rejected_persons refused
    JOIN sessions ON sessions.organization_id = refused.organization_id AND sessions.id = refused.session_id
  WHERE refused.person_id IN (${personsOf('?', '?', '?')}) AND refused.organization_id || '' = ?`

const THEIR_PERSONS = `JOIN sessions ON sessions.organization_id = theirs.organization_id AND sessions.id = theirs.session_id
  WHERE mine.organization_id = ? AND mine.session_id = ? AND sessions.person_id IS NOT NULL
    AND (sessions.organization_id = ? OR (? = 1 AND sessions.status = 'completed' AND ${IS_SHARED}))`
const OF_SAME_WALLETS = `SELECT DISTINCT sessions.person_id, sessions.check_type FROM session_wallets AS mine
  JOIN session_wallets AS theirs ON ${IS_SAME_WALLET} AND theirs.environment = mine.environment ${THEIR_PERSONS}`
const LOCKED_WALLETS = `(SELECT organization_id, id AS session_id, environment, locked_address AS address FROM sessions)`
/** Persons of disconnected wallets and of the locked wallet; the chains of their proofs are unknown. */
const OF_OTHER_WALLETS = ['session_removed_wallets', LOCKED_WALLETS]
  .map(
    (wallets) => `SELECT DISTINCT sessions.person_id, sessions.check_type FROM ${wallets} AS mine
  JOIN session_wallets AS theirs ON theirs.address = mine.address AND theirs.environment = mine.environment ${THEIR_PERSONS}`,
  )
  .join(' UNION ')

interface KnownPerson {
  readonly person_id: string
  readonly check_type: CheckType
}

/** @param statement repeats the parameters of THEIR_PERSONS */
const findPersons = (
  transaction: Transaction,
  { organizationId, id, consentedAtSeconds }: Session,
  statement: string,
): Promise<readonly KnownPerson[]> => {
  const session = [organizationId, id, organizationId, consentedAtSeconds === null ? 0 : 1]
  const parameters = Array.from(
    { length: statement.split('?').length - 1 },
    (_, at) => session[at % session.length] ?? '',
  )
  return transaction.query<KnownPerson>(statement, parameters)
}

/** Returns the only person of the type of check. Null if there is none or more than one. */
const onlyOf = (known: readonly KnownPerson[], checkType: CheckType): string | null => {
  const [first, ...others] = known.filter(({ check_type: type }) => type === checkType)
  return first === undefined || others.length > 0 ? null : first.person_id
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
  const known = await findPersons(transaction, session, `${OF_SAME_WALLETS} AND sessions.status = 'completed'`)
  let personId = onlyOf(known, checkType)
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
 * Records the persons whom a session rejects: its own person, and all persons of wallets that are or were connected to it
 * or to which it is locked. Returns the person to assign to the session: the only known person of its type of check. Null
 * if there is none or more than one, or if the session has a person.
 */
export const rejectPersons = async (transaction: Transaction, session: Session) => {
  const { organizationId, id: sessionId, checkType } = session
  // Concurrent completions wait: none assigns a person that the rejection misses.
  await lockDeployment(transaction)
  const known = await findPersons(transaction, session, `${OF_SAME_WALLETS} UNION ${OF_OTHER_WALLETS}`)
  const personIds = new Set(known.map(({ person_id: personId }) => personId))
  if (session.personId !== null) personIds.add(session.personId)
  for (const personId of personIds) await REJECTED_PERSONS.insert(transaction, { organizationId, sessionId, personId })
  const only = session.personId === null ? onlyOf(known, checkType) : null
  return only === null ? null : withUserId(transaction, organizationId, only)
}

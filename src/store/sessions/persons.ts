// Persons identified by sessions. Recognition across organizations requires recorded consent on both sides (threats
// row 3). Each organization gets its own id for a person (decisions §5, "userId").
import { newIdentifier } from '../../domain/identifier.ts'
import { type CheckType, SESSIONS_PER_PERSON_MAX, type Session } from '../../domain/session.ts'
import { PersonSessionsError } from '../../domain/session-errors.ts'
import { integer, text } from '../columns.ts'
import type { Statements, Transaction } from '../database.ts'
import { readValue, USER_KEY_NAME } from '../deployment.ts'
import { lockDeployment } from '../row-locks.ts'
import { defineTable } from '../table.ts'
import { IS_COMPLETED_WITH_CONSENT, IS_OWN, IS_SHARED } from './session-sharing.ts'

const PERSONS = defineTable('persons', {
  id: text,
  organizationId: text,
  environment: text,
  checkType: text,
  createdAtSeconds: integer,
})

/**
 * Returns an HMAC-SHA-256 with the deployment's key, as a UUID v8 (RFC 9562 §5.8): stable, and unlinkable without the
 * key.
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

/** True if one person owns both: a key has the same address on every chain, but a contract's owners can differ. */
export const IS_SAME_WALLET = `theirs.address = mine.address AND (theirs.chain = mine.chain OR 2 > (SELECT COUNT(*)
    FROM wallet_proofs WHERE wallet_proofs.wallet_id IN (mine.id, theirs.id) AND wallet_proofs.kind = 'erc1271'))`

/**
 * Returns a wallet's persons known to the organization. Parameters are SQL expressions that don't refer to `sessions`.
 */
export const personsOf = (address: string, environment: string, organizationId: string): string =>
  `SELECT sessions.person_id FROM session_wallets held
    JOIN sessions ON sessions.organization_id = held.organization_id AND sessions.id = held.session_id
  WHERE held.address = ${address} AND held.environment = ${environment}
    AND (sessions.organization_id = ${organizationId} OR ${IS_COMPLETED_WITH_CONSENT})`

const CONNECTED_WALLETS = `SELECT id, chain, address, environment FROM session_wallets
  WHERE organization_id = ? AND session_id = ?`
/** Parameters: the session's ids, three times. Disconnected and locked wallets have no known chain. */
export const WALLETS_OF_SESSION = `${CONNECTED_WALLETS}
  UNION ALL SELECT NULL, NULL, address, environment FROM session_removed_wallets
  WHERE organization_id = ? AND session_id = ?
  UNION ALL SELECT NULL, NULL, locked_address, environment FROM sessions
  WHERE organization_id = ? AND id = ? AND locked_address IS NOT NULL`

export const OF_REMOVED_WALLETS = `SELECT DISTINCT sessions.person_id, sessions.check_type FROM (${WALLETS_OF_SESSION}) AS mine
    JOIN session_removed_wallets removed ON removed.address = mine.address AND removed.environment = mine.environment
    JOIN sessions ON sessions.organization_id = removed.organization_id AND sessions.id = removed.session_id
  WHERE sessions.person_id IS NOT NULL AND ${IS_OWN}`

interface KnownPerson {
  readonly person_id: string
  readonly check_type: CheckType
}

type Selection = readonly [statement: string, parameters: readonly (string | number)[]]

const findPersons = (
  transaction: Transaction,
  [wallets, ofWallets]: Selection,
  [condition, ofCondition]: Selection,
): Promise<readonly KnownPerson[]> =>
  transaction.query<KnownPerson>(
    `SELECT DISTINCT sessions.person_id, sessions.check_type FROM (${wallets}) AS mine
       JOIN session_wallets AS theirs ON ${IS_SAME_WALLET} AND theirs.environment = mine.environment
       JOIN sessions ON sessions.organization_id = theirs.organization_id AND sessions.id = theirs.session_id
     WHERE sessions.person_id IS NOT NULL AND ${condition}`,
    [...ofWallets, ...ofCondition],
  )

/** The user id reveals that both sessions belong to one person, so other organizations' sessions require consent. */
const withCommonUser = ({ organizationId, consentedAtSeconds }: Session): Selection => [
  `(sessions.organization_id = ? OR (? = 1 AND sessions.status = 'completed' AND ${IS_SHARED}))`,
  [organizationId, consentedAtSeconds === null ? 0 : 1],
]

const onlyOf = (known: readonly KnownPerson[], checkType: CheckType): string | null => {
  const [first, ...others] = known.filter(({ check_type: type }) => type === checkType)
  return first === undefined || others.length > 0 ? null : first.person_id
}

const withUserId = async (transaction: Transaction, organizationId: string, personId: string) => ({
  personId,
  userId: pairwiseUserId(await readUserKey(transaction), organizationId, personId),
})

export const SESSIONS_OF_PERSON = `SELECT COUNT(*) AS count FROM (
    SELECT 1 FROM sessions WHERE sessions.person_id = ? AND ${IS_OWN} LIMIT ${SESSIONS_PER_PERSON_MAX}
  ) AS of_person`

const hasRoomForSession = async (
  transaction: Transaction,
  organizationId: string,
  personId: string,
): Promise<boolean> => {
  const [row] = await transaction.query<{ count: number }>(SESSIONS_OF_PERSON, [personId, organizationId])
  return Number(row?.count) < SESSIONS_PER_PERSON_MAX
}

/**
 * Returns the person of the session's proven wallets. Creates a person if none or several are known.
 * @throws PersonSessionsError
 */
export const identifyPerson = async (transaction: Transaction, session: Session, nowSeconds: number) => {
  const { organizationId, id, checkType, environment } = session
  // Serializes completions: two concurrent sessions of one person would otherwise create two persons.
  await lockDeployment(transaction)
  const [condition, parameters] = withCommonUser(session)
  const known = await findPersons(
    transaction,
    [CONNECTED_WALLETS, [organizationId, id]],
    [`sessions.status = 'completed' AND ${condition}`, parameters],
  )
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
  } else if (!(await hasRoomForSession(transaction, organizationId, personId))) {
    throw new PersonSessionsError()
  }
  return withUserId(transaction, organizationId, personId)
}

/**
 * `assigned` is the person to assign to the session. It is null unless the organization can recognize exactly one
 * person, who has fewer sessions than the limit.
 */
export const findRejectedPersons = async (transaction: Transaction, session: Session) => {
  const { organizationId, id, checkType, personId } = session
  const ids = [organizationId, id, organizationId, id, organizationId, id]
  const wallets = [WALLETS_OF_SESSION, ids] as const
  const known = await findPersons(transaction, wallets, [
    `(sessions.organization_id = ? OR ${IS_COMPLETED_WITH_CONSENT})`,
    [organizationId],
  ])
  const earlier = await transaction.query<KnownPerson>(OF_REMOVED_WALLETS, [...ids, organizationId])
  const personIds = new Set([...known, ...earlier].map((person) => person.person_id))
  if (personId !== null) personIds.add(personId)
  const only =
    personId === null ? onlyOf(await findPersons(transaction, wallets, withCommonUser(session)), checkType) : null
  const isAssignable = only !== null && (await hasRoomForSession(transaction, organizationId, only))
  return { personIds, assigned: isAssignable ? await withUserId(transaction, organizationId, only) : null }
}

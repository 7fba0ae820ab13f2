// Finds all sessions linked by a common address or person, directly or through others, including disconnected wallets.
import type { WalletAddress } from '../../domain/address.ts'
import { isSessionOpen, type Session, type SessionStatus } from '../../domain/session.ts'
import { LinkedSessionsError } from '../../domain/session-errors.ts'
import type { Statements } from '../database.ts'
import { WALLETS_OF_SESSION } from './persons.ts'
import { placeholdersFor } from './session-rows.ts'
import { IS_COMPLETED_WITH_CONSENT, IS_OWN } from './session-sharing.ts'

// Maximum linked sessions. Both limits exceed the needs of any real person. They limit the time for which a completion
// locks the deployment.
const LINKED_MAX = 1_000
/** Maximum steps. Each step finds the sessions that share an address or a person with sessions of the previous step. */
const STEPS_MAX = 10

interface LinkedRow {
  readonly organization_id: string
  readonly id: string
  readonly person_id: string | null
  readonly locked_address: WalletAddress | null
  readonly status: SessionStatus
  readonly address: WalletAddress | null
}

export interface LinkedSessions {
  readonly addresses: ReadonlySet<WalletAddress>
  /** Addresses with which no session of the organization was submitted. */
  readonly unsubmitted: ReadonlySet<WalletAddress>
  readonly persons: ReadonlySet<string>
  readonly sessionIds: ReadonlySet<string>
}

const COLUMNS = 'sessions.organization_id, sessions.id, sessions.person_id, sessions.locked_address, sessions.status'
const IS_VISIBLE = `(sessions.organization_id = ? OR ${IS_COMPLETED_WITH_CONSENT})`

export const selectLinked = (addresses: string, persons: string): string => `WITH linked AS (
    SELECT ${COLUMNS} FROM session_wallets held
    JOIN sessions ON sessions.organization_id = held.organization_id AND sessions.id = held.session_id
    WHERE held.address IN (${addresses}) AND held.environment = ? AND ${IS_VISIBLE}
    UNION SELECT ${COLUMNS} FROM session_removed_wallets removed
    JOIN sessions ON sessions.organization_id = removed.organization_id AND sessions.id = removed.session_id
    WHERE removed.address IN (${addresses}) AND removed.environment = ? AND ${IS_OWN}
    UNION SELECT ${COLUMNS} FROM sessions
    WHERE sessions.locked_address IN (${addresses}) AND sessions.environment = ? AND ${IS_OWN}
    UNION SELECT ${COLUMNS} FROM sessions
    WHERE sessions.person_id IN (${persons}) AND sessions.environment = ? AND ${IS_VISIBLE}
  )
  SELECT linked.*, held.address FROM linked LEFT JOIN session_wallets held
    ON held.organization_id = linked.organization_id AND held.session_id = linked.id
  UNION ALL SELECT linked.*, removed.address FROM linked JOIN session_removed_wallets removed
    ON removed.organization_id = linked.organization_id AND removed.session_id = linked.id
  WHERE linked.organization_id || '' = ?`

const querySessions = (
  statements: Statements,
  { organizationId, environment }: Session,
  addresses: readonly string[],
  persons: readonly string[],
): Promise<readonly LinkedRow[]> => {
  // The empty string matches nothing and keeps the SQL list from being empty.
  const [ofAddresses, ofPersons] = [
    ['', ...addresses],
    ['', ...persons],
  ]
  const wallet = [...ofAddresses, environment, organizationId]
  return statements.query<LinkedRow>(selectLinked(placeholdersFor(ofAddresses), placeholdersFor(ofPersons)), [
    ...wallet,
    ...wallet,
    ...wallet,
    ...ofPersons,
    environment,
    organizationId,
    organizationId,
  ])
}

export const findLinkedSessions = async (statements: Statements, session: Session): Promise<LinkedSessions> => {
  const { organizationId, id, personId } = session
  const own = await statements.query<{ address: WalletAddress }>(WALLETS_OF_SESSION, [
    organizationId,
    id,
    organizationId,
    id,
    organizationId,
    id,
  ])
  const addresses = new Set(own.map(({ address }) => address))
  const persons = new Set(personId === null ? [] : [personId])
  const sessionIds = new Set<string>()
  const submitted = new Set(addresses)
  const open = new Set<WalletAddress>()
  let [newAddresses, newPersons] = [new Set(addresses), new Set(persons)]
  for (let step = 1; newAddresses.size + newPersons.size > 0; step++) {
    const rows = await querySessions(statements, session, [...newAddresses], [...newPersons])
    const found = { addresses: new Set<WalletAddress>(), persons: new Set<string>() }
    for (const row of rows) {
      const isOwn = row.organization_id === organizationId
      if (isOwn && row.id !== id) sessionIds.add(row.id)
      const ofOwn = isSessionOpen(row.status) ? open : submitted
      for (const address of isOwn ? [row.locked_address, row.address] : [row.address]) {
        if (address === null) continue
        found.addresses.add(address)
        if (isOwn) ofOwn.add(address)
      }
      if (row.person_id !== null) found.persons.add(row.person_id)
    }
    newAddresses = found.addresses.difference(addresses)
    newPersons = found.persons.difference(persons)
    for (const address of newAddresses) addresses.add(address)
    for (const person of newPersons) persons.add(person)
    if (step > STEPS_MAX || sessionIds.size + addresses.size > LINKED_MAX) {
      throw new LinkedSessionsError('the wallets are linked to too many sessions')
    }
  }
  return { addresses, unsubmitted: open.difference(submitted), persons, sessionIds }
}

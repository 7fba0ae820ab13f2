// Records each change to a session in its transaction: an event, and a row in the change feed.
import type { WalletAddress } from '../../domain/address.ts'
import type { ApiKeyEnvironment } from '../../domain/api-key.ts'
import { SESSION_CHANGES_MAX, type Session, type SessionEvent, type SessionState } from '../../domain/session.ts'
import { SessionChangesLimitError } from '../../domain/session-errors.ts'
import { recordChange, runAtCommit } from '../changes.ts'
import { type Column, columnsOf, hidden, json, splitNames, sql, text, typed } from '../columns.ts'
import type { Transaction } from '../database.ts'
import { defineTable } from '../table.ts'
import { queueMessages } from '../webhooks/webhook-queue.ts'
import { SESSIONS } from './session-rows.ts'

export interface SessionSubject {
  readonly sessionId: string
  readonly sequence: number
  readonly environment: ApiKeyEnvironment
  readonly personId: string | null
  /** Canonical addresses whose standing may have changed. */
  readonly addresses: readonly WalletAddress[]
}

/** Encodes the subject as space-separated parts; no part contains a space or a comma. */
export const encodeSessionSubject = (subject: SessionSubject): string =>
  `${subject.sessionId} ${subject.sequence} ${subject.environment} ${subject.personId ?? '-'} ${subject.addresses.join(',')}`

export const decodeSessionSubject = (text: string): SessionSubject => {
  const [sessionId = '', sequence = '', environment, personId = '-', addresses = ''] = text.split(' ')
  return {
    sessionId,
    sequence: Number(sequence),
    environment: environment === 'live' ? 'live' : 'test',
    personId: personId === '-' ? null : personId,
    addresses: addresses === '' ? [] : (addresses.split(',') as WalletAddress[]),
  }
}

/** Disconnected wallets. The session's rejection and undecided hits still apply to them. */
export const REMOVED_WALLETS = defineTable('session_removed_wallets', {
  organizationId: text,
  sessionId: text,
  environment: text,
  address: typed<WalletAddress>(),
  /** Empty if an earlier version of the service disconnected the wallet. */
  chains: json<readonly string[]>(),
})

const REJECTED_ADDRESSES = `SELECT subject AS address FROM session_rejections WHERE organization_id = ? AND session_id = ?
  AND subject <> session_id AND NOT EXISTS (SELECT 1 FROM persons WHERE persons.id = session_rejections.subject)`
export const ADDRESSES_WITH_PERSON = `SELECT DISTINCT theirs.subject AS address FROM session_rejections mine
  JOIN session_rejections theirs
    ON theirs.organization_id = mine.organization_id AND theirs.session_id = mine.session_id
  WHERE mine.subject = ? AND mine.organization_id <> ? AND theirs.subject <> theirs.session_id
    AND NOT EXISTS (SELECT 1 FROM persons WHERE persons.id = theirs.subject)`

/** Returns the addresses of other sessions whose standing may have changed because of a rejection. */
const findRejectedAddresses = async (
  transaction: Transaction,
  { organizationId, id, status, personId, consentedAtSeconds }: Session,
): Promise<readonly { readonly address: WalletAddress }[]> => {
  if (status === 'rejected') return transaction.query(REJECTED_ADDRESSES, [organizationId, id])
  if (status !== 'completed' || consentedAtSeconds === null || personId === null) return []
  return transaction.query(ADDRESSES_WITH_PERSON, [personId, organizationId])
}

const subjectOf = ({ session, wallets }: SessionState, others: readonly WalletAddress[]): SessionSubject => {
  const addresses = new Set([...wallets.map(({ address }) => address), ...others])
  if (session.lockedAddress !== null) addresses.add(session.lockedAddress)
  return {
    sessionId: session.id,
    sequence: session.sequence,
    environment: session.environment,
    personId: session.personId,
    addresses: [...addresses],
  }
}

export const announceSession = async (
  transaction: Transaction,
  state: SessionState,
  nowSeconds: number,
): Promise<void> => {
  const { organizationId, id: sessionId } = state.session
  const removed = await REMOVED_WALLETS.list(transaction, { organizationId, sessionId }, ['address'])
  const rejected = await findRejectedAddresses(transaction, state.session)
  const subject = subjectOf(
    state,
    [...removed, ...rejected].map(({ address }) => address),
  )
  await recordChange(
    transaction,
    { topic: 'session', subjectId: encodeSessionSubject(subject), organizationId },
    nowSeconds,
  )
}

/** Assigns the sequence number of the change to the decision, because the change feed follows the commit order. */
export const numberDecision = (
  transaction: Transaction,
  { organizationId, id, status }: Pick<Session, 'organizationId' | 'id' | 'status'>,
): Promise<void> => {
  const number = (table: string, key: string) => ({
    sql: `UPDATE ${table} SET decided_sequence = (SELECT value FROM counters WHERE name = 'changes')
          WHERE organization_id = ? AND ${key} = ?`,
    parameters: [organizationId, id],
  })
  const session = number('sessions', 'id')
  return runAtCommit(
    transaction,
    status === 'rejected' ? [session, number('session_rejections', 'session_id')] : [session],
  )
}

const overridden: Column<readonly string[]> = {
  use: 'stored',
  named: 'overridden_parts',
  encode: (parts) => (parts.length === 0 ? null : parts.join(',')),
  decode: (stored) => splitNames(String(stored ?? '')),
}

export const EVENTS = defineTable('session_events', {
  organizationId: hidden(text),
  sessionId: hidden(text),
  ...columnsOf<Omit<SessionEvent, 'overridden'>>()(
    'sequence kind status actor publicComment privateComment createdAtSeconds',
  ),
  overridden,
})

/** Adds the event and queues its webhook messages. The session's row must already have its new state. */
export const addEvent = async (
  transaction: Transaction,
  session: { readonly organizationId: string; readonly id: string },
  { overridden = [], ...event }: Omit<SessionEvent, 'overridden'> & Partial<Pick<SessionEvent, 'overridden'>>,
): Promise<void> => {
  const { organizationId, id: sessionId } = session
  await EVENTS.insert(transaction, { organizationId, sessionId, ...event, overridden })
  await queueMessages(transaction, session, event)
}

/**
 * Call before a change that a person can repeat indefinitely. After the evidence was erased, for example because the
 * wallet's owner took the session over from a stranger, the limit applies once more. @throws SessionChangesLimitError
 */
export const requireFewChanges = async (transaction: Transaction, session: Session): Promise<void> => {
  const { organizationId, id: sessionId, sequence } = session
  if (sequence < SESSION_CHANGES_MAX) return
  const erasure = {
    organizationId,
    sessionId,
    kind: 'evidence-erased',
    sequence: sql`> ${sequence - SESSION_CHANGES_MAX}`,
  } as const
  if (sequence >= 2 * SESSION_CHANGES_MAX || (await EVENTS.find(transaction, erasure)) === null) {
    throw new SessionChangesLimitError()
  }
}

export type SessionNote = Pick<SessionEvent, 'kind' | 'actor' | 'privateComment'>

/** Adds an event. Returns the session with its new sequence number. */
export const noteChange = async (
  transaction: Transaction,
  session: Session,
  note: SessionNote,
  nowSeconds: number,
): Promise<Session> => {
  const { organizationId, id, status } = session
  const sequence = session.sequence + 1
  await SESSIONS.updateAll(transaction, { organizationId, id }, { sequence })
  await addEvent(transaction, session, { ...note, sequence, status, publicComment: null, createdAtSeconds: nowSeconds })
  return { ...session, sequence }
}

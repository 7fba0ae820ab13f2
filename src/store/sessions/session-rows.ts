import type { WalletAddress } from '../../domain/address.ts'
import type { Session, SessionState } from '../../domain/session.ts'
import type { SessionWallet } from '../../domain/wallet.ts'
import { columnsOf, hidden, integer, nullable, text } from '../columns.ts'
import type { Statements, Transaction } from '../database.ts'
import { defineTable } from '../table.ts'

interface WalletRow {
  readonly wallet_id: string | null
  readonly wallet_chain: string
  readonly wallet_address: WalletAddress
  readonly wallet_text: string
  readonly wallet_connected: number
  readonly wallet_sequence: number
}

type StateRow = Session & WalletRow

export const SESSIONS = defineTable('sessions', {
  ...columnsOf<Session>()(
    'organizationId id environment checkType status level provider lockedAddress originUrl personId userId',
    'consentedAtSeconds publicComment retryCount sequence createdAtSeconds completedAtSeconds',
  ),
  updatedAtSeconds: hidden(integer),
  consentVersion: hidden(nullable(text)),
  checksQueuedSequence: hidden(nullable(integer)),
  checksQueuedAtSeconds: hidden(nullable(integer)),
  evidenceErasedAtSeconds: hidden(nullable(integer)),
})

export const placeholdersFor = (items: readonly unknown[]): string => items.map(() => '?').join(', ')

const WALLET_COLUMNS = `session_wallets.id AS wallet_id, session_wallets.chain AS wallet_chain,
    session_wallets.address AS wallet_address, session_wallets.address_text AS wallet_text,
    session_wallets.connected_at_seconds AS wallet_connected, session_wallets.connected_sequence AS wallet_sequence`

const STATE = `SELECT ${SESSIONS.columns}, ${WALLET_COLUMNS}
  FROM sessions LEFT JOIN session_wallets ON session_wallets.organization_id = sessions.organization_id
    AND session_wallets.session_id = sessions.id
  WHERE sessions.organization_id = ? AND sessions.id = ? ORDER BY session_wallets.connected_sequence`

const toSession = (row: StateRow): Session => {
  const { wallet_id, wallet_chain, wallet_address, wallet_text, wallet_connected, wallet_sequence, ...session } = row
  return session
}

const toWallet = (row: WalletRow): SessionWallet[] =>
  row.wallet_id === null
    ? []
    : [
        {
          id: row.wallet_id,
          chain: row.wallet_chain,
          address: row.wallet_address,
          addressText: row.wallet_text,
          connectedAtSeconds: row.wallet_connected,
          connectedSequence: row.wallet_sequence,
        },
      ]

export const readState = async (
  statements: Statements,
  organizationId: string,
  sessionId: string,
): Promise<SessionState | null> => {
  const rows = await statements.query<StateRow>(STATE, [organizationId, sessionId])
  const [first] = rows
  return first === undefined ? null : { session: toSession(first), wallets: rows.flatMap(toWallet) }
}

export const readWallets = async (
  statements: Statements,
  organizationId: string,
  sessionIds: readonly string[],
): Promise<ReadonlyMap<string, readonly SessionWallet[]>> => {
  const wallets = new Map<string, SessionWallet[]>()
  if (sessionIds.length === 0) return wallets
  const rows = await statements.query<WalletRow & { readonly session_id: string }>(
    `SELECT session_id, ${WALLET_COLUMNS} FROM session_wallets WHERE organization_id = ?
       AND session_id IN (${placeholdersFor(sessionIds)}) ORDER BY session_id, connected_sequence`,
    [organizationId, ...sessionIds],
  )
  for (const row of rows) wallets.set(row.session_id, [...(wallets.get(row.session_id) ?? []), ...toWallet(row)])
  return wallets
}

/** Like lockSession, but does not restart the retention period of unsubmitted evidence. */
export const lockSessionAsItIs = (
  transaction: Transaction,
  organizationId: string,
  id: string,
): Promise<Session | null> => SESSIONS.lock(transaction, { organizationId, id }, 'updatedAtSeconds')

/**
 * Like lockSession, but with wallets. Uses two statements: on SQLite, a single statement that writes and returns a row
 * takes twice as long.
 */
export const lockState = async (
  transaction: Transaction,
  organizationId: string,
  sessionId: string,
  nowSeconds: number,
): Promise<SessionState | null> => {
  await SESSIONS.updateAll(transaction, { organizationId, id: sessionId }, { updatedAtSeconds: nowSeconds })
  return readState(transaction, organizationId, sessionId)
}

/** Locks the session until the transaction ends (in PostgreSQL, with this write). Updates the time of the last step. */
export const lockSession = (
  transaction: Transaction,
  organizationId: string,
  id: string,
  updatedAtSeconds: number,
): Promise<Session | null> => SESSIONS.update(transaction, { organizationId, id }, { updatedAtSeconds })

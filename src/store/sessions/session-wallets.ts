// Connects a wallet in one transaction: concurrent requests can neither replay a proof nor exceed the limit of wallets.
import type { WalletAddress } from '../../domain/address.ts'
import { newIdentifier } from '../../domain/identifier.ts'
import { isSessionOpen, type Session, type SessionState } from '../../domain/session.ts'
import {
  ProofInvalidError,
  SessionClosedError,
  WalletLimitError,
  WalletLockedError,
  WalletSessionsError,
  WalletsOverTimeError,
} from '../../domain/session-errors.ts'
import {
  isEvmAddress,
  type ProofKind,
  SESSIONS_PER_WALLET_MAX,
  type SessionWallet,
  type SessionWalletOverTime,
  WALLETS_OVER_TIME_MAX,
  WALLETS_PER_SESSION_MAX,
  type WalletConnection,
  type WalletRemoval,
  walletAddressText,
} from '../../domain/wallet.ts'
import { among, columnsOf, hidden, sql, text } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { Transaction } from '../database.ts'
import { fieldsOf, type RowOf } from '../row-fields.ts'
import { defineTable } from '../table.ts'
import { requireBrowser } from './portal-browsers.ts'
import { acceptParts } from './portal-progress.ts'
import { announceSession, noteChange, REMOVED_WALLETS, requireFewChanges } from './session-changes.ts'
import { NONCES } from './session-nonces.ts'
import { lockState, placeholdersFor, readWallets } from './session-rows.ts'

/** After a power loss, the waiting person can repeat the request. */
const DURABILITY = { survives: 'process-crash' } as const

const spendNonce = async (
  transaction: Transaction,
  session: Session,
  { nonce, proof, address, chain }: WalletConnection,
  nowSeconds: number,
): Promise<void> => {
  if (nonce === null) {
    if (proof.kind === 'sandbox' && session.environment === 'test') return
    throw new ProofInvalidError()
  }
  const { organizationId, id: sessionId } = session
  const valid = { organizationId, sessionId, nonce, address, chain, expiresAtSeconds: sql`> ${nowSeconds}` }
  if ((await NONCES.removeAll(transaction, valid)) !== 1) throw new ProofInvalidError()
}

const requireOpen = (session: Session, address: WalletAddress): void => {
  if (!isSessionOpen(session.status)) throw new SessionClosedError(session.status)
  if (session.lockedAddress !== null && session.lockedAddress !== address) throw new WalletLockedError()
}

const WALLETS = defineTable('session_wallets', {
  ...columnsOf<SessionWallet>()('id chain address addressText connectedAtSeconds connectedSequence'),
  organizationId: text,
  sessionId: text,
  environment: text,
})

const PROOFS = defineTable('wallet_proofs', {
  ...columnsOf<WalletProof>()('walletId kind message signature provedAtSeconds'),
  organizationId: hidden(text),
  sessionId: hidden(text),
})

const insertWallet = async (
  transaction: Transaction,
  session: Session,
  { chain, address, proof }: WalletConnection,
  nowSeconds: number,
): Promise<SessionWallet> => {
  const { organizationId, id, environment } = session
  const wallet: SessionWallet = {
    id: newIdentifier('wallet'),
    chain,
    address,
    addressText: walletAddressText(address),
    connectedAtSeconds: nowSeconds,
    connectedSequence: session.sequence + 1,
  }
  const ofSession = { organizationId, sessionId: id }
  await WALLETS.insert(transaction, { ...wallet, ...ofSession, environment })
  const { kind, message, signature } = proof
  await PROOFS.insert(transaction, {
    walletId: wallet.id,
    ...ofSession,
    kind,
    message,
    signature,
    provedAtSeconds: nowSeconds,
  })
  return wallet
}

const OF_WALLET = 'address = ? AND environment = ? AND organization_id = ?'

/** UNION ALL, because for UNION, SQLite would read all sessions of the organization. Takes the wallet three times. */
export const SESSIONS_OF_WALLET = `SELECT DISTINCT id FROM (
    SELECT id FROM sessions WHERE locked_${OF_WALLET}
    UNION ALL SELECT session_id FROM session_wallets WHERE ${OF_WALLET}
    UNION ALL SELECT session_id FROM session_removed_wallets WHERE ${OF_WALLET}
  ) AS of_wallet LIMIT ${SESSIONS_PER_WALLET_MAX + 1}`

/** Call in the transaction that creates a session for a wallet or connects the wallet. @throws WalletSessionsError */
export const requireFewSessions = async (
  transaction: Transaction,
  { organizationId, environment, id }: Pick<Session, 'organizationId' | 'environment' | 'id'>,
  address: WalletAddress,
): Promise<void> => {
  const wallet = [address, environment, organizationId]
  const sessions = await transaction.query<{ readonly id: string }>(SESSIONS_OF_WALLET, [
    ...wallet,
    ...wallet,
    ...wallet,
  ])
  if (sessions.filter((session) => session.id !== id).length >= SESSIONS_PER_WALLET_MAX) throw new WalletSessionsError()
}

export interface WalletProof {
  readonly walletId: string
  readonly kind: ProofKind
  readonly message: string
  readonly signature: string
  readonly provedAtSeconds: number
}

export const createSessionWalletTable = (scope: TableScope) => ({
  /** Includes disconnected and locked wallets. An EVM wallet of unknown chain is listed as `ethereum`. */
  ofSessionsOverTime: async (
    organizationId: string,
    sessionIds: readonly string[],
  ): Promise<ReadonlyMap<string, readonly SessionWalletOverTime[]>> => {
    if (sessionIds.length === 0) return new Map()
    const connected = await readWallets(scope.statements, organizationId, sessionIds)
    const removed = await REMOVED_WALLETS.list(scope, { organizationId, sessionId: among(sessionIds) }, ['address'])
    const locked = await scope.statements.query<{ readonly sessionId: string; readonly address: WalletAddress }>(
      `SELECT id AS "sessionId", locked_address AS address FROM sessions WHERE organization_id = ?
         AND id IN (${placeholdersFor(sessionIds)}) AND locked_address IS NOT NULL`,
      [organizationId, ...sessionIds],
    )
    const found = new Map<string, SessionWalletOverTime[]>()
    for (const [id, wallets] of connected)
      found.set(
        id,
        wallets.map((wallet) => ({ ...wallet, isConnected: true })),
      )
    for (const { sessionId: id, address, chains } of [...removed, ...locked.map((row) => ({ ...row, chains: [] }))]) {
      const known = found.get(id) ?? []
      const knownChains = known.flatMap((wallet) => (wallet.address === address ? wallet.chain : []))
      const assumed = knownChains.length > 0 ? [] : [isEvmAddress(address) ? 'ethereum' : 'solana']
      const added = chains.length > 0 ? chains.filter((chain) => !knownChains.includes(chain)) : assumed
      const wallet = { address, addressText: walletAddressText(address), isConnected: false }
      found.set(id, [...known, ...added.map((chain) => ({ chain, ...wallet }))])
    }
    return found
  },

  listProofs: async (organizationId: string, sessionId: string): Promise<ReadonlyMap<string, WalletProof>> => {
    const rows = await scope.statements.query<RowOf<WalletProof>>(
      `SELECT wallet_proofs.wallet_id, wallet_proofs.kind, wallet_proofs.message, wallet_proofs.signature,
         wallet_proofs.proved_at_seconds FROM session_wallets
         JOIN wallet_proofs ON wallet_proofs.wallet_id = session_wallets.id
       WHERE session_wallets.organization_id = ? AND session_wallets.session_id = ?`,
      [organizationId, sessionId],
    )
    return new Map(rows.map((row) => [row.wallet_id, fieldsOf(row)]))
  },

  /**
   * Stores a wallet with a verified proof. Null if the organization has no such session. If it throws, the nonce is
   * unused.
   * @throws ProofInvalidError (nonce unknown, used or expired), BrowserUnknownError, SessionClosedError,
   * PartNotRequestedError, WalletLockedError, WalletLimitError, WalletsOverTimeError, SessionChangesLimitError,
   * WalletSessionsError
   */
  connect: (connection: WalletConnection): Promise<SessionState | null> =>
    scope.write(async (transaction) => {
      const nowSeconds = scope.nowSeconds()
      const { organizationId, sessionId, address, chain } = connection
      const before = await lockState(transaction, organizationId, sessionId, nowSeconds)
      if (before === null) return null
      await requireBrowser(transaction, connection, nowSeconds)
      const { session, wallets } = before
      requireOpen(session, address)
      await acceptParts(transaction, connection, ['wallets'], true)
      await spendNonce(transaction, session, connection, nowSeconds)
      if (wallets.some((wallet) => wallet.address === address && wallet.chain === chain)) return before
      if (wallets.length >= WALLETS_PER_SESSION_MAX) throw new WalletLimitError()
      const ofSession = { organizationId, sessionId: session.id }
      await requireFewChanges(transaction, session)
      const otherChains = (await REMOVED_WALLETS.find(transaction, { ...ofSession, address }))?.chains ?? []
      const chains = otherChains.filter((other) => other !== chain)
      if (chains.length === 0) await REMOVED_WALLETS.removeAll(transaction, { ...ofSession, address })
      else await REMOVED_WALLETS.updateAll(transaction, { ...ofSession, address }, { chains })
      const removed = (await REMOVED_WALLETS.list(transaction, ofSession, ['address'])).flatMap((wallet) =>
        wallet.chains.length === 0 ? [''] : wallet.chains,
      )
      if (wallets.length + removed.length >= WALLETS_OVER_TIME_MAX) throw new WalletsOverTimeError()
      await requireFewSessions(transaction, session, address)
      const wallet = await insertWallet(transaction, session, connection, nowSeconds)
      const changed = await noteChange(
        transaction,
        session,
        { kind: 'wallet-connected', actor: connection.actor, privateComment: null },
        nowSeconds,
      )
      const state = { session: changed, wallets: [...wallets, wallet] }
      await announceSession(transaction, state, nowSeconds)
      return state
    }, DURABILITY),

  /** Returns null if there is no such wallet. @throws BrowserUnknownError, SessionClosedError, PartNotRequestedError */
  remove: (input: WalletRemoval): Promise<SessionState | null> =>
    scope.write(async (transaction) => {
      const nowSeconds = scope.nowSeconds()
      const { organizationId, sessionId, walletId, actor } = input
      const before = await lockState(transaction, organizationId, sessionId, nowSeconds)
      if (before === null) return null
      await requireBrowser(transaction, input, nowSeconds)
      const { session, wallets } = before
      if (!isSessionOpen(session.status)) throw new SessionClosedError(session.status)
      await acceptParts(transaction, input, ['wallets'], true)
      const removed = wallets.find(({ id }) => id === walletId)
      if (removed === undefined) return null
      await WALLETS.removeAll(transaction, { organizationId, sessionId, id: walletId })
      const { environment } = session
      const key = { organizationId, sessionId, address: removed.address }
      const others = (await REMOVED_WALLETS.find(transaction, key))?.chains ?? []
      const chains = [...new Set([...others, removed.chain])]
      await REMOVED_WALLETS.put(transaction, key, { environment, chains })
      const changed = await noteChange(
        transaction,
        session,
        { kind: 'wallet-removed', actor, privateComment: null },
        nowSeconds,
      )
      await announceSession(transaction, { session: changed, wallets }, nowSeconds)
      return { session: changed, wallets: wallets.filter(({ id }) => id !== walletId) }
    }, DURABILITY),
})

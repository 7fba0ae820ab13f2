// Answers whether a wallet is verified. Other organizations' sessions must be completed, shared and trusted.
import type { WalletAddress } from '../../domain/address.ts'
import type { Level } from '../../domain/level.ts'
import type { CheckType, SessionStatus } from '../../domain/session.ts'
import type { StandingQuery, StandingSource, VerifiedWallet, WalletSession } from '../../domain/standing.ts'
import type { Statements } from '../database.ts'
import { concerns, ofWallet, REJECTIONS_OF_WALLET } from './rejections.ts'
import { IS_SHARED, IS_UNSETTLED } from './session-sharing.ts'

interface StandingRow {
  readonly id: string
  readonly own: number
  readonly connected: number
  readonly proven_chain: string | null
  readonly check_type: CheckType
  readonly status: SessionStatus
  readonly level: Level
  readonly person_id: string | null
  readonly completed_at_seconds: number | null
  readonly decided: number | null
  readonly unsettled: number
}

/** Maximum sessions per wallet, which limits the rows read. Higher than any real wallet needs. */
const SESSIONS_MAX = 64
/** Number of decided rows to keep per type of check and proven chain. */
const DECISIONS_KEPT = 8
const PERSON_WALLETS_MAX = 200

/** Number of the last decision or revocation. Decisions of older versions have no number. */
const DECIDED = `CASE WHEN sessions.status IN ('completed', 'rejected') THEN COALESCE(sessions.decided_sequence, 0)
  ELSE sessions.decided_sequence END AS decided`

const COLUMNS = `sessions.check_type, sessions.status, sessions.level, sessions.person_id,
  sessions.completed_at_seconds, ${DECIDED}, CASE WHEN ${IS_UNSETTLED} THEN 1 ELSE 0 END AS unsettled`
const WITHOUT_WALLET = `sessions.id, 1 AS own, ${COLUMNS}, 0 AS connected, NULL AS proven_chain`

const IS_TRUSTED = `EXISTS (SELECT 1 FROM organizations asking WHERE asking.id = ? AND (asking.trusts = 'all'
          OR EXISTS (SELECT 1 FROM trusted_organizations trusted WHERE trusted.organization_id = asking.id
            AND trusted.trusted_id = sessions.organization_id)))`

const PROVEN_CHAIN = `CASE WHEN EXISTS (SELECT 1 FROM wallet_proofs WHERE wallet_proofs.wallet_id = session_wallets.id
    AND wallet_proofs.kind = 'erc1271') THEN session_wallets.chain END AS proven_chain`

/** Also considers removed wallets, because a person can disconnect a wallet from a revoked session. */
const notRevokedIn = (walletTable: string): string => `NOT EXISTS (SELECT 1 FROM ${walletTable} held
    JOIN sessions revoked ON revoked.organization_id = held.organization_id AND revoked.id = held.session_id
    WHERE held.address = session_wallets.address AND held.environment = session_wallets.environment
      AND held.organization_id = session_wallets.organization_id AND revoked.status NOT IN ('completed', 'rejected')
      AND revoked.decided_sequence > COALESCE(sessions.decided_sequence, 0))`

/**
 * Since the decision, the organization has neither rejected this wallet or its persons nor revoked another session of
 * the wallet.
 */
const IS_UPHELD = `NOT EXISTS (SELECT 1 FROM session_rejections rejected
    WHERE ${concerns('session_wallets.address', 'session_wallets.environment', 'session_wallets.organization_id')}
      AND rejected.decided_sequence > COALESCE(sessions.decided_sequence, 0))
    AND ${notRevokedIn('session_wallets')} AND ${notRevokedIn('session_removed_wallets')}`

const SESSIONS_OF_WALLET = `SELECT sessions.id, CASE WHEN sessions.organization_id = ? THEN 1 ELSE 0 END AS own, ${COLUMNS},
      1 AS connected, ${PROVEN_CHAIN} FROM session_wallets
    JOIN sessions ON sessions.organization_id = session_wallets.organization_id
      AND sessions.id = session_wallets.session_id
    WHERE session_wallets.address = ? AND session_wallets.environment = ?
      AND (sessions.organization_id = ? OR (sessions.status = 'completed' AND sessions.level >= ?
        AND ${IS_SHARED} AND ${IS_TRUSTED} AND ${IS_UPHELD}))
    UNION ALL
    SELECT ${WITHOUT_WALLET} FROM sessions
    WHERE sessions.locked_address = ? AND sessions.environment = ? AND sessions.organization_id = ?
    UNION ALL
    SELECT ${WITHOUT_WALLET} FROM session_removed_wallets removed
    JOIN sessions ON sessions.organization_id = removed.organization_id AND sessions.id = removed.session_id
    WHERE removed.address = ? AND removed.environment = ? AND removed.organization_id = ?
    UNION ALL
    SELECT ${WITHOUT_WALLET} FROM sessions
    JOIN (SELECT rejected.organization_id, rejected.session_id FROM ${REJECTIONS_OF_WALLET}) AS known
      ON sessions.organization_id = known.organization_id AND sessions.id = known.session_id`

/** Sorting a few rows in this process is faster than ORDER BY. Beyond the limit, STANDING_SESSIONS applies. */
export const STANDING_SESSIONS_UNORDERED = `${SESSIONS_OF_WALLET} LIMIT ${SESSIONS_MAX + 1}`
/**
 * Keeps own sessions first; then the last rejection, revocation and unsettled session; then the last decisions; and
 * finally the newest sessions.
 */
export const STANDING_SESSIONS = `SELECT id, own, check_type, status, level, person_id, completed_at_seconds, decided,
    unsettled, connected, proven_chain FROM (
      SELECT standing.*, CASE WHEN status = 'rejected' AND ROW_NUMBER() OVER (
          PARTITION BY own, status ORDER BY decided DESC, id DESC
        ) = 1 OR unsettled = 1 AND ROW_NUMBER() OVER (
          PARTITION BY own, unsettled ORDER BY id DESC
        ) = 1 OR revoked = 1 AND ROW_NUMBER() OVER (
          PARTITION BY own, revoked ORDER BY decided DESC, id DESC
        ) = 1 THEN 2 WHEN decided IS NOT NULL AND ROW_NUMBER() OVER (
          PARTITION BY own, check_type, proven_chain, status, connected ORDER BY decided DESC, id DESC
        ) <= ${DECISIONS_KEPT} THEN 1 ELSE 0 END AS always_kept
      FROM (
        SELECT of_wallet.*, CASE WHEN decided IS NOT NULL AND status NOT IN ('completed', 'rejected') THEN 1 ELSE 0 END
          AS revoked FROM (${SESSIONS_OF_WALLET}) AS of_wallet
      ) AS standing ORDER BY own DESC, always_kept DESC, id DESC, connected DESC LIMIT ${SESSIONS_MAX}
    ) AS kept ORDER BY own DESC, id DESC, connected DESC`

const WALLETS_OF_PERSON = `FROM sessions JOIN session_wallets
    ON session_wallets.organization_id = sessions.organization_id AND session_wallets.session_id = sessions.id
  WHERE sessions.person_id = ? AND sessions.status = 'completed' AND sessions.level >= ? AND sessions.environment = ?
    AND (sessions.organization_id = ? OR (${IS_SHARED} AND ${IS_TRUSTED} AND ${IS_UPHELD}))`

export const PERSON_WALLETS_UNORDERED = `SELECT session_wallets.address_text AS address, session_wallets.chain,
    session_wallets.connected_at_seconds ${WALLETS_OF_PERSON} LIMIT ${PERSON_WALLETS_MAX + 1}`
export const PERSON_WALLETS = `SELECT session_wallets.address_text AS address, session_wallets.chain ${WALLETS_OF_PERSON}
  GROUP BY session_wallets.address_text, session_wallets.chain
  ORDER BY MIN(session_wallets.connected_at_seconds), session_wallets.chain, session_wallets.address_text
  LIMIT ${PERSON_WALLETS_MAX}`

/** Compares by character codes, like the databases, not by locale. */
const compare = (left: string | number, right: string | number): number => (left < right ? -1 : left > right ? 1 : 0)

const bySessionOrder = (left: StandingRow, right: StandingRow): number =>
  right.own - left.own || compare(right.id, left.id) || right.connected - left.connected

interface WalletRow extends VerifiedWallet {
  readonly connected_at_seconds: number
}

const byWalletOrder = (left: WalletRow, right: WalletRow): number =>
  left.connected_at_seconds - right.connected_at_seconds ||
  compare(left.chain, right.chain) ||
  compare(left.address, right.address)

/** Returns each wallet once, at its first position in wallet order. */
const distinctWallets = (rows: readonly WalletRow[]): readonly VerifiedWallet[] => {
  const ordered = rows.length < 2 ? rows : [...rows].sort(byWalletOrder)
  const kept: VerifiedWallet[] = []
  for (const { address, chain } of ordered) {
    if (!kept.some((wallet) => wallet.address === address && wallet.chain === chain)) kept.push({ address, chain })
  }
  return kept
}

const toWalletSession = (row: StandingRow): WalletSession => ({
  sessionId: row.id,
  own: row.own === 1,
  connected: row.connected === 1,
  provenChain: row.proven_chain,
  checkType: row.check_type,
  status: row.status,
  level: row.level,
  personId: row.person_id,
  completedAtSeconds: row.completed_at_seconds,
  decidedSequence: row.decided,
  isUnsettled: row.unsettled === 1,
})

export const standingParameters = (query: StandingQuery, address: WalletAddress) => {
  const { organizationId, environment, level } = query
  const wallet = [address, environment, organizationId]
  return [organizationId, ...wallet, level, organizationId, ...wallet, ...wallet, ...ofWallet(query, address)]
}

export type WalletStandings = StandingSource

export const createWalletStandings = (
  statements: Statements,
  userIdOf: StandingSource['userIdOf'],
): WalletStandings => ({
  loadSessions: async (query, address) => {
    const parameters = standingParameters(query, address)
    const found = await statements.query<StandingRow>(STANDING_SESSIONS_UNORDERED, parameters)
    const rows =
      found.length > SESSIONS_MAX
        ? await statements.query<StandingRow>(STANDING_SESSIONS, parameters)
        : found.length < 2
          ? found
          : [...found].sort(bySessionOrder)
    return rows.map(toWalletSession)
  },

  loadPersonWallets: async ({ organizationId, environment, level }, personId) => {
    const parameters = [personId, level, environment, organizationId, organizationId]
    const found = await statements.query<WalletRow>(PERSON_WALLETS_UNORDERED, parameters)
    return found.length > PERSON_WALLETS_MAX
      ? statements.query<VerifiedWallet>(PERSON_WALLETS, parameters)
      : distinctWallets(found)
  },

  userIdOf,
})

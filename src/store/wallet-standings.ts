// The reads behind "is this wallet verified?": by canonical address over indexes, a few microseconds each however many
// wallets there are. Another organization's sessions are seen only when they are completed, at the level, and shared.
import type { Level } from '../domain/level.ts'
import type { CheckType, SessionStatus } from '../domain/session.ts'
import type { StandingSource, VerifiedWallet } from '../domain/standing.ts'
import type { Statements } from './database.ts'

interface StandingRow {
  readonly id: string
  readonly own: number
  readonly connected: number
  readonly check_type: CheckType
  readonly status: SessionStatus
  readonly level: Level
  readonly person_id: string | null
  readonly completed_at_seconds: number | null
}

/** More than anyone's wallet has; a wallet with thousands of sessions must not cost thousands of rows. */
const SESSIONS_MAX = 64
const PERSON_WALLETS_MAX = 200

const COLUMNS = `sessions.id, CASE WHEN sessions.organization_id = ? THEN 1 ELSE 0 END AS own, sessions.check_type,
  sessions.status, sessions.level, sessions.person_id, sessions.completed_at_seconds`

export const STANDING_SESSIONS = `SELECT * FROM (
    SELECT ${COLUMNS}, 1 AS connected FROM session_wallets
    JOIN sessions ON sessions.organization_id = session_wallets.organization_id
      AND sessions.id = session_wallets.session_id
    WHERE session_wallets.address = ? AND session_wallets.environment = ?
      AND (sessions.organization_id = ? OR (sessions.status = 'completed' AND sessions.level >= ?
        AND sessions.consented_at_seconds IS NOT NULL))
    UNION ALL
    SELECT ${COLUMNS}, 0 AS connected FROM sessions
    WHERE sessions.locked_address = ? AND sessions.environment = ? AND sessions.organization_id = ?
  ) AS standing ORDER BY own DESC, id DESC, connected DESC LIMIT ${SESSIONS_MAX}`

export const PERSON_WALLETS = `SELECT session_wallets.address_text AS address, session_wallets.chain
  FROM sessions JOIN session_wallets ON session_wallets.organization_id = sessions.organization_id
    AND session_wallets.session_id = sessions.id
  WHERE sessions.person_id = ? AND sessions.status = 'completed' AND sessions.level >= ? AND sessions.environment = ?
    AND (sessions.organization_id = ? OR sessions.consented_at_seconds IS NOT NULL)
  GROUP BY session_wallets.address_text, session_wallets.chain
  ORDER BY MIN(session_wallets.connected_at_seconds), session_wallets.chain, session_wallets.address_text
  LIMIT ${PERSON_WALLETS_MAX}`

export type WalletStandings = StandingSource

export const createWalletStandings = (
  statements: Statements,
  userIdOf: StandingSource['userIdOf'],
): WalletStandings => ({
  loadSessions: async ({ organizationId, environment, level }, address) =>
    (
      await statements.query<StandingRow>(STANDING_SESSIONS, [
        ...[organizationId, address, environment, organizationId, level],
        ...[organizationId, address, environment, organizationId],
      ])
    ).map((row) => ({
      sessionId: row.id,
      own: row.own === 1,
      connected: row.connected === 1,
      checkType: row.check_type,
      status: row.status,
      level: row.level,
      personId: row.person_id,
      completedAtSeconds: row.completed_at_seconds,
    })),

  loadPersonWallets: ({ organizationId, environment, level }, personId) =>
    statements.query<VerifiedWallet>(PERSON_WALLETS, [personId, level, environment, organizationId]),

  userIdOf,
})

// A session's links. Only hashes are stored, so no link can be shown twice: every registration, also of a reused session,
// makes a new one, and the newest few keep working beside each other.
import type { SessionState } from '../../domain/session.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { Transaction } from '../database.ts'
import { readState } from './session-rows.ts'

/** Links of one session that work at the same time: enough for every place a customer may have put one. */
export const TOKENS_PER_SESSION_MAX = 10

interface TokenSession {
  readonly organizationId: string
  readonly id: string
}

export interface NewToken {
  readonly hash: Uint8Array
  /**
   * Whether the link opens a session in use only with a proof of one of its wallets. False for a link that reaches the
   * session's own person; true for a link that anyone gets who names a wallet.
   */
  readonly requiresProof: boolean
}

/** Adds a link to a session just made, which has none. */
export const addFirstToken = (
  transaction: Transaction,
  session: TokenSession,
  { hash, requiresProof }: NewToken,
  nowSeconds: number,
): Promise<number> =>
  transaction.execute(
    `INSERT INTO session_tokens (hash, organization_id, session_id, ordinal, created_at_seconds, requires_proof)
     VALUES (?, ?, ?, 1, ?, ?)`,
    [hash, session.organizationId, session.id, nowSeconds, requiresProof ? 1 : 0],
  )

const ADD = `INSERT INTO session_tokens (hash, organization_id, session_id, ordinal, created_at_seconds, requires_proof)
  SELECT ?, ?, ?, COALESCE(MAX(ordinal), 0) + 1, ?, ? FROM session_tokens WHERE organization_id = ? AND session_id = ?
  RETURNING ordinal`

/** Adds a link; the oldest end beyond TOKENS_PER_SESSION_MAX. The session's row must be locked. */
export const addToken = async (
  transaction: Transaction,
  { organizationId, id }: TokenSession,
  { hash, requiresProof }: NewToken,
  nowSeconds: number,
): Promise<void> => {
  const [added] = await transaction.query<{ ordinal: number }>(ADD, [
    hash,
    organizationId,
    id,
    nowSeconds,
    requiresProof ? 1 : 0,
    organizationId,
    id,
  ])
  const ordinal = added?.ordinal ?? 0
  if (ordinal <= TOKENS_PER_SESSION_MAX) return
  await transaction.execute(
    'DELETE FROM session_tokens WHERE organization_id = ? AND session_id = ? AND ordinal <= ?',
    [organizationId, id, ordinal - TOKENS_PER_SESSION_MAX],
  )
}

export const createTokenReader = (scope: TableScope) => ({
  /** Finds a session by the link's hash alone, because it is not known who opens a link. Null when there is none. */
  findByToken: async (hash: Uint8Array): Promise<SessionState | null> => {
    const [row] = await scope.statements.query<{ organization_id: string; session_id: string }>(
      'SELECT organization_id, session_id FROM session_tokens WHERE hash = ?',
      [hash],
    )
    return row === undefined ? null : readState(scope.statements, row.organization_id, row.session_id)
  },
})

// Links to a session. Only hashes are stored, so each registration creates a new link. Earlier links stay valid.
import type { SessionState } from '../../domain/session.ts'
import { bytes, flag, integer, sql, text } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { Transaction } from '../database.ts'
import { defineTable } from '../table.ts'
import { readState } from './session-rows.ts'

export const TOKENS = defineTable('session_tokens', {
  hash: bytes,
  organizationId: text,
  sessionId: text,
  ordinal: integer,
  createdAtSeconds: integer,
  requiresProof: flag,
})

/** Maximum tokens: enough for every place where a customer may have put a link. */
export const TOKENS_PER_SESSION_MAX = 10

interface TokenSession {
  readonly organizationId: string
  readonly id: string
}

export interface NewToken {
  readonly hash: Uint8Array
  /** True if anyone who names a wallet gets the link: opening a session in use then requires a proof of a wallet. */
  readonly requiresProof: boolean
}

export const addFirstToken = (
  transaction: Transaction,
  { organizationId, id: sessionId }: TokenSession,
  token: NewToken,
  createdAtSeconds: number,
) => TOKENS.insert(transaction, { ...token, organizationId, sessionId, ordinal: 1, createdAtSeconds })

const ADD = `INSERT INTO session_tokens (hash, organization_id, session_id, ordinal, created_at_seconds, requires_proof)
  SELECT ?, ?, ?, COALESCE(MAX(ordinal), 0) + 1, ?, ? FROM session_tokens WHERE organization_id = ? AND session_id = ?
  RETURNING ordinal`

/** Deletes the oldest links beyond TOKENS_PER_SESSION_MAX. The session's row must be locked. */
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
  const oldest = sql`<= ${ordinal - TOKENS_PER_SESSION_MAX}`
  await TOKENS.removeAll(transaction, { organizationId, sessionId: id, ordinal: oldest })
}

export const createTokenReader = (scope: TableScope) => ({
  /** Searches all organizations, because the visitor is unknown. */
  findByToken: async (hash: Uint8Array): Promise<SessionState | null> => {
    const token = await TOKENS.everywhere.find(scope.statements, { hash })
    return token === null ? null : readState(scope.statements, token.organizationId, token.sessionId)
  },
})

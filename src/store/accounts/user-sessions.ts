// Sessions of signed-in browsers. Each request reads its session by the hash of the cookie's token, so that an ended session
// is refused immediately.
import { newIdentifier } from '../../domain/identifier.ts'
import type { TableScope } from '../copy/table-scope.ts'
import { fieldsOf, insertRow, type RowOf } from '../row-fields.ts'
import { sweepRows } from '../sweep.ts'

/** `second-factor`: the password was right, a code or a passkey is still owed; it opens nothing else. */
export type UserSessionState = 'second-factor' | 'active'

export interface UserSession {
  readonly id: string
  readonly userId: string
  readonly state: UserSessionState
  /** The User-Agent header, shortened. */
  readonly userAgent: string
  /** IP address at the sign-in. */
  readonly address: string
  readonly createdAtSeconds: number
  /** Exact to a minute. */
  readonly lastSeenAtSeconds: number
  readonly expiresAtSeconds: number
  /** When the password or a passkey was last checked in it; 0: not since it began. */
  readonly confirmedAtSeconds: number
}

type SessionRow = RowOf<UserSession>

const COLUMNS = `id, user_id, state, user_agent, address, created_at_seconds, last_seen_at_seconds, expires_at_seconds,
  confirmed_at_seconds`
/** The first request of each minute writes the last use; a power cut may lose the newest. */
const DURABILITY = { survives: 'process-crash' } as const

export const createUserSessionTable = (scope: TableScope) => ({
  /** Begins a session and ends the one that the browser had. An active one counts as confirmed by its sign-in. */
  create: (input: {
    readonly userId: string
    readonly tokenHash: Uint8Array
    /** Hash of the token in the browser's earlier cookie, whoever owns it; null without one. */
    readonly replacedTokenHash: Uint8Array | null
    readonly state: UserSessionState
    readonly userAgent: string
    readonly address: string
    readonly expiresAtSeconds: number
  }): Promise<UserSession> =>
    scope.write(async (transaction) => {
      const nowSeconds = scope.nowSeconds()
      const { tokenHash, replacedTokenHash, ...fields } = input
      const session: UserSession = {
        ...fields,
        id: newIdentifier('login'),
        createdAtSeconds: nowSeconds,
        lastSeenAtSeconds: nowSeconds,
        confirmedAtSeconds: input.state === 'active' ? nowSeconds : 0,
      }
      if (replacedTokenHash !== null) {
        await transaction.execute('DELETE FROM user_sessions WHERE token_hash = ?', [replacedTokenHash])
      }
      await insertRow(transaction, 'user_sessions', { ...session, tokenHash })
      return session
    }),

  /** Finds a session by the token's hash alone, because it is not known who sends a cookie. Null when unknown or expired. */
  findByToken: async (tokenHash: Uint8Array): Promise<UserSession | null> => {
    const [row] = await scope.statements.query<SessionRow>(
      `SELECT ${COLUMNS} FROM user_sessions WHERE token_hash = ? AND expires_at_seconds > ?`,
      [tokenHash, scope.nowSeconds()],
    )
    return row === undefined ? null : fieldsOf(row)
  },

  /** Newest first, those that are valid. */
  listOf: async (userId: string): Promise<readonly UserSession[]> =>
    (
      await scope.statements.query<SessionRow>(
        `SELECT ${COLUMNS} FROM user_sessions WHERE user_id = ? AND expires_at_seconds > ? AND state = 'active'
         ORDER BY created_at_seconds DESC, id`,
        [userId, scope.nowSeconds()],
      )
    ).map(fieldsOf),

  /** Records that the session is used, and sets its new expiry. */
  touch: (sessionId: string, expiresAtSeconds: number): Promise<void> =>
    scope.write(async (transaction) => {
      await transaction.execute(
        'UPDATE user_sessions SET last_seen_at_seconds = ?, expires_at_seconds = ? WHERE id = ?',
        [scope.nowSeconds(), expiresAtSeconds, sessionId],
      )
    }, DURABILITY),

  /**
   * Notes that its person has proved again who they are, under a new token: a copy of the cookie that somebody else took
   * opens nothing afterwards. False when the session has ended.
   */
  confirm: (sessionId: string, tokenHash: Uint8Array): Promise<boolean> =>
    scope.write(
      async (transaction) =>
        (await transaction.execute('UPDATE user_sessions SET confirmed_at_seconds = ?, token_hash = ? WHERE id = ?', [
          scope.nowSeconds(),
          tokenHash,
          sessionId,
        ])) === 1,
    ),

  /** Ends one session of an account; false when it has none of that id. */
  end: (userId: string, sessionId: string): Promise<boolean> =>
    scope.write(
      async (transaction) =>
        (await transaction.execute('DELETE FROM user_sessions WHERE user_id = ? AND id = ?', [userId, sessionId])) ===
        1,
    ),

  /** Ends all sessions of an account except `exceptId`; returns how many. */
  endAll: (userId: string, exceptId: string | null = null): Promise<number> =>
    scope.write((transaction) =>
      transaction.execute('DELETE FROM user_sessions WHERE user_id = ? AND id <> ?', [userId, exceptId ?? '']),
    ),

  /** Deletes a batch of expired sessions. @returns how many: call again until it is 0 */
  sweep: (): Promise<number> =>
    scope.write(
      (transaction) => sweepRows(transaction, 'user_sessions', 'id', 'expires_at_seconds <= ?', scope.nowSeconds()),
      DURABILITY,
    ),
})

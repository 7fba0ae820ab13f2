// Signed-in browsers. A session is found by the hash of its cookie's token and read with every request, so that ending it
// ends it at once.
import { newIdentifier } from '../domain/identifier.ts'
import { fieldsOf, insertRow, type RowOf } from './row-fields.ts'
import { sweepRows } from './sweep.ts'
import type { TableScope } from './table-scope.ts'

/** `second-factor`: the password was right, a code or a passkey is still owed; it opens nothing else. */
export type UserSessionState = 'second-factor' | 'active'

export interface UserSession {
  readonly id: string
  readonly userId: string
  readonly state: UserSessionState
  /** As the browser names itself, cut short. */
  readonly userAgent: string
  /** Where it signed in from. */
  readonly address: string
  readonly createdAtSeconds: number
  /** Within a minute. */
  readonly lastSeenAtSeconds: number
  readonly expiresAtSeconds: number
  /** When the password or a passkey was last checked in it; 0: not since it began. */
  readonly confirmedAtSeconds: number
}

type SessionRow = RowOf<UserSession>

const COLUMNS = `id, user_id, state, user_agent, address, created_at_seconds, last_seen_at_seconds, expires_at_seconds,
  confirmed_at_seconds`
/** Written by every request of a minute's first: a power cut may lose the last. */
const DURABILITY = { survives: 'process-crash' } as const

export const createUserSessionTable = (scope: TableScope) => ({
  /** A session that is active from the start was begun by what confirms it. It ends the one that the browser had. */
  create: (input: {
    readonly userId: string
    readonly tokenHash: Uint8Array
    /** Of the cookie that the browser carried until now, whoever’s it is; null for none. */
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

  /** By the token's hash alone: who sends a cookie is not known before. Null for one that is unknown or has expired. */
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

  /** Notes that it is in use, and until when it may be used without a pause. */
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

  /** Ends all of an account, but for `exceptId`; answers how many. */
  endAll: (userId: string, exceptId: string | null = null): Promise<number> =>
    scope.write((transaction) =>
      transaction.execute('DELETE FROM user_sessions WHERE user_id = ? AND id <> ?', [userId, exceptId ?? '']),
    ),

  /** Deletes some of what has expired; answers how many. Call again until it answers 0. */
  sweep: (): Promise<number> =>
    scope.write(
      (transaction) => sweepRows(transaction, 'user_sessions', 'id', 'expires_at_seconds <= ?', scope.nowSeconds()),
      DURABILITY,
    ),
})

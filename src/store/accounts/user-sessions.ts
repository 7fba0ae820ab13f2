// Sessions of signed-in browsers. Read with each request, so that an ended session is rejected immediately.
import { newIdentifier } from '../../domain/identifier.ts'
import { bytes, hidden, integer, sql, text, typed } from '../columns.ts'
import { survivingCrashes, type TableScope, unidentifiedReads } from '../copy/table-scope.ts'
import { defineTable, type ItemOf } from '../table.ts'

/** `second-factor`: the password was correct, but a code or passkey is missing. Grants no access. */
export type UserSessionState = 'second-factor' | 'active'

const SESSIONS = defineTable('user_sessions', {
  id: text,
  userId: text,
  state: typed<UserSessionState>(),
  userAgent: text,
  address: text,
  createdAtSeconds: integer,
  /** Time of the last use, accurate to one minute. */
  lastSeenAtSeconds: integer,
  expiresAtSeconds: integer,
  /** Last time the password or a passkey was checked; 0 if never. */
  confirmedAtSeconds: integer,
  tokenHash: hidden(bytes),
})

export interface UserSession extends ItemOf<typeof SESSIONS> {}

/** Maximum per state. Bounded, because every change to the account reads its active sessions. */
export const SESSIONS_PER_ACCOUNT_MAX = 100

export const createUserSessionTable = (scope: TableScope) => ({
  /** Ends the browser's previous session, and the account's least recently used sessions beyond the maximum. */
  create: (input: {
    readonly userId: string
    readonly tokenHash: Uint8Array
    readonly replacedTokenHash: Uint8Array | null
    readonly state: UserSessionState
    readonly userAgent: string
    readonly address: string
    readonly expiresAtSeconds: number
  }): Promise<UserSession> =>
    scope.write(async (own) => {
      const nowSeconds = scope.nowSeconds()
      const { replacedTokenHash, ...fields } = input
      if (replacedTokenHash !== null) await SESSIONS.removeAll(own, { tokenHash: replacedTokenHash })
      await own.execute(
        `DELETE FROM user_sessions WHERE id IN (SELECT id FROM user_sessions WHERE user_id = ? AND state = ?
           ORDER BY last_seen_at_seconds DESC, id DESC LIMIT 1000 OFFSET ?)`,
        [fields.userId, fields.state, SESSIONS_PER_ACCOUNT_MAX - 1],
      )
      return SESSIONS.insert(own, {
        ...fields,
        id: newIdentifier('login'),
        createdAtSeconds: nowSeconds,
        lastSeenAtSeconds: nowSeconds,
        confirmedAtSeconds: input.state === 'active' ? nowSeconds : 0,
      })
    }),

  /** Searches all accounts, because the sender of a cookie is unknown. */
  findByToken: (tokenHash: Uint8Array): Promise<UserSession | null> =>
    SESSIONS.find(unidentifiedReads(scope), { tokenHash, expiresAtSeconds: sql`> ${scope.nowSeconds()}` }),

  listOf: async (userId: string): Promise<readonly UserSession[]> => {
    const valid = { userId, expiresAtSeconds: sql`> ${scope.nowSeconds()}`, state: 'active' } as const
    return (await SESSIONS.list(scope, valid, ['id'])).toSorted(
      (one, other) => other.createdAtSeconds - one.createdAtSeconds,
    )
  },

  /** Called once per minute. A power loss may lose the latest record. */
  touch: async (id: string, expiresAtSeconds: number): Promise<void> => {
    await SESSIONS.updateAll(
      survivingCrashes(scope),
      { id },
      { lastSeenAtSeconds: scope.nowSeconds(), expiresAtSeconds },
    )
  },

  /** Sets a new token, which invalidates stolen copies of the cookie. Returns false if the session has ended. */
  confirm: async (id: string, tokenHash: Uint8Array): Promise<boolean> =>
    (await SESSIONS.updateAll(scope, { id }, { confirmedAtSeconds: scope.nowSeconds(), tokenHash })) === 1,

  end: async (userId: string, id: string): Promise<boolean> => (await SESSIONS.removeAll(scope, { userId, id })) === 1,

  endAll: (userId: string, exceptId: string | null = null): Promise<number> =>
    SESSIONS.removeAll(scope, { userId, id: sql`<> ${exceptId ?? ''}` }),

  sweep: (): Promise<number> =>
    SESSIONS.sweep(survivingCrashes(scope), ['id'], sql`expires_at_seconds <= ${scope.nowSeconds()}`),
})

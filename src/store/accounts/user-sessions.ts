// Sessions of signed-in browsers. Each request reads its session by the hash of the cookie's token, so that an ended session
// is refused immediately.
import { newIdentifier } from '../../domain/identifier.ts'
import { bytes, hidden, integer, sql, text, typed } from '../columns.ts'
import { survivingCrashes, type TableScope } from '../copy/table-scope.ts'
import { defineTable, type ItemOf } from '../table.ts'

/** `second-factor`: the password was right, a code or a passkey is still owed; it opens nothing else. */
export type UserSessionState = 'second-factor' | 'active'

const SESSIONS = defineTable('user_sessions', {
  id: text,
  userId: text,
  state: typed<UserSessionState>(),
  /** The User-Agent header, shortened. */
  userAgent: text,
  /** IP address at the sign-in. */
  address: text,
  createdAtSeconds: integer,
  /** Exact to a minute. */
  lastSeenAtSeconds: integer,
  expiresAtSeconds: integer,
  /** When the password or a passkey was last checked in it; 0: not since it began. */
  confirmedAtSeconds: integer,
  tokenHash: hidden(bytes),
})

export interface UserSession extends ItemOf<typeof SESSIONS> {}

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
    scope.write(async (own) => {
      const nowSeconds = scope.nowSeconds()
      const { replacedTokenHash, ...fields } = input
      if (replacedTokenHash !== null) await SESSIONS.removeAll(own, { tokenHash: replacedTokenHash })
      return SESSIONS.insert(own, {
        ...fields,
        id: newIdentifier('login'),
        createdAtSeconds: nowSeconds,
        lastSeenAtSeconds: nowSeconds,
        confirmedAtSeconds: input.state === 'active' ? nowSeconds : 0,
      })
    }),

  /** Finds a session by the token's hash alone, because it is not known who sends a cookie. Null when unknown or expired. */
  findByToken: (tokenHash: Uint8Array): Promise<UserSession | null> =>
    SESSIONS.find(scope, { tokenHash, expiresAtSeconds: sql`> ${scope.nowSeconds()}` }),

  /** Newest first, those that are valid. */
  listOf: async (userId: string): Promise<readonly UserSession[]> => {
    const valid = { userId, expiresAtSeconds: sql`> ${scope.nowSeconds()}`, state: 'active' } as const
    return (await SESSIONS.list(scope, valid, ['id'])).toSorted(
      (one, other) => other.createdAtSeconds - one.createdAtSeconds,
    )
  },

  /**
   * Records that the session is used, and sets its new expiry. The first request of each minute does; a power cut may lose
   * the newest.
   */
  touch: async (id: string, expiresAtSeconds: number): Promise<void> => {
    await SESSIONS.updateAll(
      survivingCrashes(scope),
      { id },
      { lastSeenAtSeconds: scope.nowSeconds(), expiresAtSeconds },
    )
  },

  /**
   * Notes that its person has proved again who they are, under a new token: a copy of the cookie that somebody else took
   * opens nothing afterwards. False when the session has ended.
   */
  confirm: async (id: string, tokenHash: Uint8Array): Promise<boolean> =>
    (await SESSIONS.updateAll(scope, { id }, { confirmedAtSeconds: scope.nowSeconds(), tokenHash })) === 1,

  /** Ends one session of an account; false when it has none of that id. */
  end: async (userId: string, id: string): Promise<boolean> => (await SESSIONS.removeAll(scope, { userId, id })) === 1,

  /** Ends all sessions of an account except `exceptId`; returns how many. */
  endAll: (userId: string, exceptId: string | null = null): Promise<number> =>
    SESSIONS.removeAll(scope, { userId, id: sql`<> ${exceptId ?? ''}` }),

  /** Deletes a batch of expired sessions. @returns how many: call again until it is 0 */
  sweep: (): Promise<number> =>
    SESSIONS.sweep(survivingCrashes(scope), ['id'], sql`expires_at_seconds <= ${scope.nowSeconds()}`),
})

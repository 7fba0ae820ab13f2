// The sessions of the dashboard: begun, found by the cookie of each request, prolonged while in use, never beyond half a
// day. An account that is disabled, or a session that is ended, is out with the next request.
import type { Clock } from '../../domain/time.ts'
import type { Store } from '../../store/store.ts'
import type { UserSession, UserSessionState } from '../../store/user-sessions.ts'
import type { User } from '../../store/users.ts'
import type { PersonActor } from '../actor.ts'
import type { SessionCookie } from './cookie.ts'
import { hashToken, newToken } from './token.ts'

/** Without a request for this long, it is over. */
const IDLE_SECONDS = 7_200
/** After this, whatever was done with it. */
export const SESSION_SECONDS = 43_200
/** To come up with the second factor. */
const SECOND_FACTOR_SECONDS = 300
/** A use is written at most this often. */
const TOUCH_SECONDS = 60
const USER_AGENT_LENGTH_MAX = 200

/** Where a request comes from, for people to recognise their own sessions by. */
export interface Caller {
  readonly userAgent: string
  readonly address: string
}

export interface BegunSession {
  readonly session: UserSession
  /** The value of `Set-Cookie`. */
  readonly cookie: string
}

export interface FoundSession {
  readonly session: UserSession
  readonly user: User
}

export interface SessionsDependencies {
  readonly store: Pick<Store, 'users' | 'userSessions' | 'memberships'>
  readonly clock: Clock
  readonly cookie: SessionCookie
}

export const createSessions = ({ store, clock, cookie }: SessionsDependencies) => {
  /** Either state; null for no cookie, or one that opens nothing. */
  const find = async (headers: Headers): Promise<FoundSession | null> => {
    const token = cookie.read(headers)
    if (token === null) return null
    const session = await store.userSessions.findByToken(hashToken(token))
    const user = session === null ? null : await store.users.find(session.userId)
    if (session === null || user === null || user.disabledAtSeconds !== null) return null
    return { session, user }
  }

  const prolong = async (session: UserSession): Promise<void> => {
    const nowSeconds = clock.unixSeconds()
    if (nowSeconds - session.lastSeenAtSeconds < TOUCH_SECONDS) return
    await store.userSessions.touch(
      session.id,
      Math.min(nowSeconds + IDLE_SECONDS, session.createdAtSeconds + SESSION_SECONDS),
    )
  }

  return {
    find,
    cookie,

    /** A new token each time: what a browser carried before signing in opens nothing afterwards. */
    begin: async (userId: string, state: UserSessionState, caller: Caller): Promise<BegunSession> => {
      const { text, hash } = newToken()
      const lifeSeconds = state === 'active' ? IDLE_SECONDS : SECOND_FACTOR_SECONDS
      const session = await store.userSessions.create({
        userId,
        tokenHash: hash,
        state,
        userAgent: caller.userAgent.slice(0, USER_AGENT_LENGTH_MAX),
        address: caller.address,
        expiresAtSeconds: clock.unixSeconds() + lifeSeconds,
      })
      return { session, cookie: cookie.set(text, state === 'active' ? SESSION_SECONDS : SECOND_FACTOR_SECONDS) }
    },

    /** The person of an active session, with what they may do now. */
    personOf: async ({ session, user }: FoundSession): Promise<PersonActor> => {
      await prolong(session)
      return { kind: 'person', user, session, roles: await store.memberships.rolesOf(user.id) }
    },

    end: (session: UserSession): Promise<boolean> => store.userSessions.end(session.userId, session.id),
  }
}

export type Sessions = ReturnType<typeof createSessions>

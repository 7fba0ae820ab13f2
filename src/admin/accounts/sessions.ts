// The sessions of the dashboard: begun, found by the cookie of each request, prolonged while in use, never beyond half a
// day. An account that is disabled, or a session that is ended, is out with the next request.
import type { Clock } from '../../domain/time.ts'
import type { Store } from '../../store/store.ts'
import type { UserSession, UserSessionState } from '../../store/user-sessions.ts'
import type { User } from '../../store/users.ts'
import type { PersonActor } from '../actor.ts'
import { SignInRequiredError } from '../errors.ts'
import type { Cookies } from './cookie.ts'
import { hashToken, newToken } from './token.ts'

/** Without a request for this long, it is over. */
const IDLE_SECONDS = 7_200
/** After this, whatever was done with it. */
const SESSION_SECONDS = 43_200
/** To come up with the second factor. */
const SECOND_FACTOR_SECONDS = 300
/** A use is written at most this often. */
const TOUCH_SECONDS = 60
/** A password or passkey that was checked no longer ago stands for the person. */
const CONFIRMED_SECONDS = 300
const USER_AGENT_LENGTH_MAX = 200

/** The sender of a request, before any of its claims is checked. */
export interface Caller {
  /** For people to recognise their own sessions by. */
  readonly userAgent: string
  /** Empty where a trusted proxy does not say. */
  readonly address: string
  /** Value of the session's cookie; null without one. */
  readonly sessionToken: string | null
  /** Value of the device's cookie; null without one. */
  readonly deviceToken: string | null
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
  readonly cookies: Cookies
}

export const createSessions = ({ store, clock, cookies }: SessionsDependencies) => {
  /** Either state; null for no cookie, or one that opens nothing. */
  const find = async (headers: Headers): Promise<FoundSession | null> => {
    const token = cookies.session.read(headers)
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
    cookies,

    callerOf: (headers: Headers, address: string): Caller => ({
      userAgent: headers.get('user-agent') ?? '',
      address,
      sessionToken: cookies.session.read(headers),
      deviceToken: cookies.device.read(headers),
    }),

    /** A new token each time, and the browser's session before it ends: what it carried opens nothing afterwards. */
    begin: async (userId: string, state: UserSessionState, caller: Caller): Promise<BegunSession> => {
      const { text, hash } = newToken()
      const lifeSeconds = state === 'active' ? IDLE_SECONDS : SECOND_FACTOR_SECONDS
      const session = await store.userSessions.create({
        userId,
        tokenHash: hash,
        replacedTokenHash: caller.sessionToken === null ? null : hashToken(caller.sessionToken),
        state,
        userAgent: caller.userAgent.slice(0, USER_AGENT_LENGTH_MAX),
        address: caller.address,
        expiresAtSeconds: clock.unixSeconds() + lifeSeconds,
      })
      const cookieSeconds = state === 'active' ? SESSION_SECONDS : SECOND_FACTOR_SECONDS
      return { session, cookie: cookies.session.set(text, cookieSeconds) }
    },

    /**
     * Notes a fresh proof of who the person is, and gives the session another token.
     * @param userSessions of the transaction that it belongs to; by itself unless given
     * @returns the value of `Set-Cookie`
     * @throws SignInRequiredError when the session has ended meanwhile
     */
    confirm: async (
      session: UserSession,
      userSessions: Pick<Store['userSessions'], 'confirm'> = store.userSessions,
    ): Promise<string> => {
      const { text, hash } = newToken()
      if (!(await userSessions.confirm(session.id, hash))) throw new SignInRequiredError()
      return cookies.session.set(text, session.createdAtSeconds + SESSION_SECONDS - clock.unixSeconds())
    },

    /** The person of an active session, with what they may do now. */
    personOf: async ({ session, user }: FoundSession): Promise<PersonActor> => {
      await prolong(session)
      return { kind: 'person', user, session, roles: await store.memberships.rolesOf(user.id) }
    },

    /** Whether its person has proved lately who they are. */
    isConfirmed: ({ confirmedAtSeconds }: UserSession): boolean =>
      clock.unixSeconds() - confirmedAtSeconds <= CONFIRMED_SECONDS,
  }
}

export type Sessions = ReturnType<typeof createSessions>

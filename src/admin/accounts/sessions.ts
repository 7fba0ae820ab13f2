// The dashboard's sessions. A session is found by the request's cookie and prolonged by use, for at most twelve hours. When an
// account is disabled or a session is ended, the next request is refused.
import type { Clock } from '../../lib/time.ts'
import type { UserSession, UserSessionState } from '../../store/accounts/user-sessions.ts'
import type { User } from '../../store/accounts/users.ts'
import type { Store } from '../../store/store.ts'
import type { PersonActor } from '../actor.ts'
import { SignInRequiredError } from '../errors.ts'
import type { Cookies } from './cookie.ts'
import { hashToken, newToken } from './token.ts'

/** A session ends when it gets no request for this long. */
const IDLE_SECONDS = 7_200
/** A session ends after this time, even if it is in use. */
const SESSION_SECONDS = 43_200
/** Time to give the second factor. */
const SECOND_FACTOR_SECONDS = 300
/** The time of the last use is stored at most this often. */
const TOUCH_SECONDS = 60
/** After the password or passkey was checked, it is not asked for again for this long. */
const CONFIRMED_SECONDS = 300
const USER_AGENT_LENGTH_MAX = 200

/** What a request says about its sender; nothing of it is checked yet. */
export interface Caller {
  /** Shown to people, so that they recognise their own sessions. */
  readonly userAgent: string
  /** Empty when the trusted proxy sends none. */
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
  /** @returns the session in either state; null without a cookie, or when no session has its token */
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

    /** Begins a session under a new token, and ends the one that the browser had before. */
    begin: async (
      userId: string,
      state: UserSessionState,
      caller: Caller,
      userSessions: Pick<Store['userSessions'], 'create'>,
    ): Promise<BegunSession> => {
      const { text, hash } = newToken()
      const lifeSeconds = state === 'active' ? IDLE_SECONDS : SECOND_FACTOR_SECONDS
      const session = await userSessions.create({
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
     * Stores that the person has just proved who they are, and gives the session another token.
     * @param userSessions the transaction's table; left out: a transaction of its own
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

    /** The person of an active session, with their present roles. */
    personOf: async ({ session, user }: FoundSession): Promise<PersonActor> => {
      await prolong(session)
      return { kind: 'person', user, session, roles: await store.memberships.rolesOf(user.id) }
    },

    /** Whether the person proved who they are within the last five minutes. */
    isConfirmed: ({ confirmedAtSeconds }: UserSession): boolean =>
      clock.unixSeconds() - confirmedAtSeconds <= CONFIRMED_SECONDS,
  }
}

export type Sessions = ReturnType<typeof createSessions>

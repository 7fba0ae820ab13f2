// Sessions of the dashboard: identified by a cookie, and extended by use up to twelve hours.
import { type Clock, secondsSince } from '../../lib/time.ts'
import type { UserSession, UserSessionState } from '../../store/accounts/user-sessions.ts'
import type { User } from '../../store/accounts/users.ts'
import type { Store } from '../../store/store.ts'
import type { PersonActor } from '../actor.ts'
import { SignInRequiredError } from '../errors.ts'
import type { Cookies } from './cookie.ts'
import { hashToken, newToken } from './token.ts'

const IDLE_SECONDS = 7_200
const SESSION_SECONDS = 43_200
const SECOND_FACTOR_SECONDS = 300
/** Minimum interval between updates of the last use. */
const TOUCH_SECONDS = 60
/** Time after a password or passkey check during which no confirmation is required. */
const CONFIRMED_SECONDS = 300
const USER_AGENT_LENGTH_MAX = 200

export interface Caller {
  readonly userAgent: string
  readonly address: string
  readonly sessionToken: string | null
  readonly deviceToken: string | null
}

interface BegunSession {
  readonly session: UserSession
  /** Value of `Set-Cookie`. */
  readonly cookie: string
}

export interface FoundSession {
  readonly session: UserSession
  readonly user: User
}

interface SessionsDependencies {
  readonly store: Pick<Store, 'users' | 'userSessions' | 'memberships'>
  readonly clock: Clock
  readonly cookies: Cookies
}

export const createSessions = ({ store, clock, cookies }: SessionsDependencies) => {
  /** Returns the session in any state; null if there is no valid cookie. */
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

    /** Creates a new token, and ends the browser's previous session. */
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

    /** Returns the value of `Set-Cookie`. @throws SignInRequiredError if the session has ended */
    confirm: async (
      session: UserSession,
      userSessions: Pick<Store['userSessions'], 'confirm'> = store.userSessions,
    ): Promise<string> => {
      const { text, hash } = newToken()
      if (!(await userSessions.confirm(session.id, hash))) throw new SignInRequiredError()
      return cookies.session.set(text, session.createdAtSeconds + SESSION_SECONDS - clock.unixSeconds())
    },

    /** Returns the person of an active session, with current roles. */
    personOf: async ({ session, user }: FoundSession): Promise<PersonActor> => {
      await prolong(session)
      return { kind: 'person', user, session, roles: await store.memberships.rolesOf(user.id) }
    },

    isConfirmed: ({ confirmedAtSeconds }: UserSession): boolean =>
      (secondsSince(confirmedAtSeconds, clock.unixSeconds()) ?? Number.POSITIVE_INFINITY) <= CONFIRMED_SECONDS,
  }
}

export type Sessions = ReturnType<typeof createSessions>

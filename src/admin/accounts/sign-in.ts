// Signs people in with a password and, if required, a second factor. All failures have the same text.
import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import { CountersignError, type ErrorCode } from '../../domain/errors.ts'
import type { Clock } from '../../lib/time.ts'
import type { UserSession } from '../../store/accounts/user-sessions.ts'
import type { User } from '../../store/accounts/users.ts'
import type { Store, Tables } from '../../store/store.ts'
import { CredentialWrongError } from '../errors.ts'
import { DEVICE_SECONDS, type KnownDevices } from './known-device.ts'
import type { Passkeys } from './passkeys.ts'
import type { Passwords } from './password.ts'
import type { SecretBox } from './secret-box.ts'
import type { Caller, FoundSession, Sessions } from './sessions.ts'
import type { Attempt, Throttle } from './throttle.ts'
import { hashToken, isRecoveryCode } from './token.ts'
import { matchTotp } from './totp.ts'

type SecondFactor = 'totp' | 'recovery-code' | 'passkey'

export interface SignedIn {
  readonly session: UserSession
  readonly cookies: readonly string[]
  readonly user: User
  /** Accepted second factors; empty if signed in. */
  readonly owed: readonly SecondFactor[]
}

/** Attempt for the log. Contains no typed values, because people type passwords into wrong fields. */
export interface SignInAttempt {
  readonly how: 'password' | 'code' | 'passkey' | 'link' | 'confirmation'
  /** Null if the account doesn't exist or the attempt was refused before the lookup. */
  readonly account: string | null
  /** Address of the client; empty if the trusted proxy sends none. */
  readonly address: string
  readonly refused: ErrorCode | null
}

interface SignInDependencies {
  readonly store: Store
  readonly clock: Clock
  readonly passwords: Passwords
  readonly passkeys: Passkeys
  readonly sessions: Sessions
  readonly box: SecretBox
  readonly throttle: Throttle
  readonly devices: KnownDevices
  readonly attempted: (attempt: SignInAttempt) => void
}

export const totpContext = (userId: string): string => `totp ${userId}`

export const createSignIn = (dependencies: SignInDependencies) => {
  const { store, clock, passwords, passkeys, sessions, box, throttle, devices, attempted } = dependencies

  const watched = async <Result>(
    how: SignInAttempt['how'],
    { address }: Pick<Caller, 'address'>,
    work: (isAbout: (userId: string) => void) => Promise<Result>,
  ): Promise<Result> => {
    let account: string | null = null
    try {
      const result = await work((userId) => {
        account = userId
      })
      attempted({ how, account, address, refused: null })
      return result
    } catch (error) {
      // Other errors are internal failures, not refused attempts.
      if (error instanceof CountersignError) attempted({ how, account, address, refused: error.code })
      throw error
    }
  }

  /** Lock the account, so that a concurrent change that ends the account's sessions also ends this session. */
  const begin = async (
    { userSessions }: Tables,
    user: User,
    owed: readonly SecondFactor[],
    caller: Caller,
  ): Promise<SignedIn> => {
    const state = owed.length === 0 ? 'active' : 'second-factor'
    const { session, cookie } = await sessions.begin(user.id, state, caller, userSessions)
    if (owed.length > 0) return { session, user, owed, cookies: [cookie] }
    const token = devices.issue(caller.deviceToken, user.email)
    return { session, user, owed, cookies: [cookie, sessions.cookies.device.set(token, DEVICE_SECONDS)] }
  }

  const secondFactorsOf = async ({ users, passkeys }: Tables, user: User): Promise<SecondFactor[]> => {
    const owed: SecondFactor[] = []
    if (user.hasTotp) owed.push('totp')
    if (user.hasTotp && (await users.countRecoveryCodes(user.id)) > 0) owed.push('recovery-code')
    if ((await passkeys.listOf(user.id)).length > 0) owed.push('passkey')
    return owed
  }

  const spendCode = async (userId: string, code: string): Promise<void> => {
    if (isRecoveryCode(code)) {
      if (await store.users.spendRecoveryCode(userId, hashToken(code))) return
      throw new CredentialWrongError('code')
    }
    const credential = await store.users.findCredential({ userId })
    if (credential === null || credential.totpSecret === null || !credential.user.hasTotp) {
      throw new CredentialWrongError('code')
    }
    const secret = box.open(credential.totpSecret, totpContext(userId))
    const step = matchTotp(secret, code, clock.unixSeconds(), credential.totpLastStep)
    // If two requests send the same code, the second finds its time step used.
    if (step === null || !(await store.users.spendTotpStep(userId, step))) throw new CredentialWrongError('code')
  }

  return {
    withPassword: async (email: string, password: string, caller: Caller): Promise<SignedIn> => {
      const { address, deviceToken } = caller
      const device = devices.find(deviceToken, email)
      const attempt: Attempt = { guessed: 'password', account: email.toLowerCase(), address, device }
      const judge = (isAbout: (userId: string) => void) => async () => {
        const credential = await store.users.findCredential({ email })
        if (credential !== null) isAbout(credential.user.id)
        const usable = credential !== null && credential.user.disabledAtSeconds === null
        const lane = device === null ? 'stranger' : 'known'
        const right = await passwords.verify(password, usable ? credential.passwordHash : null, lane)
        if (!right || !usable) throw new CredentialWrongError('password')
        return store.transaction(async (tables) => {
          const user = await tables.users.lock(credential.user.id)
          // The password or the one-time codes may have changed during the check.
          if (user?.version !== credential.user.version) throw new CredentialWrongError('password')
          return begin(tables, user, await secondFactorsOf(tables, user), caller)
        })
      }
      return watched('password', caller, (isAbout) => throttle.attempt(attempt, judge(isAbout)))
    },

    /** Completes a session that awaits its second factor, with a new token. */
    withCode: async ({ user, session }: FoundSession, code: string, caller: Caller): Promise<SignedIn> => {
      const { address, deviceToken } = caller
      const device = devices.find(deviceToken, user.email)
      const attempt: Attempt = { guessed: 'code', account: user.id, address, device }
      return watched('code', caller, (isAbout) => {
        isAbout(user.id)
        return throttle.attempt(attempt, async () => {
          await spendCode(user.id, code)
          return store.transaction(async (tables) => {
            await tables.users.lock(user.id)
            // The pending session may have ended with the account's other sessions.
            if (!(await tables.userSessions.end(user.id, session.id))) throw new CredentialWrongError('code')
            return begin(tables, user, [], caller)
          })
        })
      })
    },

    withPasskey: async (
      origin: string,
      challengeId: string,
      response: AuthenticationResponseJSON,
      caller: Caller,
    ): Promise<SignedIn> =>
      watched('passkey', caller, async (isAbout) => {
        const passkey = await passkeys.checkAssertion(origin, challengeId, response, null)
        isAbout(passkey.userId)
        return store.transaction(async (tables) => {
          const user = await tables.users.lock(passkey.userId)
          const isUsable = user !== null && user.disabledAtSeconds === null
          // The passkey may have been removed during the check.
          if (!isUsable || (await tables.passkeys.find(passkey.id)) === null) throw new CredentialWrongError('passkey')
          return begin(tables, user, [], caller)
        })
      }),

    /** Call in the transaction in which the person sets a password with a single-use link. */
    withLink: async (tables: Tables, user: User, caller: Caller): Promise<SignedIn> =>
      begin(tables, user, await secondFactorsOf(tables, user), caller),

    watched,

    /** Call before sensitive changes. @throws CredentialWrongError */
    confirmPassword: (user: User, password: string, caller: Caller): Promise<void> =>
      watched('confirmation', caller, (isAbout) => {
        isAbout(user.id)
        return throttle.confirmation(user.id, async () => {
          const credential = await store.users.findCredential({ userId: user.id })
          if (!(await passwords.verify(password, credential?.passwordHash ?? null, 'known'))) {
            throw new CredentialWrongError('password')
          }
        })
      }),

    confirmPasskey: (
      user: User,
      origin: string,
      challengeId: string,
      response: AuthenticationResponseJSON,
      caller: Caller,
    ): Promise<void> =>
      watched('confirmation', caller, async (isAbout) => {
        isAbout(user.id)
        await passkeys.checkAssertion(origin, challengeId, response, user.id)
      }),
  }
}

export type SignIn = ReturnType<typeof createSignIn>

// Signing in: a password and then the second factor, if the account has one, or a passkey, which is both. Guessing is
// slowed (throttle.ts); a passkey can't be guessed. Whatever is wrong, the caller reads one and the same text.
import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import type { Clock } from '../../domain/time.ts'
import type { Store } from '../../store/store.ts'
import type { UserSession } from '../../store/user-sessions.ts'
import type { User } from '../../store/users.ts'
import { CredentialWrongError } from '../errors.ts'
import { DEVICE_SECONDS, type KnownDevices } from './known-device.ts'
import type { Passkeys } from './passkeys.ts'
import type { Passwords } from './password.ts'
import type { SecretBox } from './secret-box.ts'
import type { Caller, FoundSession, Sessions } from './sessions.ts'
import type { Attempt, Throttle } from './throttle.ts'
import { hashToken, isRecoveryCode } from './token.ts'
import { matchTotp } from './totp.ts'

export type SecondFactor = 'totp' | 'recovery-code' | 'passkey'

export interface SignedIn {
  readonly session: UserSession
  /** Values of `Set-Cookie`. */
  readonly cookies: readonly string[]
  readonly user: User
  /** Empty: signed in. Else what may complete it. */
  readonly owed: readonly SecondFactor[]
}

export interface SignInDependencies {
  readonly store: Store
  readonly clock: Clock
  readonly passwords: Passwords
  readonly passkeys: Passkeys
  readonly sessions: Sessions
  readonly box: SecretBox
  readonly throttle: Throttle
  readonly devices: KnownDevices
}

/** For whom a time code's secret is sealed. */
export const totpContext = (userId: string): string => `totp ${userId}`

export const createSignIn = (dependencies: SignInDependencies) => {
  const { store, clock, passwords, passkeys, sessions, box, throttle, devices } = dependencies

  const begin = async (user: User, owed: readonly SecondFactor[], caller: Caller): Promise<SignedIn> => {
    const { session, cookie } = await sessions.begin(user.id, owed.length === 0 ? 'active' : 'second-factor', caller)
    if (owed.length > 0) return { session, user, owed, cookies: [cookie] }
    const token = devices.issue(caller.deviceToken, user.email)
    return { session, user, owed, cookies: [cookie, sessions.cookies.device.set(token, DEVICE_SECONDS)] }
  }

  const secondFactorsOf = async (user: User): Promise<SecondFactor[]> => {
    const owed: SecondFactor[] = []
    if (user.hasTotp) owed.push('totp')
    if (user.hasTotp && (await store.users.countRecoveryCodes(user.id)) > 0) owed.push('recovery-code')
    if ((await store.passkeys.listOf(user.id)).length > 0) owed.push('passkey')
    return owed
  }

  /** @throws CredentialWrongError */
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
    // Two that send the same code at once: the second finds the step spent.
    if (step === null || !(await store.users.spendTotpStep(userId, step))) throw new CredentialWrongError('code')
  }

  return {
    withPassword: async (email: string, password: string, caller: Caller): Promise<SignedIn> => {
      const { address, deviceToken } = caller
      const device = devices.find(deviceToken, email)
      const attempt: Attempt = { guessed: 'password', account: email.toLowerCase(), address, device }
      const user = await throttle.attempt(attempt, async () => {
        const credential = await store.users.findCredential({ email })
        const usable = credential !== null && credential.user.disabledAtSeconds === null
        const lane = device === null ? 'stranger' : 'known'
        const right = await passwords.verify(password, usable ? credential.passwordHash : null, lane)
        if (!right || !usable) throw new CredentialWrongError('password')
        return credential.user
      })
      return begin(user, await secondFactorsOf(user), caller)
    },

    /** Completes a session whose second factor is owed, under a new token. */
    withCode: async ({ user }: FoundSession, code: string, caller: Caller): Promise<SignedIn> => {
      const { address, deviceToken } = caller
      const device = devices.find(deviceToken, user.email)
      await throttle.attempt({ guessed: 'code', account: user.id, address, device }, () => spendCode(user.id, code))
      return begin(user, [], caller)
    },

    withPasskey: async (
      origin: string,
      challengeId: string,
      response: AuthenticationResponseJSON,
      caller: Caller,
    ): Promise<SignedIn> => {
      const passkey = await passkeys.checkAssertion(origin, challengeId, response, null)
      const user = await store.users.find(passkey.userId)
      if (user === null || user.disabledAtSeconds !== null) throw new CredentialWrongError('passkey')
      return begin(user, [], caller)
    },

    /** For who has just set the account's password by a one-time link. */
    withLink: async (user: User, caller: Caller): Promise<SignedIn> => begin(user, await secondFactorsOf(user), caller),

    /** For changes that a session left open at a desk must not make. @throws CredentialWrongError */
    confirmPassword: (user: User, password: string): Promise<void> =>
      throttle.confirmation(user.id, async () => {
        const credential = await store.users.findCredential({ userId: user.id })
        if (!(await passwords.verify(password, credential?.passwordHash ?? null, 'known'))) {
          throw new CredentialWrongError('password')
        }
      }),
  }
}

export type SignIn = ReturnType<typeof createSignIn>

// Signing in: a password and then the second factor, if the account has one, or a passkey, which is both. Guessing is
// slowed by account, by address, and by both together. Whatever is wrong, the caller reads one and the same text.
import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import type { Clock } from '../../domain/time.ts'
import type { Store } from '../../store/store.ts'
import type { User } from '../../store/users.ts'
import { CredentialWrongError } from '../errors.ts'
import type { Passkeys } from './passkeys.ts'
import type { Passwords } from './password.ts'
import type { SecretBox } from './secret-box.ts'
import type { BegunSession, Caller, FoundSession, Sessions } from './sessions.ts'
import { createThrottle } from './throttle.ts'
import { hashToken, isRecoveryCode } from './token.ts'
import { matchTotp } from './totp.ts'

export type SecondFactor = 'totp' | 'recovery-code' | 'passkey'

export interface SignedIn extends BegunSession {
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
}

/** Of one's own mistakes from one place; of an account from anywhere; from one place at any account. */
const FREE_FAILURES = { pair: 5, account: 50, address: 100 } as const

/** For whom a time code's secret is sealed. */
export const totpContext = (userId: string): string => `totp ${userId}`

export const createSignIn = (dependencies: SignInDependencies) => {
  const { store, clock, passwords, passkeys, sessions, box } = dependencies
  const throttles = {
    pair: createThrottle({ clock, free: FREE_FAILURES.pair }),
    account: createThrottle({ clock, free: FREE_FAILURES.account }),
    address: createThrottle({ clock, free: FREE_FAILURES.address }),
  }

  /** Runs `attempt` unless too many failed before it. @throws TooManyAttemptsError, CredentialWrongError */
  const slowed = async <Result>(account: string, caller: Caller, attempt: () => Promise<Result>): Promise<Result> => {
    const keys = { pair: `${account} ${caller.address}`, account, address: caller.address }
    for (const name of ['pair', 'account', 'address'] as const) throttles[name].check(keys[name])
    try {
      const result = await attempt()
      throttles.pair.succeed(keys.pair)
      return result
    } catch (error) {
      if (error instanceof CredentialWrongError) {
        for (const name of ['pair', 'account', 'address'] as const) throttles[name].fail(keys[name])
      }
      throw error
    }
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
    withPassword: (email: string, password: string, caller: Caller): Promise<SignedIn> =>
      slowed(`password ${email.toLowerCase()}`, caller, async () => {
        const credential = await store.users.findCredential({ email })
        const usable = credential !== null && credential.user.disabledAtSeconds === null
        const right = await passwords.verify(password, usable ? credential.passwordHash : null)
        if (!right || !usable) throw new CredentialWrongError('password')
        const owed = await secondFactorsOf(credential.user)
        const state = owed.length === 0 ? 'active' : 'second-factor'
        return { ...(await sessions.begin(credential.user.id, state, caller)), user: credential.user, owed }
      }),

    /** Completes a session whose second factor is owed, under a new token. */
    withCode: ({ session, user }: FoundSession, code: string, caller: Caller): Promise<SignedIn> =>
      slowed(`code ${user.id}`, caller, async () => {
        await spendCode(user.id, code)
        await sessions.end(session)
        return { ...(await sessions.begin(user.id, 'active', caller)), user, owed: [] }
      }),

    withPasskey: (
      origin: string,
      challengeId: string,
      response: AuthenticationResponseJSON,
      caller: Caller,
    ): Promise<SignedIn> =>
      slowed(`passkey ${caller.address}`, caller, async () => {
        const passkey = await passkeys.checkSignIn(origin, challengeId, response)
        const user = await store.users.find(passkey.userId)
        if (user === null || user.disabledAtSeconds !== null) throw new CredentialWrongError('passkey')
        return { ...(await sessions.begin(user.id, 'active', caller)), user, owed: [] }
      }),

    /** For changes that a session left open at a desk must not make. @throws CredentialWrongError */
    confirmPassword: (user: User, password: string, caller: Caller): Promise<void> =>
      slowed(`password ${user.email}`, caller, async () => {
        const credential = await store.users.findCredential({ userId: user.id })
        if (!(await passwords.verify(password, credential?.passwordHash ?? null))) {
          throw new CredentialWrongError('password')
        }
      }),
  }
}

export type SignIn = ReturnType<typeof createSignIn>

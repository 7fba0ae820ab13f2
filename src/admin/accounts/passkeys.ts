// Passkeys: making one and signing in with one, on top of @simplewebauthn/server. A passkey that checked its owner (by
// fingerprint, face or PIN) is both factors at once. Source: W3C Web Authentication, level 3, sections 7.1 and 7.2.
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server'
import { FieldInvalidError } from '../../domain/errors.ts'
import type { Passkey, PasskeyTable } from '../../store/passkeys.ts'
import type { User } from '../../store/users.ts'
import { CredentialWrongError } from '../errors.ts'
import type { Challenges, ChallengeUse } from './challenges.ts'

/** Loaded when somebody uses a passkey: it would be a good part of every start. */
const library = () => import('@simplewebauthn/server')

/** EdDSA, ES256, RS256 (COSE): what authenticators have. */
const ALGORITHMS = [-8, -7, -257]

export interface Challenge<Options> {
  /** To be sent back with the answer. */
  readonly challengeId: string
  readonly options: Options
}

/** The site a passkey is bound to. Null where it can't be: an address of numbers is no domain. */
export const relyingPartyOf = (origin: string): string | null => {
  const { hostname } = new URL(origin)
  return hostname.startsWith('[') || /^[0-9.]+$/.test(hostname) ? null : hostname
}

const requireRelyingParty = (origin: string): string => {
  const found = relyingPartyOf(origin)
  if (found === null) {
    throw new FieldInvalidError(
      'origin',
      'must be a name for passkeys: open the dashboard as localhost or by its domain',
    )
  }
  return found
}

const registrationOf = (userId: string): ChallengeUse => ({ purpose: 'registration', userId })
const assertionOf = (userId: string | null): ChallengeUse => ({
  purpose: userId === null ? 'sign-in' : 'confirmation',
  userId,
})

const describeCredential = ({ id, transports }: Passkey) => ({ id, transports: [...transports] })

/** Whatever the library throws about an answer means that it is not accepted; the reason is nobody's business. */
const verified = async <Result>(verify: () => Promise<Result>): Promise<Result> => {
  try {
    return await verify()
  } catch {
    throw new CredentialWrongError('passkey')
  }
}

export const createPasskeys = (table: PasskeyTable, challenges: Challenges) => ({
  /** The options with which the browser makes a passkey. @throws FieldInvalidError where passkeys can't work */
  proposeRegistration: async (
    user: User,
    origin: string,
  ): Promise<Challenge<PublicKeyCredentialCreationOptionsJSON>> => {
    const known = await table.listOf(user.id)
    const { generateRegistrationOptions } = await library()
    const options = await generateRegistrationOptions({
      rpName: 'Countersign',
      rpID: requireRelyingParty(origin),
      userName: user.email,
      userDisplayName: user.name,
      userID: new TextEncoder().encode(user.id),
      attestationType: 'none',
      excludeCredentials: known.map(describeCredential),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      supportedAlgorithmIDs: ALGORITHMS,
      challenge: challenges.issue(registrationOf(user.id)),
    })
    return { challengeId: options.challenge, options }
  },

  /** The passkey that the browser made, not yet stored. @throws CredentialWrongError */
  checkRegistration: async (
    user: User,
    origin: string,
    challengeId: string,
    response: RegistrationResponseJSON,
  ): Promise<Omit<Passkey, 'name' | 'createdAtSeconds' | 'lastUsedAtSeconds'>> => {
    const asked = challenges.check(challengeId, registrationOf(user.id))
    if (asked === null) throw new CredentialWrongError('passkey')
    const { verifyRegistrationResponse } = await library()
    const result = await verified(() =>
      verifyRegistrationResponse({
        response,
        expectedChallenge: challengeId,
        expectedOrigin: origin,
        expectedRPID: requireRelyingParty(origin),
        requireUserVerification: true,
        supportedAlgorithmIDs: ALGORITHMS,
      }),
    )
    if (!result.verified || !(await table.spendChallenge(challengeId, asked.rememberUntilSeconds))) {
      throw new CredentialWrongError('passkey')
    }
    const { id, publicKey, counter, transports = [] } = result.registrationInfo.credential
    return { id, userId: user.id, publicKey, signatureCount: counter, transports }
  },

  /** The options with which the browser signs in by any passkey of this site, or confirms an account by one of its own. */
  proposeAssertion: async (
    origin: string,
    userId: string | null,
  ): Promise<Challenge<PublicKeyCredentialRequestOptionsJSON>> => {
    const { generateAuthenticationOptions } = await library()
    const options = await generateAuthenticationOptions({
      rpID: requireRelyingParty(origin),
      userVerification: 'required',
      allowCredentials: userId === null ? [] : (await table.listOf(userId)).map(describeCredential),
      challenge: challenges.issue(assertionOf(userId)),
    })
    return { challengeId: options.challenge, options }
  },

  /** The passkey that signed; of `userId`, unless that is null. @throws CredentialWrongError */
  checkAssertion: async (
    origin: string,
    challengeId: string,
    response: AuthenticationResponseJSON,
    userId: string | null,
  ): Promise<Passkey> => {
    const asked = challenges.check(challengeId, assertionOf(userId))
    if (asked === null) throw new CredentialWrongError('passkey')
    const passkey = await table.find(response.id)
    if (passkey === null || (userId !== null && passkey.userId !== userId)) throw new CredentialWrongError('passkey')
    const { verifyAuthenticationResponse } = await library()
    const result = await verified(() =>
      verifyAuthenticationResponse({
        response,
        expectedChallenge: challengeId,
        expectedOrigin: origin,
        expectedRPID: requireRelyingParty(origin),
        requireUserVerification: true,
        credential: {
          id: passkey.id,
          publicKey: new Uint8Array(passkey.publicKey),
          counter: passkey.signatureCount,
          transports: [...passkey.transports],
        },
      }),
    )
    if (!result.verified || !(await table.spendChallenge(challengeId, asked.rememberUntilSeconds))) {
      throw new CredentialWrongError('passkey')
    }
    await table.noteUse(passkey.id, result.authenticationInfo.newCounter)
    return passkey
  },
})

export type Passkeys = ReturnType<typeof createPasskeys>

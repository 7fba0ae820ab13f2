// Registers passkeys and signs in with them. The authenticator must verify its owner, so a passkey counts as both
// factors. Source: W3C Web Authentication, level 3, sections 7.1 and 7.2.
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server'
import { FieldInvalidError } from '../../domain/errors.ts'
import type { Passkey, PasskeyTable } from '../../store/accounts/passkeys.ts'
import type { User } from '../../store/accounts/users.ts'
import { CredentialWrongError } from '../errors.ts'
import type { Challenges, ChallengeUse } from './challenges.ts'

const library = () => import('@simplewebauthn/server')

/** COSE identifiers of EdDSA, ES256 and RS256. */
const ALGORITHMS = [-8, -7, -257]

export interface Challenge<Options> {
  readonly challengeId: string
  readonly options: Options
}

/** Returns the domain to which a passkey is bound; null for an IP address, which WebAuthn doesn't permit. */
export const relyingPartyOf = (origin: string): string | null => {
  const { hostname } = new URL(origin)
  return hostname.startsWith('[') || /^[0-9.]+$/.test(hostname) ? null : hostname
}

const requireRelyingParty = (origin: string): string => {
  const found = relyingPartyOf(origin)
  if (found === null) {
    throw new FieldInvalidError(
      'origin',
      'must be a hostname to use passkeys: open the dashboard at localhost or its domain',
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

/** Maximum length: enough for the longest credential id and an RSA key. */
const ANSWER_PART_MAX = 2_048

/**
 * Limits the parts, because the library takes microseconds per byte to parse CBOR before it checks a signature. @throws
 * RangeError
 */
export const requireShortParts = ({ response }: { readonly response: object }): void => {
  for (const part of Object.values(response)) {
    if (typeof part === 'string' && part.length > ANSWER_PART_MAX) throw new RangeError('too long')
  }
}

const verified = async <Result>(
  answer: RegistrationResponseJSON | AuthenticationResponseJSON,
  verify: () => Promise<Result>,
): Promise<Result> => {
  try {
    requireShortParts(answer)
    return await verify()
  } catch {
    throw new CredentialWrongError('passkey')
  }
}

export const createPasskeys = (table: PasskeyTable, challenges: Challenges) => ({
  /** @throws FieldInvalidError for an origin without a domain */
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

  /** Doesn't store the passkey. @throws CredentialWrongError */
  checkRegistration: async (
    user: User,
    origin: string,
    challengeId: string,
    response: RegistrationResponseJSON,
  ): Promise<Omit<Passkey, 'name' | 'createdAtSeconds' | 'lastUsedAtSeconds'>> => {
    const asked = challenges.check(challengeId, registrationOf(user.id))
    if (asked === null) throw new CredentialWrongError('passkey')
    const { verifyRegistrationResponse } = await library()
    const result = await verified(response, () =>
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

  /** @param userId required owner of the passkey; null for any @throws CredentialWrongError */
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
    const result = await verified(response, () =>
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

import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import type { User } from '../../store/accounts/users.ts'
import { CredentialWrongError, OriginRefusedError, requireFound } from '../errors.ts'
import { Type } from '../schema.ts'
import type { Services } from '../services.ts'

export const PASSWORD = Type.String({ description: '12 to 256 characters', minLength: 1, maxLength: 256 })
export const CODE = Type.String({ description: 'Six digits, or a recovery code', minLength: 6, maxLength: 23 })
export const CHALLENGE_ID = Type.String({ minLength: 1, maxLength: 64 })
export const CREDENTIAL = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Result of navigator.credentials as JSON (Web Authentication Level 3, PublicKeyCredential.toJSON)',
})
export const OPTIONS = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Options for navigator.credentials, as JSON',
})

/** Checks only the id; the library checks the rest. @throws CredentialWrongError */
export const requireAssertion = (credential: Readonly<Record<string, unknown>>): AuthenticationResponseJSON => {
  if (typeof credential['id'] !== 'string') throw new CredentialWrongError('passkey')
  return credential as unknown as AuthenticationResponseJSON
}

export const requireOrigin = (origin: string | null): string => {
  if (origin === null) throw new OriginRefusedError()
  return origin
}

export const wordsAbout = async ({ store }: Services, user: User): Promise<string[]> => {
  const ids = [...(await store.memberships.rolesOf(user.id)).keys()]
  const organizations = await Promise.all(ids.map((id) => store.organizations.find(id)))
  return [user.email, user.name, ...organizations.flatMap((found) => (found === null ? [] : [found.slug, found.name]))]
}

export const requireUser = async (services: Services, userId: string): Promise<User> =>
  requireFound(await services.store.users.find(userId), 'account')

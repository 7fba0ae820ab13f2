// Authenticates a request and checks access by headers and path alone, before reading the query or the body.

import type { ApiKeyRateLimit } from '../domain/api-key.ts'
import { currentCaller } from '../lib/caller.ts'
import type { Clock } from '../lib/time.ts'
import { type Authenticator, KeyScopeError, type LookupOwner } from '../server/authenticate.ts'
import { parseBearer } from '../server/bearer.ts'
import type { RateLimiter, RateLimitState } from '../server/rate-limit.ts'
import type { Organization } from '../store/organizations/organizations.ts'
import type { Store, Tables } from '../store/store.ts'
import type { DashboardOrigins } from './accounts/origin.ts'
import { requireFactorFor } from './accounts/required-factor.ts'
import type { FoundSession, Sessions } from './accounts/sessions.ts'
import { type Actor, actorId, mayDeployment, mayIn, roleIn } from './actor.ts'
import { RoleInsufficientError, SecondFactorRequiredError, SignInRequiredError, SubjectUnknownError } from './errors.ts'
import { asOfNow } from './rights.ts'
import { type Access, isUnsafe, type Route } from './route.ts'

export interface GateDependencies {
  readonly store: Pick<Store, 'organizations' | 'passkeys' | 'organizationSettings'>
  readonly authenticator: Authenticator
  readonly limiter: RateLimiter
  readonly sessions: Sessions
  readonly origins: DashboardOrigins
}

export interface Admission {
  readonly actor: Actor | null
  readonly pending: FoundSession | null
  readonly organization: Organization | null
  readonly rateLimit: RateLimitState | null
}

/** Shared by all of a person's sessions. */
export const PERSON_RATE_LIMIT: ApiKeyRateLimit = { requestsPerSecond: 50, burst: 500 }

const limitedAs = (actor: Actor) =>
  actor.kind === 'key' ? actor.principal : { keyId: actorId(actor), rateLimit: PERSON_RATE_LIMIT }

/** @throws SubjectUnknownError 404; RoleInsufficientError, SecondFactorMissingError 403 */
export const authorize = async (
  tables: Pick<Tables, 'organizations' | 'passkeys' | 'organizationSettings'>,
  access: Access,
  actor: Actor,
  organizationName: string | undefined,
): Promise<Organization | null> => {
  if (access.kind === 'organization') {
    const organization = organizationName === undefined ? null : await tables.organizations.find(organizationName)
    if (organization === null || roleIn(actor, organization.id) === null) throw new SubjectUnknownError('organization')
    if (!mayIn(actor, organization.id, access.role)) throw new RoleInsufficientError(access.role)
    if (access.person && actor.kind !== 'person') throw new RoleInsufficientError('person')
    if (actor.kind === 'person') await requireFactorFor(tables, actor, organization.id)
    return organization
  }
  if (access.kind === 'deployment') {
    if (!mayDeployment(actor)) throw new RoleInsufficientError('deployment-admin')
    const isCommandAllowed = access.person === 'or-command' && actor.kind === 'command-line'
    if (access.person && actor.kind !== 'person' && !isCommandAllowed) throw new RoleInsufficientError('person')
    if (actor.kind === 'person') await requireFactorFor(tables, actor, null)
  }
  if (access.kind === 'person' && actor.kind !== 'person') throw new RoleInsufficientError('person')
  return null
}

/** Admits a request again in the transaction of its change, after locking the organization, account and key. */
export const readmit = async (
  tables: Tables,
  clock: Clock,
  access: Access,
  { actor, organization }: Pick<Admission, 'actor' | 'organization'>,
): Promise<void> => {
  if (organization !== null) await tables.organizations.lock(organization.id)
  if (access.kind === 'deployment') await tables.deployment.lock()
  if (actor === null) return
  if (actor.kind === 'key') await tables.apiKeys.lock(actor.principal.organizationId, actor.principal.keyId)
  if (actor.kind === 'person') {
    await tables.users.lock(actor.user.id)
    const sessions = await tables.userSessions.listOf(actor.user.id)
    if (!sessions.some(({ id }) => id === actor.session.id)) throw new SignInRequiredError()
  }
  await authorize(tables, access, await asOfNow(tables, actor, clock), organization?.id)
}

const LOOKUP_OWNER: LookupOwner = { lookupOwner: () => currentCaller().network ?? '' }

export const createAdminGate = ({ store, authenticator, limiter, sessions, origins }: GateDependencies) => {
  const authenticateKey = async (header: string): Promise<Actor> => {
    const text = parseBearer(header)
    const principal = await authenticator.authenticate(text, 'admin', LOOKUP_OWNER)
    try {
      await authenticator.authenticate(text, 'deployment', LOOKUP_OWNER)
      return { kind: 'key', principal, deployment: true }
    } catch (error) {
      if (error instanceof KeyScopeError) return { kind: 'key', principal, deployment: false }
      throw error
    }
  }

  const take = async (actor: Actor): Promise<RateLimitState | null> => {
    const limited = limitedAs(actor)
    await limiter.ready(limited)
    return limiter.take(limited)
  }

  /**
   * @param options `counted` false: the request has already taken its token
   * @throws KeyUnusableError, SignInRequiredError, SecondFactorRequiredError 401; KeyScopeError, RoleInsufficientError,
   * SecondFactorMissingError, OriginRefusedError 403; SubjectUnknownError 404; RateExceededError 429
   */
  return async (
    route: Pick<Route, 'access' | 'method'>,
    params: Readonly<Record<string, string>>,
    headers: Headers,
    { counted = true }: { readonly counted?: boolean } = {},
  ): Promise<Admission> => {
    const { access } = route
    const authorization = headers.get('authorization')
    if (access.kind === 'public' || access.kind === 'second-factor') {
      // Prevents another site from signing a person in to a different account.
      if (isUnsafe(route.method)) origins.requireOwn(headers)
      const found = access.kind === 'second-factor' ? await sessions.find(headers) : null
      if (access.kind === 'second-factor' && found?.session.state !== 'second-factor') throw new SignInRequiredError()
      return { actor: null, pending: found, organization: null, rateLimit: null }
    }
    if (authorization !== null) {
      const actor = await authenticateKey(authorization)
      const rateLimit = counted ? await take(actor) : null
      const organization = await authorize(store, access, actor, params['organization'])
      return { actor, pending: null, organization, rateLimit }
    }
    const found = await sessions.find(headers)
    if (found === null) throw new SignInRequiredError()
    // Checked only for cookies, because another site can make a browser send a cookie, but not an Authorization header.
    if (isUnsafe(route.method)) origins.requireOwn(headers)
    if (found.session.state === 'second-factor') throw new SecondFactorRequiredError()
    const actor = await sessions.personOf(found)
    const rateLimit = counted ? await take(actor) : null
    const organization = await authorize(store, access, actor, params['organization'])
    return { actor, pending: null, organization, rateLimit }
  }
}

export type AdminGate = ReturnType<typeof createAdminGate>

// Changing an object requires at least the rights that the object grants (invariant 10). Otherwise, an actor could gain
// the rights of a stronger key by renewing it.
import { type ApiKeyScope, apiKeyStatus } from '../domain/api-key.ts'
import type { Clock } from '../lib/time.ts'
import { requireActiveKey } from '../server/authenticate.ts'
import { ORGANIZATION_ROLES, type OrganizationRole, roleIncludes } from '../store/accounts/role.ts'
import type { User } from '../store/accounts/users.ts'
import type { Tables } from '../store/store.ts'
import { type Actor, accountOf, keyIdOf, mayDeployment, mayIn, roleIn } from './actor.ts'
import { RoleInsufficientError, SignInRequiredError } from './errors.ts'
import type { Route } from './route.ts'

interface Rights {
  readonly deployment: boolean
  readonly roles: ReadonlyMap<string, OrganizationRole>
}

const DEPLOYMENT_RIGHTS: Rights = { deployment: true, roles: new Map() }
const NO_RIGHTS: Rights = { deployment: false, roles: new Map() }

export const rightsOfKey = (organizationId: string, scopes: readonly ApiKeyScope[]): Rights => ({
  deployment: scopes.includes('deployment'),
  roles: scopes.includes('admin') ? new Map([[organizationId, ORGANIZATION_ROLES[0]]]) : new Map(),
})

export const rightsOfMembership = (organizationId: string, role: OrganizationRole): Rights => ({
  deployment: false,
  roles: new Map([[organizationId, role]]),
})

const rightsOfAccount = async (tables: Tables, user: User): Promise<Rights> => ({
  deployment: user.deploymentAdmin,
  roles: await tables.memberships.rolesOf(user.id),
})

/**
 * Returns the scope whose keys the actor may not see, if any. A key with the scope `deployment` also has the scope
 * `admin`.
 */
export const scopeBeyond = (actor: Actor, organizationId: string): 'admin' | 'deployment' | undefined => {
  if (mayDeployment(actor)) return undefined
  return roleIn(actor, organizationId) === ORGANIZATION_ROLES[0] ? 'deployment' : 'admin'
}

/** Null if the object doesn't exist, which the route's handler reports. */
type Find = (tables: Tables, organizationId: string, id: string) => Promise<Rights | null>

/** Keyed by the part of a path that identifies the object. */
const HOLDERS: Readonly<Record<string, Find>> = {
  'keys/{key}': async (tables, organizationId, id) => {
    const key = await tables.apiKeys.find(organizationId, id)
    return key === null ? null : rightsOfKey(organizationId, key.scopes)
  },
  'members/{user}': async (tables, organizationId, id) => {
    // Locks the account, so that it can't become a deployment admin before this transaction ends.
    const user = await tables.users.lock(id)
    const member = await tables.memberships.find(organizationId, id)
    if (user === null || member === null) return null
    return { ...rightsOfMembership(organizationId, member.role), deployment: user.deploymentAdmin }
  },
  'member-offers/{offer}': async (tables, organizationId, id) => {
    const offer = await tables.membershipOffers.find(organizationId, id)
    return offer === null ? null : rightsOfMembership(organizationId, offer.role)
  },
  'users/{user}': async (tables, _organizationId, id) => {
    const user = await tables.users.lock(id)
    return user === null ? null : rightsOfAccount(tables, user)
  },
  'attesters/{attester}': async (tables, _organizationId, id) =>
    (await tables.attesters.find(id)) === null ? null : DEPLOYMENT_RIGHTS,
}

export const namedThings = (path: string): readonly string[] => path.match(/[a-z-]+\/\{[a-z]+\}/g) ?? []

export const namedHolders = (path: string): readonly string[] =>
  namedThings(path).filter((part) => Object.hasOwn(HOLDERS, part))

/**
 * Returns the actor with current rights. @throws KeyUnusableError, SignInRequiredError 401 if the actor has no rights
 * left
 */
export const asOfNow = async (tables: Tables, actor: Actor, clock: Clock): Promise<Actor> => {
  if (actor.kind === 'command-line') return actor
  if (actor.kind === 'key') {
    const { scopes } = await requireActiveKey(tables.apiKeys, clock, actor.principal)
    return { ...actor, deployment: scopes.includes('deployment') }
  }
  const user = await tables.users.find(actor.user.id)
  if (user === null || user.disabledAtSeconds !== null) throw new SignInRequiredError()
  return { ...actor, user, roles: await tables.memberships.rolesOf(user.id) }
}

const rightsOfActor = async (tables: Tables, clock: Clock, actor: string): Promise<Rights> => {
  const keyId = keyIdOf(actor)
  const userId = accountOf(actor)
  if (keyId !== null) {
    const key = await tables.apiKeys.findForAuthentication(keyId)
    const isActive = key !== null && apiKeyStatus(key, clock.unixSeconds()) === 'active'
    return isActive ? rightsOfKey(key.organizationId, key.scopes) : NO_RIGHTS
  }
  if (userId === null) return DEPLOYMENT_RIGHTS
  const user = await tables.users.find(userId)
  return user === null || user.disabledAtSeconds !== null ? NO_RIGHTS : rightsOfAccount(tables, user)
}

/** Returns true if an actor of an earlier change still has an object's rights. @param actor id from `actorId` */
export const hasRightsNow = async (
  tables: Tables,
  clock: Clock,
  actor: string,
  { deployment, roles }: Rights,
): Promise<boolean> => {
  const has = await rightsOfActor(tables, clock, actor)
  if (has.deployment) return true
  return (
    !deployment &&
    [...roles].every(([organizationId, role]) => {
      const held = has.roles.get(organizationId)
      return held !== undefined && roleIncludes(held, role)
    })
  )
}

/** Call for changes that give rights to an object, or that change an object that isn't in the path. */
export const requireRights = async (tables: Tables, actor: Actor, clock: Clock, rights: Rights): Promise<void> => {
  const now = await asOfNow(tables, actor, clock)
  if (rights.deployment && !mayDeployment(now)) throw new RoleInsufficientError('deployment-admin')
  for (const [organizationId, role] of rights.roles) {
    if (!mayIn(now, organizationId, role)) throw new RoleInsufficientError(role)
  }
}

/** Called for every admin request; for changes, inside their transaction. */
export const requireRightsOverPath = async (
  tables: Tables,
  clock: Clock,
  {
    route,
    params,
    actor,
    organizationId,
  }: {
    readonly route: Route
    readonly params: Readonly<Record<string, string>>
    readonly actor: Actor | null
    readonly organizationId: string
  },
): Promise<void> => {
  for (const part of namedHolders(route.path)) {
    if (actor === null) throw new SignInRequiredError()
    const id = params[part.slice(part.indexOf('{') + 1, -1)] ?? ''
    const rights = await HOLDERS[part]?.(tables, organizationId, id)
    if (rights !== null && rights !== undefined) await requireRights(tables, actor, clock, rights)
  }
}

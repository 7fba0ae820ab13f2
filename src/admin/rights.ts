// To change a thing, an actor needs at least the rights that the thing has (invariant 10). Keys, accounts, memberships and
// attesters have rights: an actor who could renew a stronger key, or make a link to a stronger account, would gain them. The
// path names the thing, so the rule covers every declared route.
import type { ApiKeyScope } from '../domain/api-key.ts'
import type { Clock } from '../lib/time.ts'
import { requireActiveKey } from '../server/authenticate.ts'
import { ORGANIZATION_ROLES, type OrganizationRole } from '../store/accounts/role.ts'
import type { User } from '../store/accounts/users.ts'
import type { Tables } from '../store/store.ts'
import { type Actor, mayDeployment, mayIn, roleIn } from './actor.ts'
import { RoleInsufficientError, SignInRequiredError } from './errors.ts'
import type { Route } from './route.ts'

export interface Rights {
  /** The actor may change what belongs to the deployment. */
  readonly deployment: boolean
  /** Organization → role. */
  readonly roles: ReadonlyMap<string, OrganizationRole>
}

const DEPLOYMENT_RIGHTS: Rights = { deployment: true, roles: new Map() }

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
 * The scope whose keys an actor may not see, so that lists leave them out; undefined: the actor may see all.
 * A key with the scope `deployment` has the scope `admin` as well.
 */
export const scopeBeyond = (actor: Actor, organizationId: string): 'admin' | 'deployment' | undefined => {
  if (mayDeployment(actor)) return undefined
  return roleIn(actor, organizationId) === ORGANIZATION_ROLES[0] ? 'deployment' : 'admin'
}

/** Finds a thing's rights; null when there is no such thing, which the route's handler then reports. */
type Find = (tables: Tables, organizationId: string, id: string) => Promise<Rights | null>

/** By the part of a path that names the thing. */
const HOLDERS: Readonly<Record<string, Find>> = {
  'keys/{key}': async (tables, organizationId, id) => {
    const key = await tables.apiKeys.find(organizationId, id)
    return key === null ? null : rightsOfKey(organizationId, key.scopes)
  },
  'members/{user}': async (tables, organizationId, id) => {
    // Lock the account, so that it does not become a deployment admin before this transaction ends.
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

/** The parts of a path that name a thing, such as `keys/{key}`. */
export const namedThings = (path: string): readonly string[] => path.match(/[a-z-]+\/\{[a-z]+\}/g) ?? []

/** The names in a path whose things have rights of their own. */
export const namedHolders = (path: string): readonly string[] =>
  namedThings(path).filter((part) => Object.hasOwn(HOLDERS, part))

/**
 * Reads the actor's rights again in this transaction: a role or a key may have been removed since the request was admitted.
 * @throws KeyUnusableError, SignInRequiredError 401 when the actor has none left
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

/**
 * Call it where a change gives rights to a thing, or changes a thing that the path does not name.
 * @param tables the change's transaction
 * @throws RoleInsufficientError 403 when the thing's rights go beyond the actor's
 * @throws KeyUnusableError, SignInRequiredError 401 when the actor has none left
 */
export const requireRights = async (tables: Tables, actor: Actor, clock: Clock, rights: Rights): Promise<void> => {
  const now = await asOfNow(tables, actor, clock)
  if (rights.deployment && !mayDeployment(now)) throw new RoleInsufficientError('deployment-admin')
  for (const [organizationId, role] of rights.roles) {
    if (!mayIn(now, organizationId, role)) throw new RoleInsufficientError(role)
  }
}

/** Requires the rights of the things in the path. Called for every admin request, for changes inside their transaction. */
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

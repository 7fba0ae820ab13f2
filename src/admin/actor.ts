// Who calls the admin API: an organization's admin key, or a person with a session of the dashboard.
import { type OrganizationRole, roleIncludes } from '../domain/role.ts'
import type { Principal } from '../http/authenticate.ts'
import type { UserSession } from '../store/user-sessions.ts'
import type { User } from '../store/users.ts'

export interface KeyActor {
  readonly kind: 'key'
  readonly principal: Principal
  /** It has the scope `deployment` as well. */
  readonly deployment: boolean
}

export interface PersonActor {
  readonly kind: 'person'
  readonly user: User
  readonly session: UserSession
  /** Organization → role. A deployment admin needs none. */
  readonly roles: ReadonlyMap<string, OrganizationRole>
}

export type Actor = KeyActor | PersonActor

/** As the audit log and sessions name them. */
export const actorId = (actor: Actor): string =>
  actor.kind === 'key' ? `key:${actor.principal.keyId}` : `user:${actor.user.id}`

/** As people know them. */
export const actorName = (actor: Actor): string => (actor.kind === 'key' ? 'API key' : actor.user.email)

/** Null: the organization is none of theirs, so for them there is none. */
export const roleIn = (actor: Actor, organizationId: string): OrganizationRole | null => {
  if (actor.kind === 'key') return actor.principal.organizationId === organizationId ? 'organization-admin' : null
  return actor.user.deploymentAdmin ? 'organization-admin' : (actor.roles.get(organizationId) ?? null)
}

export const mayIn = (actor: Actor, organizationId: string, needed: OrganizationRole): boolean => {
  const held = roleIn(actor, organizationId)
  return held !== null && roleIncludes(held, needed)
}

export const mayDeployment = (actor: Actor): boolean =>
  actor.kind === 'key' ? actor.deployment : actor.user.deploymentAdmin

/** The organizations that they may see; null: all. */
export const visibleOrganizations = (actor: Actor): readonly string[] | null => {
  if (actor.kind === 'key') return [actor.principal.organizationId]
  return actor.user.deploymentAdmin ? null : [...actor.roles.keys()]
}

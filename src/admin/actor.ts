// Who administers: an organization's admin key, a person with a session of the dashboard, or whoever runs a command on the
// machine of the deployment.
import { type OrganizationRole, roleIncludes } from '../domain/role.ts'
import type { Principal } from '../http/authenticate.ts'
import type { UserSession } from '../store/user-sessions.ts'
import type { User } from '../store/users.ts'

export interface KeyActor {
  readonly kind: 'key'
  readonly principal: Principal
  /** The key also has the scope `deployment`. */
  readonly deployment: boolean
}

export interface PersonActor {
  readonly kind: 'person'
  readonly user: User
  readonly session: UserSession
  /** Organization → role. A deployment admin needs none. */
  readonly roles: ReadonlyMap<string, OrganizationRole>
}

/** Whoever runs commands may read the database too, so nothing is beyond them. */
export interface CommandActor {
  readonly kind: 'command-line'
  /** Name of the operating system's user. */
  readonly user: string
  /** The name to note beside what is done, where the command was given another one. */
  readonly author: string
  /** Why the rule of the second person is overridden; null: it is not. */
  readonly override: { readonly reason: string } | null
}

export type Actor = KeyActor | PersonActor | CommandActor

/** As the audit log and sessions name them. */
export const actorId = (actor: Actor): string => {
  if (actor.kind === 'command-line') return actor.kind
  return actor.kind === 'key' ? `key:${actor.principal.keyId}` : `user:${actor.user.id}`
}

/** The account that `actorId` names; null for a key. */
export const accountOf = (id: string): string | null => (id.startsWith('user:') ? id.slice('user:'.length) : null)

/** The key that `actorId` names, also behind the `operator:` of a session's event; null for anybody else. */
export const keyIdOf = (id: string): string | null => /^(?:operator:)?key:(.+)$/.exec(id)?.[1] ?? null

/** As people know them. */
export const actorName = (actor: Actor): string => {
  if (actor.kind === 'command-line') return actor.user
  return actor.kind === 'key' ? 'API key' : actor.user.email
}

/** As entries of lists and decisions of sessions name who made them. */
export const authorName = (actor: Actor): string => {
  if (actor.kind === 'command-line') return actor.author
  return actor.kind === 'key' ? actorId(actor) : actorName(actor)
}

/** Null: the organization is none of theirs, so for them there is none. */
export const roleIn = (actor: Actor, organizationId: string): OrganizationRole | null => {
  if (actor.kind === 'command-line') return 'organization-admin'
  if (actor.kind === 'key') return actor.principal.organizationId === organizationId ? 'organization-admin' : null
  return actor.user.deploymentAdmin ? 'organization-admin' : (actor.roles.get(organizationId) ?? null)
}

export const mayIn = (actor: Actor, organizationId: string, needed: OrganizationRole): boolean => {
  const held = roleIn(actor, organizationId)
  return held !== null && roleIncludes(held, needed)
}

export const mayDeployment = (actor: Actor): boolean => {
  if (actor.kind === 'command-line') return true
  return actor.kind === 'key' ? actor.deployment : actor.user.deploymentAdmin
}

/** The organizations that they may see; null: all. */
export const visibleOrganizations = (actor: Actor): readonly string[] | null => {
  if (actor.kind === 'command-line') return null
  if (actor.kind === 'key') return [actor.principal.organizationId]
  return actor.user.deploymentAdmin ? null : [...actor.roles.keys()]
}

// Author of a change: an organization's admin key, a person in the dashboard, or a local command.

import type { Principal } from '../server/authenticate.ts'
import { type OrganizationRole, roleIncludes } from '../store/accounts/role.ts'
import type { UserSession } from '../store/accounts/user-sessions.ts'
import type { User } from '../store/accounts/users.ts'

interface KeyActor {
  readonly kind: 'key'
  readonly principal: Principal
  /** True if the key also has the scope `deployment`. */
  readonly deployment: boolean
}

export interface PersonActor {
  readonly kind: 'person'
  readonly user: User
  readonly session: UserSession
  readonly roles: ReadonlyMap<string, OrganizationRole>
}

/** Has all rights, because command users can access the database anyway. */
export interface CommandActor {
  readonly kind: 'command-line'
  readonly user: string
  /** --author or --by; defaults to the operating system's user. */
  readonly author: string
  /** Reason for overriding the second-person rule; null if the rule isn't overridden. */
  readonly override: { readonly reason: string } | null
}

export type Actor = KeyActor | PersonActor | CommandActor

/** Returns the id in the audit log and in sessions: `user:…`, `key:…` or `command-line`. */
export const actorId = (actor: Actor): string => {
  if (actor.kind === 'command-line') return actor.kind
  return actor.kind === 'key' ? `key:${actor.principal.keyId}` : `user:${actor.user.id}`
}

/** Returns the account in an id from `actorId`; null for other actors. */
export const accountOf = (id: string): string | null => (id.startsWith('user:') ? id.slice('user:'.length) : null)

/** Returns the key in an id from `actorId`, also with the prefix `operator:`; null for other actors. */
export const keyIdOf = (id: string): string | null => /^(?:operator:)?key:(.+)$/.exec(id)?.[1] ?? null

export const actorName = (actor: Actor): string => {
  if (actor.kind === 'command-line') return actor.user
  return actor.kind === 'key' ? 'API key' : actor.user.email
}

export const authorName = (actor: Actor): string => {
  if (actor.kind === 'command-line') return actor.author
  return actor.kind === 'key' ? actorId(actor) : actorName(actor)
}

/** Returns null if the actor must not learn that the organization exists. */
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

/** Returns the ids of the visible organizations; null for all organizations. */
export const visibleOrganizations = (actor: Actor): readonly string[] | null => {
  if (actor.kind === 'command-line') return null
  if (actor.kind === 'key') return [actor.principal.organizationId]
  return actor.user.deploymentAdmin ? null : [...actor.roles.keys()]
}

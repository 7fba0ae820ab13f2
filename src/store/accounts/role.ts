// Roles of members. Each role includes the rights of the following roles. Used by the table of admin routes.

export const ORGANIZATION_ROLES = ['organization-admin', 'reviewer', 'viewer'] as const
/** Role of a member in one organization. */
export type OrganizationRole = (typeof ORGANIZATION_ROLES)[number]

/** Reports whether the role `held` includes the rights of the role `needed`. */
export const roleIncludes = (held: OrganizationRole, needed: OrganizationRole): boolean =>
  ORGANIZATION_ROLES.indexOf(held) <= ORGANIZATION_ROLES.indexOf(needed)

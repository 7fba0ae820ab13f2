// Roles of members. Each role includes the rights of the roles after it.

export const ORGANIZATION_ROLES = ['organization-admin', 'reviewer', 'viewer'] as const
export type OrganizationRole = (typeof ORGANIZATION_ROLES)[number]

export const roleIncludes = (held: OrganizationRole, needed: OrganizationRole): boolean =>
  ORGANIZATION_ROLES.indexOf(held) <= ORGANIZATION_ROLES.indexOf(needed)

// What a person may do. Each role may do all that the ones after it may. Read by the table of admin routes.

export const ORGANIZATION_ROLES = ['organization-admin', 'reviewer', 'viewer'] as const
/** Of a member, in one organization. */
export type OrganizationRole = (typeof ORGANIZATION_ROLES)[number]

/** Whether someone with the role `held` may do what needs the role `needed`. */
export const roleIncludes = (held: OrganizationRole, needed: OrganizationRole): boolean =>
  ORGANIZATION_ROLES.indexOf(held) <= ORGANIZATION_ROLES.indexOf(needed)

// Roles of accounts in organizations. Deployment admins need no role.

import { computed, flag, hidden, integer, nullable, sql, text, typed } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import { requireRoom } from '../organizations/organization-limits.ts'
import type { Page, PageRequest } from '../paging.ts'
import { defineTable, type ItemOf } from '../table.ts'
import type { OrganizationRole } from './role.ts'

const ofUser = (select: string): string => `(SELECT ${select} FROM users WHERE users.id = memberships.user_id)`

const MEMBERSHIPS = defineTable('memberships', {
  organizationId: text,
  userId: text,
  email: computed(text, ofUser('users.email')),
  name: computed(text, ofUser('users.name')),
  role: typed<OrganizationRole>(),
  hasPassword: computed(flag, ofUser('CASE WHEN users.password_hash IS NULL THEN 0 ELSE 1 END')),
  disabled: computed(flag, ofUser('CASE WHEN users.disabled_at_seconds IS NULL THEN 0 ELSE 1 END')),
  createdAtSeconds: integer,
  roleSinceSeconds: hidden(nullable(integer)),
})

export interface Member extends ItemOf<typeof MEMBERSHIPS> {}

export const createMembershipTable = (scope: TableScope) => ({
  find: (organizationId: string, userId: string): Promise<Member | null> =>
    MEMBERSHIPS.find(scope, { organizationId, userId }),

  page: (organizationId: string, page: PageRequest): Promise<Page<Member>> =>
    MEMBERSHIPS.page(scope, { organizationId }, ['createdAtSeconds', 'userId'], page),

  /** Read with every request, so that a removed role takes effect immediately. */
  rolesOf: async (userId: string): Promise<ReadonlyMap<string, OrganizationRole>> =>
    new Map(
      (
        await scope.query<{ organization_id: string; role: OrganizationRole }>(
          'SELECT organization_id, role FROM memberships WHERE user_id = ?',
          [userId],
        )
      ).map((row) => [row.organization_id, row.role]),
    ),

  /** @throws ConstraintViolatedError if the account is already a member; OrganizationLimitError */
  add: (organizationId: string, userId: string, role: OrganizationRole): Promise<void> =>
    scope.write(async (own) => {
      await requireRoom(own, organizationId, 'members')
      await MEMBERSHIPS.insert(own, { organizationId, userId, role, createdAtSeconds: scope.nowSeconds() })
    }),

  setRole: async (organizationId: string, userId: string, role: OrganizationRole): Promise<boolean> => {
    const roleSinceSeconds = sql`CASE WHEN role = ${role} THEN role_since_seconds ELSE ${scope.nowSeconds()} END`
    return (await MEMBERSHIPS.updateAll(scope, { organizationId, userId }, { role, roleSinceSeconds })) === 1
  },

  remove: async (organizationId: string, userId: string): Promise<boolean> =>
    (await MEMBERSHIPS.removeAll(scope, { organizationId, userId })) === 1,
})

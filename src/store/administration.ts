// The tables behind the admin API, put together: accounts and what they do.
import { createApprovalTable } from './approvals.ts'
import { createAuditTable } from './audit.ts'
import { createIdempotencyTable } from './idempotency.ts'
import { createJobTable } from './jobs.ts'
import { createMembershipTable } from './memberships.ts'
import { createOrganizationSettingsTable } from './organization-settings.ts'
import { createPasskeyTable } from './passkeys.ts'
import { createSessionAssignmentTable } from './session-assignments.ts'
import type { TableScope } from './table-scope.ts'
import { createUserLinkTable } from './user-links.ts'
import { createUserSessionTable } from './user-sessions.ts'
import { createUserTable } from './users.ts'

export const createAdministrationTables = (scope: TableScope) => ({
  users: createUserTable(scope),
  memberships: createMembershipTable(scope),
  userSessions: createUserSessionTable(scope),
  userLinks: createUserLinkTable(scope),
  passkeys: createPasskeyTable(scope),
  audit: createAuditTable(scope),
  approvals: createApprovalTable(scope),
  jobs: createJobTable(scope),
  sessionAssignments: createSessionAssignmentTable(scope),
  organizationSettings: createOrganizationSettingsTable(scope),
  adminIdempotency: createIdempotencyTable(scope, 'admin_idempotency'),
})

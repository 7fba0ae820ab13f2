// Combines the tables behind the admin API: accounts and what they do.
import { createAccountMakerTable } from './account-makers.ts'
import { createApprovalTable } from './approvals.ts'
import { createAuditTable } from './audit.ts'
import { createIdempotencyTable } from './idempotency.ts'
import { createMembershipOfferTable } from './membership-offers.ts'
import { createMembershipTable } from './memberships.ts'
import { createOrganizationSettingsTable } from './organization-settings.ts'
import { createPasskeyTable } from './passkeys.ts'
import { createSessionAssignmentTable } from './session-assignments.ts'
import { createSignInCounterTable } from './sign-in-counters.ts'
import type { TableScope } from './table-scope.ts'
import { createTaskTable } from './tasks.ts'
import { createUserLinkTable } from './user-links.ts'
import { createUserSessionTable } from './user-sessions.ts'
import { createUserTable } from './users.ts'

export const createAdministrationTables = (scope: TableScope) => ({
  users: createUserTable(scope),
  memberships: createMembershipTable(scope),
  membershipOffers: createMembershipOfferTable(scope),
  userSessions: createUserSessionTable(scope),
  signInCounters: createSignInCounterTable(scope),
  userLinks: createUserLinkTable(scope),
  passkeys: createPasskeyTable(scope),
  audit: createAuditTable(scope),
  accountMakers: createAccountMakerTable(scope),
  approvals: createApprovalTable(scope),
  tasks: createTaskTable(scope),
  sessionAssignments: createSessionAssignmentTable(scope),
  organizationSettings: createOrganizationSettingsTable(scope),
  adminIdempotency: createIdempotencyTable(scope, 'admin_idempotency'),
})

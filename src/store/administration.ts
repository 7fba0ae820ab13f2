// Combines the tables behind the admin API: accounts and what they do.
import { createAccountMakerTable } from './accounts/account-makers.ts'
import { createApprovalTable } from './accounts/approvals.ts'
import { createMembershipOfferTable } from './accounts/membership-offers.ts'
import { createMembershipTable } from './accounts/memberships.ts'
import { createPasskeyTable } from './accounts/passkeys.ts'
import { createSignInCounterTable } from './accounts/sign-in-counters.ts'
import { createUserLinkTable } from './accounts/user-links.ts'
import { createUserSessionTable } from './accounts/user-sessions.ts'
import { createUserTable } from './accounts/users.ts'
import { createAuditTable } from './audit.ts'
import type { TableScope } from './copy/table-scope.ts'
import { createIdempotencyTable } from './idempotency.ts'
import { createOrganizationSettingsTable } from './organizations/organization-settings.ts'
import { createSessionAssignmentTable } from './sessions/session-assignments.ts'
import { createTaskTable } from './tasks.ts'

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

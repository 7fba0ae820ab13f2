// All tables of the store by name. Created at first use, because a transaction uses two or three of fifty.

import { createAccountMakerTable } from './accounts/account-makers.ts'
import { createApprovalTable } from './accounts/approvals.ts'
import { createMembershipOfferTable } from './accounts/membership-offers.ts'
import { createMembershipTable } from './accounts/memberships.ts'
import { createPasskeyTable } from './accounts/passkeys.ts'
import { createSignInCounterTable } from './accounts/sign-in-counters.ts'
import { createUserLinkTable } from './accounts/user-links.ts'
import { createUserSessionTable } from './accounts/user-sessions.ts'
import { createUserTable } from './accounts/users.ts'
import { createAnswerLatencyTable } from './answer-latencies.ts'
import { createAuditTable } from './audit.ts'
import { createClaimGroupTable } from './claim-log/groups.ts'
import type { TableScope } from './copy/table-scope.ts'
import { createDeploymentTable } from './deployment.ts'
import { createEvidenceTable } from './evidence/evidence.ts'
import { createEvidenceRetentionTable } from './evidence/evidence-retention.ts'
import { createFindTable } from './find.ts'
import { createIdempotencyTable } from './idempotency.ts'
import { createLeaderLeases } from './leader-lease.ts'
import { createListBaseTable } from './lists/list-bases.ts'
import { createListSourceTable } from './lists/list-sources.ts'
import { createListTable } from './lists/lists.ts'
import { createScreeningCheckTable } from './lists/screening-checks.ts'
import { createScreeningListTable } from './lists/screening-lists.ts'
import { createScreeningSettingsTable } from './lists/screening-settings.ts'
import { createLiveProcessTable } from './live-processes.ts'
import { createApiKeyTable } from './organizations/api-keys.ts'
import { createAttesterTable } from './organizations/attesters.ts'
import { createBindingTable } from './organizations/bindings.ts'
import { createKeyRotation } from './organizations/key-rotation.ts'
import { createOrganizationBrandTable } from './organizations/organization-brands.ts'
import { createOrganizationKeyTable } from './organizations/organization-keys.ts'
import { createOrganizationSettingsTable } from './organizations/organization-settings.ts'
import { createOrganizationTable } from './organizations/organizations.ts'
import { createPolicyTable } from './organizations/policies.ts'
import { createProjectTable } from './organizations/projects.ts'
import { createVerificationTrustTable } from './organizations/verification-trust.ts'
import { createRateLeaseTable } from './rate-leases.ts'
import { createMinimumAgeTable } from './sessions/minimum-ages.ts'
import { createPortalLinkTable } from './sessions/portal-links.ts'
import { createPortalProgressTable } from './sessions/portal-progress.ts'
import { createProviderResultTable } from './sessions/provider-results.ts'
import { createSessionAssignmentTable } from './sessions/session-assignments.ts'
import { createSessionCheckTable } from './sessions/session-checks.ts'
import { createSessionCounts } from './sessions/session-counts.ts'
import { createSessionNonceTable } from './sessions/session-nonces.ts'
import { createSessionOriginTable } from './sessions/session-origins.ts'
import { createSessionPolicyTable } from './sessions/session-policies.ts'
import { createSessionTraceTable } from './sessions/session-traces.ts'
import { createSessionWalletTable } from './sessions/session-wallets.ts'
import { createSessionTable } from './sessions/sessions.ts'
import { createTaskTable } from './tasks.ts'
import { createVelocityTallyTable } from './velocity-tallies.ts'
import { createWebhookEndpointTable } from './webhooks/webhook-endpoints.ts'
import { createWebhookMessageTable } from './webhooks/webhook-messages.ts'

const TABLES = {
  deployment: createDeploymentTable,
  organizations: createOrganizationTable,
  apiKeys: createApiKeyTable,
  projects: createProjectTable,
  policies: createPolicyTable,
  bindings: createBindingTable,
  attesters: createAttesterTable,
  answerLatencies: createAnswerLatencyTable,
  idempotency: (scope: TableScope) => createIdempotencyTable(scope),
  claimGroups: createClaimGroupTable,
  lists: createListTable,
  listBases: createListBaseTable,
  listSources: createListSourceTable,
  screeningLists: createScreeningListTable,
  screeningChecks: createScreeningCheckTable,
  screeningSettings: createScreeningSettingsTable,
  sessions: createSessionTable,
  sessionCounts: createSessionCounts,
  sessionWallets: createSessionWalletTable,
  sessionChecks: createSessionCheckTable,
  sessionTraces: createSessionTraceTable,
  sessionOrigins: createSessionOriginTable,
  sessionNonces: createSessionNonceTable,
  sessionPolicies: createSessionPolicyTable,
  organizationBrands: createOrganizationBrandTable,
  verificationTrust: createVerificationTrustTable,
  minimumAges: createMinimumAgeTable,
  portalLinks: createPortalLinkTable,
  portalProgress: createPortalProgressTable,
  evidence: createEvidenceTable,
  find: createFindTable,
  evidenceRetention: createEvidenceRetentionTable,
  organizationKeys: (scope: TableScope) => ({ ...createOrganizationKeyTable(scope), ...createKeyRotation(scope) }),
  webhookEndpoints: createWebhookEndpointTable,
  webhookMessages: createWebhookMessageTable,
  providerResults: createProviderResultTable,
  liveProcesses: createLiveProcessTable,
  leaderLeases: createLeaderLeases,
  rateLeases: createRateLeaseTable,
  velocityTallies: createVelocityTallyTable,
  users: createUserTable,
  memberships: createMembershipTable,
  membershipOffers: createMembershipOfferTable,
  userSessions: createUserSessionTable,
  signInCounters: createSignInCounterTable,
  userLinks: createUserLinkTable,
  passkeys: createPasskeyTable,
  audit: createAuditTable,
  accountMakers: createAccountMakerTable,
  approvals: createApprovalTable,
  tasks: createTaskTable,
  sessionAssignments: createSessionAssignmentTable,
  organizationSettings: createOrganizationSettingsTable,
  adminIdempotency: (scope: TableScope) => createIdempotencyTable(scope, 'admin_idempotency'),
}

type Name = keyof typeof TABLES

export type TableFactory<Table> = (scope: TableScope) => Table

/** Each function is atomic. */
export type Tables = { readonly [Each in Name]: ReturnType<(typeof TABLES)[Each]> } & {
  /** Creates tables without a name here, once per scope and factory. */
  readonly of: <Table>(create: TableFactory<Table>) => Table
}

const READERS = Object.defineProperties(
  {},
  Object.fromEntries(
    Object.entries(TABLES).map(([name, create]) => [
      name,
      {
        enumerable: true,
        get(this: Tables) {
          return this.of<unknown>(create)
        },
      },
    ]),
  ),
)

export const createTables = (scope: TableScope): Tables => {
  const created = new Map<TableFactory<unknown>, unknown>()
  const tables = Object.create(READERS) as { of: Tables['of'] }
  tables.of = <Table>(create: TableFactory<Table>): Table => {
    const known = created.get(create)
    if (known !== undefined) return known as Table
    const table = create(scope)
    created.set(create, table)
    return table
  }
  return tables as Tables
}

export const createAll = (tables: Tables): Tables =>
  Object.fromEntries([...Object.keys(TABLES), 'of'].map((name) => [name, tables[name as Name]])) as unknown as Tables

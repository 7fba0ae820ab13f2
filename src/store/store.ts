// The store's interface for the rest of the service: opens and migrates the database, offers one object of table
// functions, and runs several of them as one transaction.
import type { Clock } from '../lib/time.ts'
import type { PolicySource } from '../policy/types/source.ts'
import { createAdministrationTables } from './administration.ts'
import { createAnswerLatencyTable } from './answer-latencies.ts'
import { createClaimGroupTable } from './claim-log/groups.ts'
import { databaseScope, type TableScope, transactionScope } from './copy/table-scope.ts'
import type { Database, TransactionOptions } from './database.ts'
import { createDeploymentTable } from './deployment.ts'
import { createEvidenceTable } from './evidence/evidence.ts'
import { createEvidenceRetentionTable } from './evidence/evidence-retention.ts'
import { createFindTable } from './find.ts'
import { createIdempotencyTable } from './idempotency.ts'
import { createLastUsedWriter } from './last-used.ts'
import { createLeaderLeaseTable } from './leader-lease.ts'
import { createListBaseTable } from './lists/list-bases.ts'
import { createListSourceTable } from './lists/list-sources.ts'
import { createListTable } from './lists/lists.ts'
import { createScreeningCheckTable } from './lists/screening-checks.ts'
import { createScreeningListTable } from './lists/screening-lists.ts'
import { createScreeningSettingsTable } from './lists/screening-settings.ts'
import { createLiveProcessTable } from './live-processes.ts'
import { openMigratedDatabase, type StoreOptions } from './open-database.ts'
import { createApiKeyTable } from './organizations/api-keys.ts'
import { createAttesterTable } from './organizations/attesters.ts'
import { createBindingTable } from './organizations/bindings.ts'
import { createKeyRotation } from './organizations/key-rotation.ts'
import { createOrganizationBrandTable } from './organizations/organization-brands.ts'
import { createOrganizationKeyTable } from './organizations/organization-keys.ts'
import { createOrganizationTable } from './organizations/organizations.ts'
import { createPolicyTable } from './organizations/policies.ts'
import { createPolicySource } from './organizations/policy-source.ts'
import { createProjectTable } from './organizations/projects.ts'
import { createVerificationTrustTable } from './organizations/verification-trust.ts'
import { createRateLeaseTable } from './rate-leases.ts'
import { createMinimumAgeTable } from './sessions/minimum-ages.ts'
import { pairwiseUserId, readUserKey } from './sessions/persons.ts'
import { createPortalLinkTable } from './sessions/portal-links.ts'
import { createPortalProgressTable } from './sessions/portal-progress.ts'
import { createProviderResultTable } from './sessions/provider-results.ts'
import { createSessionCheckTable } from './sessions/session-checks.ts'
import { createSessionCounts } from './sessions/session-counts.ts'
import { createSessionNonceTable } from './sessions/session-nonces.ts'
import { createSessionOriginTable } from './sessions/session-origins.ts'
import { createSessionPolicyTable } from './sessions/session-policies.ts'
import { createSessionTraceTable } from './sessions/session-traces.ts'
import { createSessionWalletTable } from './sessions/session-wallets.ts'
import { createSessionTable } from './sessions/sessions.ts'
import { createWalletStandings, type WalletStandings } from './sessions/wallet-standings.ts'
import { createUpkeep, type Upkeep } from './upkeep.ts'
import { createVelocityTallyTable } from './velocity-tallies.ts'
import { createWebhookEndpointTable } from './webhooks/webhook-endpoints.ts'
import { createWebhookMessageTable } from './webhooks/webhook-messages.ts'

const createTables = (scope: TableScope) => ({
  deployment: createDeploymentTable(scope),
  organizations: createOrganizationTable(scope),
  apiKeys: createApiKeyTable(scope),
  projects: createProjectTable(scope),
  policies: createPolicyTable(scope),
  bindings: createBindingTable(scope),
  attesters: createAttesterTable(scope),
  answerLatencies: createAnswerLatencyTable(scope),
  idempotency: createIdempotencyTable(scope),
  claimGroups: createClaimGroupTable(scope),
  lists: createListTable(scope),
  listBases: createListBaseTable(scope),
  listSources: createListSourceTable(scope),
  screeningLists: createScreeningListTable(scope),
  screeningChecks: createScreeningCheckTable(scope),
  screeningSettings: createScreeningSettingsTable(scope),
  sessions: createSessionTable(scope),
  sessionCounts: createSessionCounts(scope),
  sessionWallets: createSessionWalletTable(scope),
  sessionChecks: createSessionCheckTable(scope),
  sessionTraces: createSessionTraceTable(scope),
  sessionOrigins: createSessionOriginTable(scope),
  sessionNonces: createSessionNonceTable(scope),
  sessionPolicies: createSessionPolicyTable(scope),
  organizationBrands: createOrganizationBrandTable(scope),
  verificationTrust: createVerificationTrustTable(scope),
  minimumAges: createMinimumAgeTable(scope),
  portalLinks: createPortalLinkTable(scope),
  portalProgress: createPortalProgressTable(scope),
  evidence: createEvidenceTable(scope),
  find: createFindTable(scope),
  evidenceRetention: createEvidenceRetentionTable(scope),
  organizationKeys: { ...createOrganizationKeyTable(scope), ...createKeyRotation(scope) },
  webhookEndpoints: createWebhookEndpointTable(scope),
  webhookMessages: createWebhookMessageTable(scope),
  providerResults: createProviderResultTable(scope),
  liveProcesses: createLiveProcessTable(scope),
  leaderLease: createLeaderLeaseTable(scope),
  rateLeases: createRateLeaseTable(scope),
  velocityTallies: createVelocityTallyTable(scope),
  ...createAdministrationTables(scope),
})

/** One object per table family; each function is atomic by itself. */
export type Tables = ReturnType<typeof createTables>

export interface Store extends Tables {
  /** For the change feed. */
  readonly database: Database
  readonly kind: 'sqlite' | 'postgres'
  /** Created on the first start, and never changed. */
  readonly deploymentId: string
  readonly policySource: PolicySource
  /** Who is verified: the reads behind interface B4 and the identity facts of policies. */
  readonly walletStandings: WalletStandings
  /**
   * Runs table functions as one transaction: all of it is stored, or nothing. Inside, use only the tables handed in.
   * @throws what `work` throws, after rolling back.
   */
  transaction<Result>(work: (tables: Tables) => Promise<Result>, options?: TransactionOptions): Promise<Result>
  /**
   * Like `transaction`, with only the tables of a session's changes: creating all forty takes longer than a statement.
   */
  sessionTransaction<Result>(
    work: (tables: {
      readonly sessions: Tables['sessions']
      readonly wallets: Tables['sessionWallets']
      readonly apiKeys: Tables['apiKeys']
    }) => Promise<Result>,
    options?: TransactionOptions,
  ): Promise<Result>
  /**
   * Resolves when a write reached the file within the last second. For `/readyz`.
   * @throws StoreUnavailableError when it can't be written.
   */
  checkWritable(): Promise<void>
  /** Writes uses of keys in batches and deletes expired rows. Servers start it; commands don't need it. */
  readonly upkeep: Pick<Upkeep, 'start' | 'flush' | 'sweep'>
  /** Writes batched data, waits for requested transactions, and closes. Safe to call twice. */
  close(): Promise<void>
}

const WRITE_CHECK_VALID_MS = 1_000

/** Writes at most once a second, however often it is called: `/readyz` is open to anyone. */
const createWriteCheck = (database: Database, clock: Clock): (() => Promise<void>) => {
  let lastWriteMs = Number.NEGATIVE_INFINITY
  let checking: Promise<void> | undefined
  const check = async (): Promise<void> => {
    await database.execute(
      `INSERT INTO deployment (name, value) VALUES ('last_write_check_seconds', ?)
       ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
      [String(clock.unixSeconds())],
      { survives: 'process-crash' },
    )
    lastWriteMs = clock.monotonicMs()
  }
  return async () => {
    if (clock.monotonicMs() - lastWriteMs < WRITE_CHECK_VALID_MS) return
    checking ??= check().finally(() => {
      checking = undefined
    })
    await checking
  }
}

/**
 * Opens the store and brings its tables up to date. A missing SQLite file is created; a PostgreSQL database must exist.
 * @throws StoreUnusableError, with one line for the operator, when the store can't be used as it is;
 *   StoreUnavailableError when tables are missing and the file stays locked
 */
export const openStore = async (options: StoreOptions): Promise<Store> => {
  const { clock } = options
  const database = await openMigratedDatabase(options)
  try {
    const scope = databaseScope(database, clock)
    const tables = createTables(scope)
    const deploymentId = await tables.deployment.ensureIdentity()
    const lastUsed = createLastUsedWriter(database)
    await tables.deployment.ensureUserKey()
    const userKey = await readUserKey(database)
    const upkeep = createUpkeep({
      scope,
      lastUsed,
      answerLatencies: tables.answerLatencies,
      tables: [
        tables.answerLatencies,
        tables.idempotency,
        tables.claimGroups,
        tables.sessionNonces,
        tables.portalLinks,
        tables.listBases,
        tables.userSessions,
        tables.signInCounters,
        tables.membershipOffers,
        tables.passkeys,
        tables.adminIdempotency,
        tables.webhookMessages,
        tables.providerResults,
      ],
    })
    return {
      ...tables,
      database,
      kind: database.dialect ?? 'sqlite',
      deploymentId,
      policySource: createPolicySource(database),
      walletStandings: createWalletStandings(database, (organizationId, personId) =>
        pairwiseUserId(userKey, organizationId, personId),
      ),
      transaction: (work, settings) =>
        database.transaction((transaction) => work(createTables(transactionScope(transaction, clock))), settings),
      sessionTransaction: (work, settings) =>
        database.transaction((transaction) => {
          const own = transactionScope(transaction, clock)
          return work({
            sessions: createSessionTable(own),
            wallets: createSessionWalletTable(own),
            apiKeys: createApiKeyTable(own),
          })
        }, settings),
      checkWritable: createWriteCheck(database, clock),
      upkeep,
      close: async () => {
        await upkeep.stop()
        await database.close()
      },
    }
  } catch (error) {
    await database.close()
    throw error
  }
}

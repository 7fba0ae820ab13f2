// Statements of requests and streams use an index in PostgreSQL, for any number of rows. Each statement is explained
// before it runs on tables with many rows.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { systemClock } from '../../src/lib/time.ts'
import { readChanges, readNewest } from '../../src/store/changes.ts'
import { databaseScope } from '../../src/store/copy/table-scope.ts'
import type { Database, SqlParameter, Statements, Transaction } from '../../src/store/database.ts'
import { createIdempotencyTable } from '../../src/store/idempotency.ts'
import { createApiKeyTable } from '../../src/store/organizations/api-keys.ts'
import { createPolicySource } from '../../src/store/organizations/policy-source.ts'
import { openPostgresDatabase } from '../../src/store/postgres/postgres.ts'
import { createSessionTable } from '../../src/store/sessions/sessions.ts'
import { createWalletStandings } from '../../src/store/sessions/wallet-standings.ts'
import { createWebhookMessageTable } from '../../src/store/webhooks/webhook-messages.ts'
import { createTemporaryDatabase, POSTGRES_MISSING, type TemporaryDatabase } from '../support/postgres.ts'
import { register, walletAt } from './session-fixtures.ts'

const ROWS = 20_000
const WALLET = walletAt(7)

const REQUESTER = { organizationId: 'org', environment: 'live', level: 1 } as const

/** One organization with nearly all rows, so that an index by organization alone does not help. */
const FILL = [
  "INSERT INTO organizations (id, slug, name, version, created_at_seconds) VALUES ('org', 'org', 'Org', 1, 0)",
  `INSERT INTO api_keys (key_id, organization_id, kind, environment, scopes, name, hash, created_at_seconds)
   SELECT 'key' || n, 'org', 'identity', 'live', 'identity', 'x', decode(repeat('00', 32), 'hex'), n
   FROM generate_series(1, ${ROWS}) AS n`,
  'UPDATE api_keys SET revoked_at_seconds = 1 WHERE created_at_seconds > 100',
  `INSERT INTO sessions (organization_id, id, environment, check_type, status, level, provider, locked_address,
     retry_count, sequence, created_at_seconds, updated_at_seconds, checks_queued_sequence, checks_queued_at_seconds)
   SELECT 'org', 'session' || n, 'live', 'kyc', 'pending', 1, 'manual', '0x' || lpad(to_hex(n), 40, '0'), 0, 1, n, n, 1,
     9999999999
   FROM generate_series(1, ${ROWS}) AS n`,
  `INSERT INTO session_wallets (id, organization_id, session_id, environment, connected_sequence, chain, address,
     address_text, connected_at_seconds)
   SELECT 'wallet' || n, 'org', 'session' || n, 'live', 1, 'ethereum', '0x' || lpad(to_hex(n), 40, '0'), '', n
   FROM generate_series(1, ${ROWS}) AS n`,
  `INSERT INTO session_events (organization_id, session_id, sequence, kind, status, actor, created_at_seconds)
   SELECT 'org', 'session' || n, 1, 'created', 'pending', 'x', n FROM generate_series(1, ${ROWS}) AS n`,
  `INSERT INTO session_tokens (hash, organization_id, session_id, ordinal, created_at_seconds)
   SELECT decode(lpad(to_hex(n), 64, '0'), 'hex'), 'org', 'session' || n, 1, n FROM generate_series(1, ${ROWS}) AS n`,
  `INSERT INTO idempotency (organization_id, key_id, idempotency_key, body_hash, uuid, claim_expires_at_seconds,
     keep_until_seconds) SELECT 'org', 'key1', 'retry' || n, '', 'u', 9999999999, 9999999999
   FROM generate_series(1, ${ROWS}) AS n`,
  `INSERT INTO changes (sequence, topic, subject_id, organization_id, created_at_seconds)
   SELECT n, 'session', 'x', 'org', n FROM generate_series(1, ${ROWS}) AS n`,
  `UPDATE counters SET value = ${ROWS} WHERE name = 'changes'`,
  `INSERT INTO policies (id, organization_id, name, revision_count, version, created_at_seconds)
   SELECT 'policy' || n, 'org', 'x', 1, 1, n FROM generate_series(1, 2000) AS n`,
  `INSERT INTO policy_revisions (id, organization_id, policy_id, number, source, content_hash, quorum, created_at_seconds)
   SELECT 'revision' || n, 'org', 'policy' || n, 1, '', '', 1, n FROM generate_series(1, 2000) AS n`,
  "UPDATE policies SET active_revision_id = 'revision' || substr(id, 7)",
  `INSERT INTO projects (id, organization_id, name, verification_hash, policy_id, lifetime_seconds, version,
     created_at_seconds) SELECT 'project' || n, 'org', 'x', 'x-' || n, 'policy' || n, 300, 1, n
   FROM generate_series(1, 2000) AS n`,
  `INSERT INTO bindings (id, organization_id, project_id, chain_name, address, created_at_seconds)
   SELECT 'binding' || n, 'org', 'project' || n, 'base', '0x' || lpad(to_hex(n), 40, '0'), n
   FROM generate_series(1, 2000) AS n`,
  `INSERT INTO webhook_endpoints (id, organization_id, environment, purpose, url, sealed_secret, created_at_seconds,
     removed_at_seconds) SELECT 'endpoint' || n, 'org', 'live', 'events', '', '', 0, CASE WHEN n > 1 THEN 0 END
   FROM generate_series(1, 40) AS n`,
  `INSERT INTO webhook_messages (id, organization_id, endpoint_id, session_id, sequence, type, snapshot, state, attempts,
     next_attempt_at_seconds, claimed_until_seconds, created_at_seconds, settled_at_seconds)
   SELECT 'message' || n, 'org', 'endpoint' || (2 + n % 39), 'session1', 1, 'x', '{}', 'dead', 1, 0, 0, n, n
   FROM generate_series(1, ${ROWS}) AS n`,
  `INSERT INTO audit_log (sequence, at_seconds, organization_id, actor, actor_name, action, subject, detail, request_id,
     previous_hash, hash) SELECT n, n, 'org', 'x', 'x', CASE WHEN n % 9 = 0 THEN 'key.issue' ELSE 'x' END, 'key' || n,
     '{}', 'x', 'x', 'x' FROM generate_series(1, ${ROWS}) AS n`,
  `INSERT INTO deployment (name, value) VALUES ('pairwise_user_key', '${'00'.repeat(32)}')`,
  'ANALYZE',
]

/** Sequential scans of the filled tables. Nearly empty tables may be scanned. */
const FILLED =
  /Seq Scan on (api_keys|audit_log|sessions|session_(wallets|events|tokens)|idempotency|changes|polic|projects|bindings|webhook_messages)/

const define = POSTGRES_MISSING === null ? describe : describe.skip

define(`plans of PostgreSQL${POSTGRES_MISSING === null ? '' : ` (${POSTGRES_MISSING})`}`, () => {
  let temporary: TemporaryDatabase
  let database: Database
  let scans: string[]

  /** Records each statement whose plan scans a whole table, or far more rows than necessary. */
  const explained = <Kind extends Statements & Pick<Transaction, 'execute'>>(statements: Kind): Kind => {
    const explain = async (sql: string, parameters?: readonly SqlParameter[]): Promise<void> => {
      const rows = await statements.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${sql}`, parameters)
      for (const { 'QUERY PLAN': step } of rows) {
        const whole = FILLED.test(step)
        const many = /Scan.* rows=(\d+)/.exec(step)
        if (whole || Number(many?.[1] ?? 0) > 1_000) scans.push(`${step.trim()} of ${sql}`)
      }
    }
    return {
      ...statements,
      query: async (sql: string, parameters?: readonly SqlParameter[]) => {
        await explain(sql, parameters)
        return statements.query(sql, parameters)
      },
      execute: async (sql: string, parameters?: readonly SqlParameter[]) => {
        await explain(sql, parameters)
        return statements.execute(sql, parameters)
      },
    }
  }

  beforeAll(async () => {
    temporary = await createTemporaryDatabase()
    const plain = await openPostgresDatabase({ target: temporary.target, clock: systemClock, statementLimitMs: 30_000 })
    for (const statement of FILL) await plain.execute(statement)
    database = {
      ...explained(plain),
      transaction: (work, options) => plain.transaction((handle) => work(explained(handle)), options),
    }
  })
  afterAll(async () => {
    await database.close()
    await temporary.remove()
  })

  const session = (number: number) => ({ organizationId: 'org', sessionId: `session${number}` })
  const claimKey = (scope: ReturnType<typeof databaseScope>) => {
    const expiresAtSeconds = systemClock.unixSeconds() + 30
    return createIdempotencyTable(scope).claim('org', 'key1', 'retry7', new Uint8Array(), 'u', expiresAtSeconds)
  }
  const standings = () => createWalletStandings(database, () => 'user')
  const HOT: readonly (readonly [string, (scope: ReturnType<typeof databaseScope>) => Promise<unknown>])[] = [
    ['finding a key', (scope) => createApiKeyTable(scope).findForAuthentication('key7')],
    ['finding the recipient of a key', (scope) => createApiKeyTable(scope).findRecipient('key9')],
    [
      'issuing a key',
      (scope) =>
        createApiKeyTable(scope).issue({
          organizationId: 'org',
          kind: 'identity',
          environment: 'live',
          name: 'x',
          expiresAtSeconds: null,
          rateLimit: null,
        }),
    ],
    ['loading a project', () => createPolicySource(database).loadProjectTarget('org', 'x-7')],
    ['loading a binding', () => createPolicySource(database).loadBindingTarget('org', 'base', WALLET)],
    ['claiming an idempotency key', (scope) => claimKey(scope)],
    ['sweeping idempotency keys', (scope) => createIdempotencyTable(scope).sweep()],
    ['reading a session', (scope) => createSessionTable(scope).find('org', 'session7')],
    ['opening a link', (scope) => createSessionTable(scope).findByToken(new Uint8Array(32))],
    [
      'registering a wallet that has a session',
      (scope) => register({ sessions: createSessionTable(scope) }, 'org', { walletAddress: WALLET }),
    ],
    [
      'changing a session',
      (scope) =>
        createSessionTable(scope).changeStatus({ ...session(7), actor: 'x', to: 'completed', override: 'person' }),
    ],
    ['loading the standing of a wallet', () => standings().loadSessions(REQUESTER, WALLET)],
    ['loading the wallets of a person', () => standings().loadPersonWallets(REQUESTER, 'person')],
    ['reading the newest change', () => readNewest(database)],
    ['reading changes', () => readChanges(database, { sequence: ROWS - 5, mark: null }, 500)],
    ['claiming messages', (scope) => createWebhookMessageTable(scope).claim(10, 60)],
    ['resending dead messages', (scope) => createWebhookMessageTable(scope).resend('org', null)],
  ]

  test.each(HOT)('%s scans no whole table', async (_name, act) => {
    scans = []
    await act(databaseScope(database, systemClock))
    expect(scans).toEqual([])
  })
})

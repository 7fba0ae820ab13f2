// Every kind of thing that an organization can create has a limit. Full organizations are made by copying rows.
import { beforeAll, expect, test } from 'bun:test'
import { readCatalog } from '../../src/store/copy/table-catalog.ts'
import {
  type LimitedKind,
  ORGANIZATION_LIMITS,
  OrganizationLimitError,
} from '../../src/store/organizations/organization-limits.ts'
import type { Store } from '../../src/store/store.ts'
import { describeStores } from './dialects.ts'
import { storeOfSuite } from './store-of-test.ts'
import { openTemporaryStore, seedOrganization } from './temporary-store.ts'

/** Tables with rows of organizations that have no limit in ORGANIZATION_LIMITS, each with the reason. */
const LIMITED_ELSEWHERE: Readonly<Record<string, string>> = {
  account_makers: 'one per pair of accounts',
  admin_idempotency: 'a request each, kept for a day',
  answer_latencies: 'one per process and hour',
  audit_log: 'a change each',
  changes: 'a change each, kept for an hour',
  evidence_reads: 'a request each',
  evidence_retention: 'one',
  idempotency: 'a request each, kept for a day',
  jobs: 'OPEN_TASKS_MAX at once, or a request each',
  minimum_ages: 'one',
  organization_brands: 'one',
  organization_keys: 'one, and the keys before it while they are replaced',
  organization_settings: 'one',
  persons: 'one per completed session',
  portal_agreements: 'one per session',
  portal_browsers: 'one per link of a session',
  portal_challenges: 'WAITING_MAX per link',
  portal_handovers: 'WAITING_MAX per session',
  provider_results: 'a request each, kept for weeks',
  rule_administrators: 'one per administrator',
  screening_ended_hits: 'one per hit',
  screening_hits: 'HITS_MAX per name',
  screening_settings: 'one',
  session_assignments: 'one per session',
  session_check_queue: 'one per session',
  session_checks: 'one per session and part',
  session_corrections: 'one per part of a session',
  session_events: 'SESSION_CHANGES_MAX of the person, and those of operators',
  session_evidence: 'the maximum of its type',
  session_nonces: 'NONCES_PER_SESSION_MAX per session',
  session_origins: 'one per session',
  session_policies: 'one',
  session_policy_decisions: 'one per decision of a session',
  session_rejections: 'two per person and wallet, and one per session',
  session_removed_wallets: 'WALLETS_OVER_TIME_MAX per session',
  session_tokens: 'TOKENS_PER_SESSION_MAX per session',
  session_traces: 'one per session and kind',
  session_wallets: 'WALLETS_PER_SESSION_MAX per session',
  sessions: 'the rate limit of a key each',
  trace_keys: 'one',
  trusted_organizations: 'TRUSTED_MAX',
  velocity_tallies: 'the counted attestations of a window',
  wallet_proofs: 'one per wallet of a session',
  webhook_messages: 'one per endpoint and change of a session',
}

type Seed = Awaited<ReturnType<typeof seedOrganization>>

const account = (store: Store, email: string, madeByOrganizationId?: string) =>
  store.users.create({
    email,
    name: 'a',
    deploymentAdmin: false,
    passwordHash: null,
    ...(madeByOrganizationId === undefined ? {} : { madeByOrganizationId }),
  })

/** Creates one thing of each kind, whose number makes it unique. */
const CREATE: Readonly<Record<LimitedKind, (store: Store, seed: Seed, number: string) => Promise<unknown>>> = {
  'webhook endpoints': (store, { organizationId }, number) =>
    store.webhookEndpoints.add({
      id: `endpoint_${number}`,
      organizationId,
      environment: 'live',
      purpose: 'events',
      url: 'https://hooks.example/',
      sealedSecret: new Uint8Array(1),
    }),
  'API keys': (store, { organizationId }, name) =>
    store.apiKeys.issue({
      organizationId,
      kind: 'attestation',
      environment: 'live',
      name,
      expiresAtSeconds: null,
      rateLimit: null,
    }),
  lists: (store, { organizationId: owner }, name) => store.lists.create({ owner, name: `list_${name}` }),
  policies: (store, { organizationId }, name) => store.policies.create({ organizationId, name }),
  'policy revisions': (store, { organizationId, policy }) =>
    store.policies.saveRevision({ organizationId, policyId: policy.id, source: 'x', quorum: 1 }),
  projects: (store, { organizationId, policy }, name) =>
    store.projects.create({ organizationId, name, policyId: policy.id }),
  bindings: (store, { organizationId, project }, address) =>
    store.bindings.create({ organizationId, projectId: project.id, chainName: 'base', address }),
  members: async (store, { organizationId }, number) => {
    const { id } = await account(store, `${number}@member.example`)
    await store.memberships.add(organizationId, id, 'viewer')
  },
  'membership offers': async (store, { organizationId }, number) => {
    const { id: userId } = await account(store, `${number}@offer.example`)
    const who = { organizationId, userId, role: 'viewer', askedBy: 'x', askedByName: 'x' } as const
    await store.membershipOffers.make({ ...who, expiresAtSeconds: Number.MAX_SAFE_INTEGER }, new Uint8Array(32))
  },
  'created accounts': (store, { organizationId }, number) => account(store, `${number}@new.example`, organizationId),
  'pending approvals': async (store, { organizationId }, number) => {
    const { id: requestedBy } = await account(store, `${number}@approval.example`)
    const what = { action: 'x', subject: 'x', detail: {}, request: {}, lifeSeconds: 60 }
    await store.approvals.request({ organizationId, requestedBy, ...what })
  },
}

/** Tables whose rows are copied, with their unique columns. */
const UNIQUE: Readonly<Record<LimitedKind, { readonly table: string; readonly columns: readonly string[] }>> = {
  'webhook endpoints': { table: 'webhook_endpoints', columns: ['id'] },
  'API keys': { table: 'api_keys', columns: ['key_id'] },
  lists: { table: 'lists', columns: ['id', 'name'] },
  policies: { table: 'policies', columns: ['id'] },
  'policy revisions': { table: 'policy_revisions', columns: ['id', 'number'] },
  projects: { table: 'projects', columns: ['id', 'verification_hash'] },
  bindings: { table: 'bindings', columns: ['id', 'address'] },
  members: { table: 'memberships', columns: ['user_id'] },
  'membership offers': { table: 'membership_offers', columns: ['id', 'user_id'] },
  'created accounts': { table: 'users', columns: ['id', 'email'] },
  'pending approvals': { table: 'approvals', columns: ['id'] },
}

/** As many numbers as its parameter, starting at 1. */
const NUMBERS = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)`

describeStores((open) => {
  const temporary = storeOfSuite(open)
  let seed: Seed

  beforeAll(async () => {
    seed = await seedOrganization(temporary.store, 'full')
    await temporary.store.database.execute(
      `INSERT INTO users (id, email, name, deployment_admin, totp_last_step, version, created_at_seconds)
       ${NUMBERS} SELECT 'user-' || n, 'user-' || n, 'x', 0, 0, 1, 1 FROM numbers`,
      [ORGANIZATION_LIMITS.members.maximum],
    )
  })

  /** Copies one row of a table, so that there are `count` more. */
  const copyRow = async (table: string, columns: readonly string[], where: string, count: number): Promise<void> => {
    const { database } = temporary.store
    const [row] = await database.query<Record<string, unknown>>(`SELECT * FROM ${table} WHERE ${where} LIMIT 1`)
    if (row === undefined) throw new Error(`no row in ${table}`)
    const names = Object.keys(row)
    const key = columns[0] ?? 'id'
    const values = names.map((name) => {
      if (name === 'user_id' && columns.includes(name)) return `'user-' || n`
      if (!columns.includes(name)) return name
      return name === 'number' ? 'number + 1000 + n' : `SUBSTR(${name}, 1, 50) || '-' || n`
    })
    await database.execute(
      `INSERT INTO ${table} (${names.join(', ')}) ${NUMBERS} SELECT ${values.join(', ')} FROM numbers
       JOIN ${table} ON ${table}.${key} = ?`,
      [count, row[key] as string],
    )
  }

  const KINDS = Object.keys(ORGANIZATION_LIMITS) as LimitedKind[]
  test.each(KINDS)(
    '%s have a limit, which the error states',
    async (kind) => {
      const { store } = temporary
      const { maximum, rows } = ORGANIZATION_LIMITS[kind]
      const { table, columns } = UNIQUE[kind]
      const ours = seed.organizationId
      const count = async (): Promise<number> => {
        const { text, parameters } = rows(ours, temporary.clock.unixSeconds())
        const [row] = await store.database.query<{ count: number }>(`SELECT COUNT(*) AS count FROM ${text}`, parameters)
        return row?.count ?? 0
      }
      await CREATE[kind](store, seed, 'first')
      const column = table === 'users' ? 'made_by_organization_id' : 'organization_id'
      await copyRow(table, columns, `${column} = '${ours}'`, maximum - 1 - (await count()))
      await CREATE[kind](store, seed, 'last')
      expect(await count()).toBe(maximum)
      const beyond = await CREATE[kind](store, seed, 'beyond').catch((error: unknown) => error)
      expect(beyond).toBeInstanceOf(OrganizationLimitError)
      expect(beyond).toMatchObject({ code: 'CONFLICT', kind, maximum })
      expect(String((beyond as OrganizationLimitError).detail)).toContain(`${maximum.toLocaleString('en-US')} ${kind}`)
      expect(await count()).toBe(maximum)
      const others = await seedOrganization(store, `other-${table.replaceAll('_', '-')}`)
      await CREATE[kind](store, others, 'other')
    },
    30_000,
  )
})

test('every table with rows of organizations has a limit', async () => {
  const temporary = await openTemporaryStore()
  const tables = await readCatalog(temporary.store.database, temporary.store.kind)
  await temporary.remove()
  const limited = new Set(Object.values(UNIQUE).map(({ table }) => table))
  const owned = tables.filter(({ columns }) => columns.includes('organization_id')).map(({ name }) => name)
  const unlimited = owned.filter((name) => !limited.has(name) && !(name in LIMITED_ELSEWHERE))
  expect(unlimited).toEqual([])
})

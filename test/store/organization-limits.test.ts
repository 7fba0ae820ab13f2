// Every kind of item that an organization can create has a limit. Tests copy rows to reach the limits.
import { beforeAll, expect, test } from 'bun:test'
import { readCatalog } from '../../src/store/copy/table-catalog.ts'
import {
  type LimitedKind,
  ORGANIZATION_LIMITS,
  OrganizationLimitError,
} from '../../src/store/organizations/organization-limits.ts'
import { describeStores } from './dialects.ts'
import { copyRow, insertAccounts, LIMITED_ITEMS, type Parents } from './limited-items.ts'
import { storeOfSuite } from './store-of-test.ts'
import { openTemporaryStore, seedOrganization } from './temporary-store.ts'

/** Tables with rows of organizations, but without a limit in ORGANIZATION_LIMITS, each with the reason. */
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

describeStores((open) => {
  const temporary = storeOfSuite(open)

  const seed = async (slug: string): Promise<Parents> => {
    const { organizationId, policy, project } = await seedOrganization(temporary.store, slug)
    return { organizationId, policyId: policy.id, projectId: project.id }
  }

  beforeAll(async () => {
    const { sql, parameters } = insertAccounts(ORGANIZATION_LIMITS.members.maximum)
    await temporary.store.database.execute(sql, parameters)
  })

  const KINDS = Object.keys(ORGANIZATION_LIMITS) as LimitedKind[]
  test.each(KINDS)(
    '%s have a limit, which the error states',
    async (kind) => {
      const { store } = temporary
      const { maximum, rows } = ORGANIZATION_LIMITS[kind]
      const { table, create } = LIMITED_ITEMS[kind]
      const number = KINDS.indexOf(kind)
      const parents = await seed(`full-${number}`)
      const ours = parents.organizationId
      const count = async (): Promise<number> => {
        const { text, parameters } = rows(ours, temporary.clock.unixSeconds(), String(row?.['requested_by']))
        const [counted] = await store.database.query<{ count: number }>(
          `SELECT COUNT(*) AS count FROM ${text}`,
          parameters,
        )
        return counted?.count ?? 0
      }
      await create(store, parents, 'first')
      const column = table === 'users' ? 'made_by_organization_id' : 'organization_id'
      const [row] = await store.database.query<Record<string, unknown>>(
        `SELECT * FROM ${table} WHERE ${column} = ? LIMIT 1`,
        [ours],
      )
      const { sql, parameters } = copyRow(kind, row ?? {}, maximum - 1 - (await count()))
      await store.database.execute(sql, parameters)
      await create(store, parents, 'last')
      expect(await count()).toBe(maximum)
      const beyond = await create(store, parents, 'beyond').catch((error: unknown) => error)
      expect(beyond).toBeInstanceOf(OrganizationLimitError)
      expect(beyond).toMatchObject({ code: 'CONFLICT', kind, maximum })
      expect(String((beyond as OrganizationLimitError).detail)).toContain(`${maximum.toLocaleString('en-US')} ${kind}`)
      expect(await count()).toBe(maximum)
      await create(store, await seed(`other-${number}`), 'other')
    },
    30_000,
  )
})

test('every table with rows of organizations has a limit', async () => {
  const temporary = await openTemporaryStore()
  const tables = await readCatalog(temporary.store.database, temporary.store.kind)
  await temporary.remove()
  const limited = new Set(Object.values(LIMITED_ITEMS).map(({ table }) => table))
  const owned = tables.filter(({ columns }) => columns.includes('organization_id')).map(({ name }) => name)
  const unlimited = owned.filter((name) => !limited.has(name) && !(name in LIMITED_ELSEWHERE))
  expect(unlimited).toEqual([])
})

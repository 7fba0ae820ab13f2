// In SQLite, statements on webhook messages neither scan other messages of the organization nor sort.
// Plans of PostgreSQL: test/store/query-plans.test.ts.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { databaseScope } from '../../../src/store/copy/table-scope.ts'
import type { SqlParameter, Statements, Transaction } from '../../../src/store/database.ts'
import { createWebhookMessageTable } from '../../../src/store/webhooks/webhook-messages.ts'
import { openWebhooks } from './support.ts'

type MessageTable = ReturnType<typeof createWebhookMessageTable>

let parts: Awaited<ReturnType<typeof openWebhooks>>
let organizationId = ''

beforeAll(async () => {
  parts = await openWebhooks()
  organizationId = await parts.createOrganization('plans')
  await parts.addEndpoint(organizationId, 'https://receiver.example')
  await parts.register(organizationId)
})
afterAll(() => parts.remove())

/** Returns the plan steps of statements that read messages. */
const planOf = async (act: (messages: MessageTable) => Promise<unknown>): Promise<readonly string[]> => {
  const { database } = parts.store
  const run: [sql: string, parameters: readonly SqlParameter[]][] = []
  const recording = <Handle extends Statements & Pick<Transaction, 'execute'>>(handle: Handle): Handle => ({
    ...handle,
    queryLong: undefined,
    query: (sql: string, parameters: readonly SqlParameter[] = []) => {
      run.push([sql, parameters])
      return handle.query(sql, parameters)
    },
    execute: (sql: string, parameters: readonly SqlParameter[] = []) => {
      run.push([sql, parameters])
      return handle.execute(sql, parameters)
    },
  })
  const transaction: typeof database.transaction = (work, options) =>
    database.transaction((handle) => work(recording(handle)), options)
  await act(createWebhookMessageTable(databaseScope({ ...recording(database), transaction }, parts.clock)))
  const steps: string[] = []
  for (const [sql, parameters] of run) {
    const rows = await database.query<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, parameters)
    steps.push(...rows.map(({ detail }) => detail).filter((step) => /webhook_messages|TEMP B-TREE/.test(step)))
  }
  return steps.map((step) => step.replace(/ USING.* INDEX \w+/, ''))
}

const BY_ID = 'SEARCH webhook_messages (id=?)'

test('due messages are claimed in the order of the index', async () => {
  expect(await planOf(({ claim }) => claim(10, 60))).toEqual([
    'SEARCH webhook_messages EXISTS (endpoint_id=? AND next_attempt_at_seconds<?)',
    'SEARCH webhook_messages (endpoint_id=? AND next_attempt_at_seconds<?)',
    BY_ID,
  ])
})

test('resending reads only dead messages of existing endpoints', async () => {
  const { database } = parts.store
  await database.execute("UPDATE webhook_messages SET state = 'dead', settled_at_seconds = 1")
  expect(await planOf(({ resend }) => resend(organizationId, null))).toEqual([
    'SEARCH webhook_messages (organization_id=? AND endpoint_id=? AND state=?)',
    BY_ID,
  ])
})

test.each([
  [{}, 'organization_id=?'],
  [{ state: 'dead' }, 'organization_id=? AND state=?'],
  [{ endpointId: 'x' }, 'organization_id=? AND endpoint_id=?'],
  [{ state: 'dead', endpointId: 'x' }, 'organization_id=? AND endpoint_id=? AND state=?'],
] as const)('a page by %j reads only matching messages, in order', async (filter, read) => {
  const after = [1, 'x'] as const
  expect(await planOf(({ page }) => page(organizationId, filter, { after, limit: 10 }))).toEqual([
    `SEARCH webhook_messages (${read} AND (created_at_seconds,id)<(?,?))`,
  ])
})

// Plans of statements that run while other writes wait: they find their rows by an index.
import { afterAll, expect, test } from 'bun:test'
import { SELECT_RECIPIENT } from '../../src/store/organizations/api-keys.ts'
import { ORGANIZATION_LIMITS } from '../../src/store/organizations/organization-limits.ts'
import { openTemporaryStore } from './temporary-store.ts'

const temporary = await openTemporaryStore()
afterAll(() => temporary.remove())

const WIDE = /^SCAN (?!handover|CONSTANT ROW)|\(organization_id=\?\)$/

const wideStepsOf = async (sql: string): Promise<string[]> => {
  const parameters = Array.from({ length: sql.split('?').length - 1 }, () => 'x')
  const plan = await temporary.store.database.query<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, parameters)
  expect(plan).not.toBeEmpty()
  return plan.map(({ detail }) => detail).filter((step) => WIDE.test(step))
}

const onSqlite = test.skipIf(temporary.store.kind === 'postgres')

onSqlite('the recipient of a key is found by indexes', async () => {
  expect(await wideStepsOf(SELECT_RECIPIENT)).toEqual([])
})

/** Kinds of objects whose table also contains ended objects or objects of other organizations. */
const KINDS = ['API keys', 'created accounts', 'pending approvals', 'pending approvals per administrator'] as const

onSqlite.each(KINDS)('the limit of %s reads only the counted rows', async (kind) => {
  const { text } = ORGANIZATION_LIMITS[kind].rows('x', 0, 'x')
  expect(await wideStepsOf(`SELECT COUNT(*) FROM ${text}`)).toEqual([])
})

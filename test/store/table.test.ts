// Declared tables in both databases: values keep their types, rows belong to their organization, and no text from
// callers becomes part of a statement.
import { beforeEach, describe, expect, test } from 'bun:test'
import { createAuditTable } from '../../src/store/audit.ts'
import {
  among,
  bytes,
  computed,
  flag,
  hidden,
  integer,
  json,
  nullable,
  sql,
  text,
  words,
} from '../../src/store/columns.ts'
import { databaseScope, type TableScope } from '../../src/store/copy/table-scope.ts'
import type { Database, SqlParameter } from '../../src/store/database.ts'
import { type Page, type PagePosition, queryPage } from '../../src/store/paging.ts'
import { createSessionTable } from '../../src/store/sessions/sessions.ts'
import { defineTable } from '../../src/store/table.ts'
import { BEFORE_ALL, changesSince } from './changes-since.ts'
import { describeStores } from './dialects.ts'
import { storeOfTest } from './store-of-test.ts'

const THINGS = defineTable('things', {
  id: text,
  organizationId: text,
  isOpen: flag,
  note: nullable(json<{ readonly a: number }>()),
  tags: words(),
  seal: nullable(bytes),
  size: integer,
  isLarge: computed(flag, '(CASE WHEN things.size > 100 THEN 1 ELSE 0 END)'),
  secret: hidden(nullable(text)),
})
const ANNOUNCED = THINGS.announcing('project', ({ id }) => `thing ${id}`)
const PAIRS = defineTable('pairs', { one: text, two: text, value: integer, first: nullable(integer) })

const ONE = { id: 'one', organizationId: 'org', isOpen: true, note: { a: 1 }, tags: ['x', 'y'], size: 2 ** 40 }
const ONE_READ = { ...ONE, seal: null, isLarge: true }

describeStores((openTemporaryStore) => {
  const temporary = storeOfTest(openTemporaryStore)
  let database: Database
  let scope: TableScope

  beforeEach(async () => {
    ;({ database } = temporary.store)
    const { integer: int, bytes: blob, tableEnd } = database.schemaWords
    await database.execute(
      `CREATE TABLE things (id TEXT PRIMARY KEY NOT NULL, organization_id TEXT NOT NULL, is_open ${int} NOT NULL, note TEXT,
         tags TEXT NOT NULL, seal ${blob}, size ${int} NOT NULL, secret TEXT)${tableEnd}`,
    )
    await database.execute(
      `CREATE TABLE pairs (one TEXT NOT NULL, two TEXT NOT NULL, value ${int} NOT NULL, first ${int},
         PRIMARY KEY (one, two))${tableEnd}`,
    )
    scope = databaseScope(database, temporary.clock)
  })

  describe('a row', () => {
    test('is inserted, found, changed and removed with its types', async () => {
      expect(await THINGS.insert(scope, { ...ONE, secret: 's' })).toEqual(ONE_READ)
      const one = { organizationId: 'org', id: 'one' }
      expect(await THINGS.find(scope, one)).toEqual(ONE_READ)
      expect(await THINGS.find(scope, { ...one, secret: 's' }, sql`size > ${5}`)).toEqual(ONE_READ)
      expect(await THINGS.find(scope, { ...one, secret: null })).toBeNull()
      const seal = new Uint8Array([1])
      const changed = { ...ONE_READ, note: null, seal, size: 3, isLarge: false }
      expect(await THINGS.update(scope, one, { note: null, seal, size: sql`${2} + 1`, tags: undefined })).toEqual(
        changed,
      )
      expect(await THINGS.update(scope, { ...one, id: 'two' }, { note: null })).toBeNull()
      expect(await THINGS.lock(scope, one, 'tags')).toEqual(changed)
      expect(await THINGS.updateAll(scope, { organizationId: 'org' }, { isOpen: false })).toBe(1)
      expect(await THINGS.remove(scope, one)).toEqual({ ...changed, isOpen: false })
      expect(await THINGS.remove(scope, one)).toBeNull()
    })

    test('that exists is kept by insertNew and replaced by put', async () => {
      expect(await PAIRS.insertNew(scope, { one: 'a', two: 'b', value: 1 })).toBe(true)
      expect(await PAIRS.insertNew(scope, { one: 'a', two: 'b', value: 2 })).toBe(false)
      expect(await PAIRS.find(scope, { one: 'a' })).toEqual({ one: 'a', two: 'b', value: 1, first: null })
      for (const value of [3, 4]) await PAIRS.put(scope, { one: 'a', two: 'c' }, { value }, { first: value })
      expect(await PAIRS.find(scope, { two: 'c' })).toEqual({ one: 'a', two: 'c', value: 4, first: 3 })
      expect(await PAIRS.removeAll(scope, { one: 'a' })).toBe(2)
    })
  })

  test('lists, pages and counts follow the filter and the order', async () => {
    for (const id of ['a', 'b', 'c']) await THINGS.insert(scope, { ...ONE, id, size: id === 'b' ? 1 : 2 })
    await THINGS.insert(scope, { ...ONE, id: 'd', organizationId: 'other' })
    const mine = { organizationId: 'org' }
    const ids = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id).join('')
    expect(ids(await THINGS.list(scope, mine, ['size', 'id']))).toBe('bac')
    expect(
      ids(
        await THINGS.list(scope, { ...mine, size: 2, secret: undefined }, { by: ['id'], descending: true, limit: 2 }),
      ),
    ).toBe('ca')
    expect(ids(await THINGS.everywhere.list(scope, { id: among(['a', 'd']) }, ['id'], undefined))).toBe('ad')
    expect(await THINGS.everywhere.list(scope, { id: among([]) }, ['id'])).toEqual([])
    expect(ids(await THINGS.everywhere.list(scope, {}, ['id']))).toBe('abcd')
    expect(await THINGS.count(scope, mine, sql`size < ${2}`)).toBe(1)
    const page = (after: PagePosition | null) =>
      THINGS.page(scope, mine, { by: ['size', 'id'], descending: true }, { after, limit: 2 })
    const first = await page(null)
    expect([ids(first.items), first.next]).toEqual(['ca', [2, 'a']])
    const last = await page(first.next)
    expect([ids(last.items), last.next]).toEqual(['b', null])
  })

  test('a page with a filter without an index is read in steps, and has the rows of a single statement', async () => {
    for (let at = 10; at < 30; at++) await THINGS.insert(scope, { ...ONE, id: `${at}`, size: at % 7 === 0 ? 1 : 2 })
    await THINGS.insert(scope, { ...ONE, id: '2', organizationId: 'other', size: 1 })
    const [where, parameters] = [['organization_id = ?'], ['org']]
    const read: string[] = []
    const counting = {
      query: <Row>(statement: string, given: readonly SqlParameter[] = []) => {
        read.push(statement)
        return database.query<Row>(statement, given)
      },
    }
    const found = { columns: 'id', table: 'things', where: [...where, 'size = ?'], parameters: ['org', 1] }
    const readAll = async (descending: boolean, rows: number, limit: number): Promise<readonly string[]> => {
      const query = { ...found, descending, order: ['id'], steps: { where, parameters, rows } }
      const ids: string[] = []
      let after: PagePosition | null = null
      do {
        const page: Page<string> = await queryPage(counting, query, { after, limit }, ({ id }: { id: string }) => id)
        ids.push(...page.items)
        after = page.next
      } while (after !== null)
      return ids
    }
    for (const rows of [1, 3, 8, 20, 21]) {
      for (const limit of [1, 2, 9]) {
        expect(await readAll(false, rows, limit)).toEqual(['14', '21', '28'])
        expect(await readAll(true, rows, limit)).toEqual(['28', '21', '14'])
      }
    }
    expect(read.filter((statement) => statement.includes('(id) >= (?)')).length).toBeGreaterThan(10)
    // Rows inserted during a step don't hide other rows.
    let inserted = 0
    const busy = {
      query: async <Row>(statement: string, given: readonly SqlParameter[] = []) => {
        const rows = await database.query<Row>(statement, given)
        for (let more = 0; statement.includes('OFFSET') && more < 9; more++) {
          await THINGS.insert(scope, { ...ONE, id: `${40 + inserted++}`, size: 2 })
        }
        return rows
      },
    }
    const newest = { ...found, descending: true, order: ['id'], steps: { where, parameters, rows: 3 } }
    const { items } = await queryPage(busy, newest, { after: null, limit: 9 }, ({ id }: { readonly id: string }) => id)
    expect(items).toEqual(['28', '21', '14'])
    read.length = 0
    const order = { by: ['id'], indexed: ['organizationId'] } as const
    await THINGS.page(counting, { organizationId: 'org' }, order, { after: null, limit: 2 })
    expect(read).toHaveLength(1)
    await THINGS.page(counting, { organizationId: 'org', size: 1 }, order, { after: null, limit: 2 })
    expect(read.slice(1)).toEqual([expect.stringContaining('OFFSET'), expect.not.stringContaining('OFFSET')])
  })

  test('listings of sessions and audit entries are read in steps only with filters without an index', async () => {
    const { store, clock } = temporary
    const { id: organizationId } = await store.organizations.create({ slug: 'demo', name: 'Demo' })
    const steps: string[] = []
    const queryLong: Database['query'] = (statement, parameters) => {
      if (statement.includes('OFFSET')) steps.push(statement)
      return database.query(statement, parameters)
    }
    const own = databaseScope({ ...database, queryLong }, clock)
    const sessions = createSessionTable(own)
    const page = { after: null, limit: 5 }
    const inSteps = async (read: () => Promise<unknown>): Promise<boolean> => {
      steps.length = 0
      await read()
      return steps.length > 0
    }
    for (const filter of [{ level: 2 }, { hits: 'none' }, { createdBeforeSeconds: 5, status: 'completed' }] as const) {
      expect(await inSteps(() => sessions.page({ organizationId, ...filter }, page))).toBe(true)
    }
    for (const filter of [{}, { status: 'submitted' }, { userId: 'x', level: 2 }, { hits: 'open' }] as const) {
      expect(await inSteps(() => sessions.page({ organizationId, ...filter }, page))).toBe(false)
    }
    expect(await inSteps(() => sessions.pageByHits({ organizationId }, page))).toBe(true)
    expect(await inSteps(() => createAuditTable(own).page({ organizationId, action: 'x' }, page))).toBe(true)
    expect(await inSteps(() => createAuditTable(own).page({ organizationId }, page))).toBe(false)
  })

  test('each change of an announced row is in the change feed, in order', async () => {
    const one = { organizationId: 'org', id: 'one' }
    await scope.write(async (own) => {
      await ANNOUNCED.insert(own, ONE)
      await ANNOUNCED.update(own, one, { size: 1 })
      await ANNOUNCED.quietly.update(own, one, { size: 2 })
      await ANNOUNCED.update(own, { ...one, id: 'two' }, { size: 1 })
    })
    await ANNOUNCED.remove(scope, one)
    const change = { topic: 'project', subjectId: 'thing one', organizationId: 'org' }
    expect(await changesSince(database, BEFORE_ALL)).toMatchObject([change, change, change])
  })

  describe('a statement is refused', () => {
    const HOSTILE = 'id = id OR 1=1; --'

    test('without the organization of its rows', async () => {
      for (const filter of [{ id: 'one' }, { id: 'one', organizationId: undefined }] as never[]) {
        await expect(THINGS.find(scope, filter)).rejects.toThrow(TypeError)
        await expect(THINGS.list(scope, filter, ['id'])).rejects.toThrow(TypeError)
        await expect(THINGS.update(scope, filter, { size: 1 })).rejects.toThrow(TypeError)
        await expect(THINGS.remove(scope, filter)).rejects.toThrow(TypeError)
      }
    })

    test('with an undefined value, or without a condition', async () => {
      await expect(PAIRS.find(scope, { one: undefined })).rejects.toThrow(TypeError)
      await expect(PAIRS.remove(scope, {})).rejects.toThrow(TypeError)
      await expect((async () => PAIRS.removeAll(scope, { one: 'a', two: undefined }))()).rejects.toThrow(TypeError)
    })

    test('with an undeclared name, and values are never expressions', async () => {
      const filter = { organizationId: 'org', [HOSTILE]: 1 }
      const own = { organizationId: 'org' }
      await expect(THINGS.find(scope, filter)).rejects.toThrow(TypeError)
      await expect(THINGS.update(scope, own, { [HOSTILE]: 1 } as never)).rejects.toThrow(TypeError)
      await expect(THINGS.list(scope, own, [HOSTILE as 'id'])).rejects.toThrow(TypeError)
      await expect(THINGS.find(scope, { ...own, isLarge: 1 } as never)).rejects.toThrow(TypeError)
      expect(() => defineTable('things', { [HOSTILE]: text })).toThrow(TypeError)
      // An object from a caller is not an expression.
      const forged = { text: 'IS NOT NULL', parameters: [] } as never
      await PAIRS.insert(scope, { one: 'a', two: 'b', value: 1 })
      expect(await PAIRS.find(scope, { one: forged }).catch(() => null)).toBeNull()
      expect(await PAIRS.insertNew(scope, { one: HOSTILE, two: 'b', value: 1 })).toBe(true)
      expect(await PAIRS.find(scope, { one: HOSTILE })).toMatchObject({ one: HOSTILE })
    })
  })
})

// A PostgreSQL database whose collation isn't by code point compares stored texts like SQLite, so that pages and copies
// agree.
import { afterEach, describe, expect, test } from 'bun:test'
import { systemClock } from '../../src/lib/time.ts'
import { copyTables, openCopySource, openForCopying } from '../../src/store/copy/table-copy.ts'
import { openStore } from '../../src/store/store.ts'
import { PATIENT_LIMITS, POSTGRES_MISSING, sharedPostgres, targetOf } from '../support/postgres.ts'
import { temporaryFolder } from './temporary-store.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** Sorted by code point: upper case before lower case, accents last. English sorts a, á, B, z. */
const NAMES = ['B', 'Z', 'a', 'a-b', 'aB', 'ab', 'z', 'á'] as const

const suite = POSTGRES_MISSING === null ? describe : describe.skip
suite(`a database in English${POSTGRES_MISSING === null ? '' : ` (${POSTGRES_MISSING})`}`, () => {
  test('sorts and pages texts by code point, and is copied completely', async () => {
    const server = sharedPostgres()
    const name = `english_${process.pid}`
    await server.administer(
      `CREATE DATABASE ${name} TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US' ENCODING UTF8`,
    )
    closers.push(() => server.administer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
    const target = targetOf(server.address(name))
    const store = await openStore({ target, clock: systemClock, ...PATIENT_LIMITS })
    closers.push(() => store.close())
    // The collation of the database itself.
    const [own] = await store.database.query<{ first: string }>(
      "SELECT MIN(name) AS first FROM (VALUES ('B'), ('a')) AS names (name)",
    )
    expect(own?.first).toBe('a')

    for (const text of NAMES.toReversed()) {
      await store.database.execute('INSERT INTO deployment (name, value) VALUES (?, ?)', [`test ${text}`, text])
    }
    const expected = NAMES.map((text) => ({ value: text }))
    const all = "SELECT value FROM deployment WHERE name LIKE 'test %' ORDER BY name"
    expect(await store.database.query<{ value: string }>(all)).toEqual(expected)
    const found: { value: string }[] = []
    for (let last = 'test '; found.length < NAMES.length; last = `test ${found.at(-1)?.value}`) {
      const next = "SELECT value FROM deployment WHERE name > ? AND name LIKE 'test %' ORDER BY name LIMIT 1"
      found.push(...(await store.database.query<{ value: string }>(next, [last])))
    }
    expect(found).toEqual(expected)

    const folder = temporaryFolder()
    closers.push(folder.remove)
    const from = await openCopySource(target)
    closers.push(() => from.close())
    const to = await openForCopying({ kind: 'sqlite', path: `${folder.path}/copy.db` })
    closers.push(() => to.close())
    expect((await copyTables(from, to)).map((table) => table.name)).toContain('deployment')
    expect(await to.query<{ value: string }>(all)).toEqual(expected)
  })
})

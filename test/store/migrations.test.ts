import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { systemClock } from '../../src/domain/time.ts'
import type { Database } from '../../src/store/database.ts'
import { StoreUnusableError } from '../../src/store/errors.ts'
import { MIGRATIONS, type Migration, migrate } from '../../src/store/migrations.ts'
import { openSqliteDatabase } from '../../src/store/sqlite.ts'
import { temporaryFolder } from './temporary-store.ts'

const first: Migration = {
  number: 1,
  name: 'first',
  statements: ({ integer, tableEnd }) => [`CREATE TABLE one (number ${integer} NOT NULL)${tableEnd}`],
}
const second: Migration = {
  number: 2,
  name: 'second',
  statements: () => ['ALTER TABLE one ADD COLUMN note TEXT', 'INSERT INTO one (number, note) VALUES (1, NULL)'],
}

let folder: ReturnType<typeof temporaryFolder>
let path: string
let database: Database

const tables = async (): Promise<string[]> =>
  (await database.query<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")).map(
    (row) => row.name,
  )
const history = () => database.query('SELECT number, name, applied_at_seconds FROM schema_migrations ORDER BY number')
const refusal = async (migrations: readonly Migration[]): Promise<string> => {
  const error = await migrate(database, 9, migrations).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(StoreUnusableError)
  return (error as StoreUnusableError).detail
}

beforeEach(async () => {
  folder = temporaryFolder()
  path = join(folder.path, 'test.db')
  database = await openSqliteDatabase({ path, clock: systemClock })
})
afterEach(async () => {
  await database.close()
  folder.remove()
})

describe('migrations', () => {
  test('are numbered from one without gaps', () => {
    expect(MIGRATIONS.map((migration) => migration.number)).toEqual(MIGRATIONS.map((_, index) => index + 1))
  })

  test('are applied once, in order, each when it comes', async () => {
    await migrate(database, 5, [first])
    await migrate(database, 6, [first])
    await migrate(database, 7, [first, second])
    await migrate(database, 8, [first, second])
    expect(await history()).toEqual([
      { number: 1, name: 'first', applied_at_seconds: 5 },
      { number: 2, name: 'second', applied_at_seconds: 7 },
    ])
    expect(await database.query('SELECT number, note FROM one')).toEqual([{ number: 1, note: null }])
  })

  test('are applied once by two that start together', async () => {
    const other = await openSqliteDatabase({ path, clock: systemClock })
    await Promise.all([migrate(database, 5, [first, second]), migrate(other, 5, [first, second])])
    await other.close()
    expect(await database.query('SELECT number FROM one')).toEqual([{ number: 1 }])
  })

  test('are undone whole when one of their statements fails', async () => {
    const broken: Migration = {
      ...second,
      statements: () => ['CREATE TABLE two (a TEXT)', 'INSERT INTO nowhere VALUES (1)'],
    }
    await expect(migrate(database, 5, [first, broken])).rejects.toThrow()
    expect(await tables()).toEqual(['one', 'schema_migrations'])
    await migrate(database, 6, [first, second])
    expect(await history()).toHaveLength(2)
  })

  test('of a newer version stop the start with one line, and nothing is changed', async () => {
    await migrate(database, 5, [first, second])
    const detail = await refusal([first])
    expect(detail).toContain('newer than this program (schema 2, known up to 1)')
    expect(detail).not.toContain('\n')
    expect(await history()).toHaveLength(2)
  })

  test('that were edited after they were applied stop the start', async () => {
    await migrate(database, 5, [first])
    const edited: Migration = { ...first, statements: () => ['CREATE TABLE one (number INTEGER)'] }
    expect(await refusal([edited, second])).toContain('schema 1 is not the one of this program')
    expect(await tables()).not.toContain('two')
  })

  test('write nothing when nothing is missing, so a start does not wait for a lock', async () => {
    await migrate(database, 5)
    const blocker = await openSqliteDatabase({ path, clock: systemClock })
    const release = Promise.withResolvers<void>()
    const holding = Promise.withResolvers<void>()
    const held = blocker.transaction(async (transaction) => {
      await transaction.execute('UPDATE counters SET value = value')
      holding.resolve()
      await release.promise
    })
    await holding.promise
    await migrate(database, 6)
    release.resolve()
    await held
    await blocker.close()
  })
})

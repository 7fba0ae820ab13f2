// Reads and hashes of whole tables: each row once in order, and a different hash for different content.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { systemClock } from '../../src/lib/time.ts'
import { createContentHash, readRows } from '../../src/store/copy/table-content.ts'
import type { Database, SqlValue } from '../../src/store/database.ts'
import { openSqliteDatabase } from '../../src/store/sqlite/sqlite.ts'
import { temporaryFolder } from './temporary-store.ts'

const TABLE = { name: 'items', columns: ['one', 'two'], key: ['one', 'two'] }

const hashOf = (...rows: readonly (readonly [SqlValue, SqlValue])[]): string => {
  const content = createContentHash(TABLE)
  for (const [one, two] of rows) content.add({ one, two })
  return content.result().sha256
}

test('the hash depends on the type, the length and the position of values', () => {
  const different = [
    hashOf(['ab', null]),
    hashOf([Buffer.from('ab'), null]),
    hashOf(['a', 'b']),
    hashOf(['b', 'a']),
    hashOf(['', 'ab']),
    hashOf([1, 2]),
    hashOf(['1', '2']),
    hashOf([12, null]),
    hashOf([null, null]),
    hashOf([null, null], [null, null]),
    hashOf(),
  ]
  expect(new Set(different).size).toBe(different.length)
  expect(hashOf([1, 'x'])).toBe(hashOf([1n, 'x']))
})

describe('rows', () => {
  let folder: ReturnType<typeof temporaryFolder>
  let database: Database
  beforeEach(async () => {
    folder = temporaryFolder()
    database = await openSqliteDatabase({ path: join(folder.path, 'rows.db'), clock: systemClock })
    await database.execute('CREATE TABLE items (one INTEGER NOT NULL, two TEXT NOT NULL) STRICT')
  })
  afterEach(async () => {
    await database.close()
    folder.remove()
  })

  // A batch has 250 rows.
  test.each([0, 1, 249, 250, 251, 500, 501])('are each read once, in the order of the key: %i', async (count) => {
    const values = Array.from({ length: count }, (_, number) => [Math.floor(number / 3), `t${number % 3}`] as const)
    await database.transaction(async (transaction) => {
      for (const [one, two] of values.toReversed()) {
        await transaction.execute('INSERT INTO items (one, two) VALUES (?, ?)', [one, two])
      }
    })
    const read: unknown[] = []
    for await (const rows of readRows(database, TABLE)) {
      read.push(...rows.map(({ one, two }) => [Number(one), two]))
      // A further batch would mean an endless loop.
      if (read.length > count) break
    }
    expect(read).toEqual(values.map((value) => [...value]))
  })
})

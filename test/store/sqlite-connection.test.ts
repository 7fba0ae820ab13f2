// Differences between the reading connection and the writing one.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { systemClock } from '../../src/lib/time.ts'
import { openSqliteDatabase } from '../../src/store/sqlite/sqlite.ts'
import { openSqliteConnection } from '../../src/store/sqlite/sqlite-connection.ts'
import { temporaryFolder } from './temporary-store.ts'

let folder: ReturnType<typeof temporaryFolder>
let path: string
beforeEach(async () => {
  folder = temporaryFolder()
  path = join(folder.path, 'test.db')
  const database = await openSqliteDatabase({ path, clock: systemClock })
  await database.execute('CREATE TABLE items (name TEXT PRIMARY KEY NOT NULL) STRICT')
  await database.close()
})
afterEach(() => folder.remove())

test('the reader refuses writes, the writer does not, and neither uses memory mapping', () => {
  for (const readOnly of [true, false]) {
    const connection = openSqliteConnection(path, readOnly)
    const [mapped] = connection.all<{ mmap_size: number }>('PRAGMA mmap_size')
    expect(mapped?.mmap_size).toBe(0)
    const write = () => connection.run("INSERT INTO items (name) VALUES ('a')")
    if (readOnly) expect(write).toThrow()
    else expect(write()).toBe(1)
    connection.close()
  }
})

test('the reader sees rows that were written after its last read', async () => {
  const reader = openSqliteConnection(path, true)
  const database = await openSqliteDatabase({ path, clock: systemClock })
  const count = () => reader.all<{ count: number }>('SELECT COUNT(*) AS count FROM items')[0]?.count
  for (let rows = 0; rows < 20; rows++) {
    expect(count()).toBe(rows)
    await database.execute('INSERT INTO items (name) VALUES (?)', [`${rows} ${'x'.repeat(2_000)}`])
  }
  await database.close()
  expect(count()).toBe(20)
  reader.close()
})

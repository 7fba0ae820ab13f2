// Long reads of a SQLite store, on a separate thread, return the same rows and errors as other reads.
import { afterAll, expect, test } from 'bun:test'
import { StoreStatementError, StoreUnavailableError } from '../../src/store/errors.ts'
import { openSqliteDatabase } from '../../src/store/sqlite/sqlite.ts'
import { createManualClock, temporaryFolder } from './temporary-store.ts'

const folder = temporaryFolder()
afterAll(folder.remove)
let files = 0
const open = async (longReads: 'inline' | 'separate-thread' = 'separate-thread') => {
  files += 1
  const database = await openSqliteDatabase({
    path: `${folder.path}/${files}.db`,
    clock: createManualClock(),
    longReads,
  })
  await database.transaction(async ({ execute }) => {
    await execute('CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT, content BLOB) STRICT')
    await execute("INSERT INTO things VALUES (9007199254740993, 'x', X'01ff'), (2, NULL, NULL)")
  })
  return database
}
const EVERYTHING = 'SELECT * FROM things WHERE id > ? ORDER BY id'

test('long reads return the same rows as a read, including earlier commits', async () => {
  const database = await open()
  expect(await database.queryLong?.(EVERYTHING, [0])).toEqual(await database.query(EVERYTHING, [0]))
  await database.execute('INSERT INTO things (id) VALUES (3)')
  expect(await database.queryLong?.('SELECT id FROM things WHERE id = ?', [3])).toEqual([{ id: 3 }])
  await database.close()
})

test('long reads cannot write, and fail like other reads', async () => {
  const database = await open()
  await expect(database.queryLong?.('SELECT * FROM others')).rejects.toBeInstanceOf(StoreStatementError)
  await expect(database.queryLong?.('DELETE FROM things')).rejects.toBeInstanceOf(StoreUnavailableError)
  expect(await database.query(EVERYTHING, [0])).toHaveLength(2)
  await database.close()
})

test('a transaction has no long reads', async () => {
  const database = await open()
  await database.transaction(async (transaction) => expect(transaction.queryLong).toBeUndefined())
  await database.close()
})

test('close() waits for the running long read and rejects queued long reads', async () => {
  const database = await open()
  const reads = Array.from({ length: 20 }, () => database.queryLong?.(EVERYTHING, [0]))
  await Promise.resolve()
  const closed = database.close()
  const [running, ...waiting] = await Promise.allSettled(reads)
  expect(running).toMatchObject({ status: 'fulfilled', value: [{ id: 2 }, { id: 9007199254740993n }] })
  for (const { status } of waiting) expect(status).toBe('rejected')
  await closed
  await expect(database.queryLong?.(EVERYTHING, [0])).rejects.toThrow()
})

test('a store without the thread has no long reads', async () => {
  const database = await open('inline')
  expect(database.queryLong).toBeUndefined()
  await database.close()
})

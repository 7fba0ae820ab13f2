// Organizations take turns in the queue of writes to SQLite.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { runFor } from '../../src/lib/caller.ts'
import { systemClock } from '../../src/lib/time.ts'
import type { Database, TransactionOptions } from '../../src/store/database.ts'
import { openSqliteDatabase } from '../../src/store/sqlite/sqlite.ts'
import { temporaryFolder } from './temporary-store.ts'

const QUEUED_MAX = 1_000

let folder: ReturnType<typeof temporaryFolder>
let database: Database
let written: string[]
beforeEach(async () => {
  folder = temporaryFolder()
  written = []
  const path = join(folder.path, 'test.db')
  database = await openSqliteDatabase({ path, clock: systemClock, maximumQueued: QUEUED_MAX })
  await database.execute('CREATE TABLE items (name TEXT NOT NULL) STRICT')
})
afterEach(async () => {
  await database.close()
  folder.remove()
})

const write = (owner: string, options?: TransactionOptions): Promise<void> =>
  runFor({ owner, signal: null }, async () => {
    await database.execute('INSERT INTO items (name) VALUES (?)', [owner], options)
    written.push(owner)
  })

/** A full queue of one organization. */
const flood = () => Promise.all(Array.from({ length: QUEUED_MAX }, () => write('A')))

test('a full queue of one organization neither refuses nor delays the write of another organization', async () => {
  const waiting = flood()
  await expect(write('A')).rejects.toThrow('store')
  await write('B')
  expect(written.length).toBeLessThan(200)
  await waiting
})

test('claims do not wait for writes of their own organization, and writes of requests do not wait for all claims', async () => {
  const waiting = flood()
  const claims = Array.from({ length: 100 }, () =>
    write('A', { survives: 'process-crash', queue: 'claim', owner: 'A' }),
  )
  await claims[0]
  expect(written.length).toBeLessThan(200)
  await Promise.all([waiting, ...claims])
})

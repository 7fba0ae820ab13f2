// A separate thread moves committed pages to the database file.
import { Database as BunDatabase } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { closeSync, existsSync, mkdirSync, openSync, readSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../src/lib/time.ts'
import { startCheckpoints } from '../../src/store/sqlite/checkpoints.ts'
import { openSqliteDatabase } from '../../src/store/sqlite/sqlite.ts'
import { LOG_KEPT_BYTES } from '../../src/store/sqlite/write-ahead-log.ts'
import { until } from '../support/until.ts'
import { temporaryFolder } from './temporary-store.ts'

let folder: ReturnType<typeof temporaryFolder>
let path: string

beforeEach(() => {
  folder = temporaryFolder()
  path = join(folder.path, 'test.db')
})
afterEach(() => folder.remove())

const PAYLOAD = 'x'.repeat(2_000)
/** Fewer pages than the threshold at which a commit moves pages itself. */
const COMMITS = 300

const fileBytes = (): number => statSync(path).size

const fill = async (checkpoints: 'by-commits' | 'separate-thread') => {
  const database = await openSqliteDatabase({ path, clock: systemClock, checkpoints })
  await database.execute('CREATE TABLE items (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT')
  for (let id = 0; id < COMMITS; id++) {
    await database.execute('INSERT INTO items VALUES (?, ?)', [id, PAYLOAD], { survives: 'process-crash' })
  }
  return database
}

test('the thread moves committed pages while the database is open', async () => {
  const database = await fill('separate-thread')
  try {
    await until(() => fileBytes() > (COMMITS * PAYLOAD.length) / 2, { limitMs: 50_000 })
    const [row] = await database.query<{ there: number }>('SELECT COUNT(*) AS there FROM items')
    expect(row?.there).toBe(COMMITS)
  } finally {
    await database.close()
  }
}, 60_000)

test('without the thread, pages are not moved as early', async () => {
  const database = await fill('by-commits')
  expect(fileBytes()).toBeLessThan((COMMITS * PAYLOAD.length) / 2)
  await database.close()
})

test('close() stops the thread and leaves one complete file', async () => {
  await (await fill('separate-thread')).close()
  expect(existsSync(`${path}-wal`)).toBe(false)
  const plain = new BunDatabase(path, { readonly: true })
  expect(plain.query<{ there: number }, []>('SELECT COUNT(*) AS there FROM items').get()).toEqual({ there: COMMITS })
  plain.close()
})

/** Number of restarts of the log. Source: https://sqlite.org/fileformat2.html#walformat. */
const logSequence = (): number => {
  const header = Buffer.alloc(32)
  const descriptor = openSync(`${path}-wal`, 'r')
  try {
    readSync(descriptor, header, 0, header.length, 0)
  } finally {
    closeSync(descriptor)
  }
  return header.readUInt32BE(12)
}

test('the thread itself makes the first commit after moving all pages, so that requests do not wait for the disk', async () => {
  const database = await openSqliteDatabase({ path, clock: systemClock, checkpoints: 'separate-thread' })
  try {
    let first = 0
    await database.transaction(async (transaction) => {
      await transaction.execute('CREATE TABLE items (id INTEGER PRIMARY KEY) STRICT')
      // While this transaction writes, the log is not restarted.
      first = logSequence()
    })
    await until(() => logSequence() !== first, { limitMs: 50_000 })
  } finally {
    await database.close()
  }
}, 60_000)

/** Size of the log file after the restart of a log of at least this size. */
const sizeAfter = async (logBytes: number): Promise<number> => {
  const database = await openSqliteDatabase({ path, clock: systemClock, checkpoints: 'separate-thread' })
  try {
    await database.execute('CREATE TABLE items (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT')
    let first = 0
    await database.transaction(
      async (transaction) => {
        for (let written = 0; written <= logBytes; written += 4_194_304) {
          await transaction.execute('INSERT INTO items (bytes) VALUES (zeroblob(4194304))')
        }
        // The log now exceeds the cache, and is not restarted before the commit.
        first = logSequence()
      },
      { survives: 'process-crash' },
    )
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(logBytes)
    await until(() => logSequence() !== first, { limitMs: 50_000 })
    return statSync(`${path}-wal`).size
  } finally {
    await database.close()
  }
}

test('a restarted log keeps its size up to a limit, beyond which it is truncated', async () => {
  expect(await sizeAfter(LOG_KEPT_BYTES / 2)).toBeGreaterThan(LOG_KEPT_BYTES / 2)
  rmSync(folder.path, { recursive: true })
  mkdirSync(folder.path)
  expect(await sizeAfter(LOG_KEPT_BYTES)).toBe(LOG_KEPT_BYTES)
}, 60_000)

test('the exit of the thread is reported once', async () => {
  const lost = Promise.withResolvers<void>()
  let reports = 0
  const checkpoints = startCheckpoints(join(folder.path, 'missing', 'test.db'), () => {
    reports += 1
    lost.resolve()
  })
  await lost.promise
  await checkpoints.stop()
  expect(reports).toBe(1)
})

// Behavior of the store on SQLite only: one writer, locked files, a full disk, and the file itself.
import { Database as BunDatabase } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { chmodSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../src/lib/time.ts'
import type { Database, Transaction } from '../../src/store/database.ts'
import { StoreUnavailableError, StoreUnusableError } from '../../src/store/errors.ts'
import { openSqliteDatabase } from '../../src/store/sqlite/sqlite.ts'
import { openSqliteConnection } from '../../src/store/sqlite/sqlite-connection.ts'
import { createManualClock, temporaryFolder } from './temporary-store.ts'

let folder: ReturnType<typeof temporaryFolder>
let path: string
let database: Database

const names = async (): Promise<string[]> =>
  (await database.query<{ name: string }>('SELECT name FROM items ORDER BY name')).map((row) => row.name)
const insert = (transaction: Pick<Transaction, 'execute'>, name: string): Promise<number> =>
  transaction.execute('INSERT INTO items (name) VALUES (?)', [name])

beforeEach(async () => {
  folder = temporaryFolder()
  path = join(folder.path, 'test.db')
  database = await openSqliteDatabase({ path, clock: systemClock })
  await database.execute('CREATE TABLE items (name TEXT PRIMARY KEY NOT NULL, number INTEGER, bytes BLOB) STRICT')
})
afterEach(async () => {
  await database.close()
  folder.remove()
})

test('large numbers are bound as integers', async () => {
  expect(await database.query('SELECT typeof(?) AS type', [2 ** 40])).toEqual([{ type: 'integer' }])
})

describe('a transaction', () => {
  test('does not include other statements while its work waits', async () => {
    const inside = Promise.withResolvers<void>()
    const proceed = Promise.withResolvers<void>()
    const order: string[] = []
    const first = database.transaction(async (transaction) => {
      await insert(transaction, 'first')
      inside.resolve()
      await proceed.promise
      order.push('first')
      throw new Error('undone')
    })
    await inside.promise
    const second = insert(database, 'second').then(() => order.push('second'))
    const third = database.transaction(async (transaction) => {
      order.push('third')
      await insert(transaction, 'third')
    })
    // Reads continue, and return only committed rows.
    expect(await names()).toEqual([])
    expect(order).toEqual([])
    proceed.resolve()
    await expect(first).rejects.toThrow('undone')
    await Promise.all([second, third])
    expect(order[0]).toBe('first')
    expect(await names()).toEqual(['second', 'third'])
  })

  test('runs in the order of the calls', async () => {
    const order: number[] = []
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        database.transaction(async (transaction) => {
          await transaction.query('SELECT 1 AS one')
          if (index % 3 === 0) await new Promise((resolve) => setImmediate(resolve))
          order.push(index)
        }),
      ),
    )
    expect(order).toEqual(Array.from({ length: 20 }, (_, index) => index))
  })

  test('lets the event loop run while many are queued', async () => {
    let turns = 0
    let done = false
    const turn = (): void => {
      turns++
      if (!done) setImmediate(turn)
    }
    setImmediate(turn)
    const started = performance.now()
    await Promise.all(
      Array.from({ length: 1_500 }, (_, index) =>
        database.transaction((transaction) => insert(transaction, String(index)), { survives: 'process-crash' }),
      ),
    )
    done = true
    // One turn per 5 ms of work. A tenth of that is enough on a slow machine.
    expect(turns).toBeGreaterThan((performance.now() - started) / 5 / 10)
    expect(turns).toBeGreaterThan(1)
  })
})

test('a full disk fails writes but not reads, and writes succeed again when there is space', async () => {
  await insert(database, 'before')
  // At this limit, SQLite returns SQLITE_FULL, as for a full disk.
  const limitPages = (pages: number) =>
    database.transaction((transaction) => transaction.query(`PRAGMA max_page_count = ${pages}`))
  await limitPages(1)
  const write = () => insert(database, 'x'.repeat(100_000))
  await expect(write()).rejects.toBeInstanceOf(StoreUnavailableError)
  await expect(write()).rejects.toBeInstanceOf(StoreUnavailableError)
  expect(await names()).toEqual(['before'])
  await limitPages(1_000_000)
  expect([await write(), (await names()).length]).toEqual([1, 2])
})

describe('a locked file', () => {
  test('is retried without blocking the thread, and queued calls fail after their own time limits', async () => {
    const clock = createManualClock()
    const waits: number[] = []
    const waiting = await openSqliteDatabase({
      path,
      clock,
      lockLimitMs: 3_000,
      wait: async (milliseconds) => {
        waits.push(milliseconds)
        clock.advance(milliseconds / 1000)
      },
    })
    const other = new BunDatabase(path)
    other.run('BEGIN IMMEDIATE')
    const started = performance.now()
    const attempts = Promise.allSettled(Array.from({ length: 5 }, (_, index) => insert(waiting, String(index))))
    // The first attempt was made on this thread.
    expect(performance.now() - started).toBeLessThan(50)
    for (const result of await attempts) {
      const reason = { name: 'StoreUnavailableError', code: 'DEPENDENCY_UNAVAILABLE', retryAfterSeconds: 1 }
      expect(result).toMatchObject({ status: 'rejected', reason })
    }
    expect(waits.length).toBeGreaterThan(50)
    expect(Math.max(...waits)).toBeLessThanOrEqual(50)
    // All five time limits run at once.
    expect(clock.monotonicMs()).toBeWithin(2_900, 3_001)
    other.run('ROLLBACK')
    other.close()
    expect(await insert(waiting, 'free')).toBe(1)
    await waiting.close()
  })

  test('is written after the lock is released, and can be read before', async () => {
    const other = new BunDatabase(path)
    other.run('BEGIN IMMEDIATE')
    other.run("INSERT INTO items (name) VALUES ('theirs')")
    let tries = 0
    const waiting = await openSqliteDatabase({
      path,
      clock: createManualClock(),
      wait: async () => {
        tries++
        expect(await names()).toEqual([])
        if (tries === 3) other.run('COMMIT')
      },
    })
    expect(await insert(waiting, 'ours')).toBe(1)
    expect(tries).toBe(3)
    expect(await names()).toEqual(['ours', 'theirs'])
    other.close()
    await waiting.close()
  })

  test('refuses calls at once if the queue is full', async () => {
    const small = await openSqliteDatabase({ path, clock: systemClock, maximumQueued: 2 })
    const results = await Promise.allSettled(['a', 'b', 'c'].map((name) => insert(small, name)))
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    expect(await insert(small, 'd')).toBe(1)
    await small.close()
  })
})

describe('the file', () => {
  test('is private to its owner, as are its log and index', async () => {
    await insert(database, 'a')
    for (const suffix of ['', '-wal', '-shm']) expect(statSync(path + suffix).mode & 0o777).toBe(0o600)
  })

  test('is made private if it was readable by others', async () => {
    const open = join(folder.path, 'open.db')
    writeFileSync(open, '')
    chmodSync(open, 0o644)
    const other = await openSqliteDatabase({ path: open, clock: systemClock })
    expect(statSync(open).mode & 0o777).toBe(0o600)
    await other.close()
  })

  test('that is not a database is refused with one line', async () => {
    const wrong = join(folder.path, 'wrong.db')
    writeFileSync(wrong, 'no database at all, '.repeat(1_000))
    const error = await openSqliteDatabase({ path: wrong, clock: systemClock }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(StoreUnusableError)
    expect((error as StoreUnusableError).detail).not.toContain('\n')
    await expect(
      openSqliteDatabase({ path: join(folder.path, 'missing', 'x.db'), clock: systemClock }),
    ).rejects.toBeInstanceOf(StoreUnusableError)
  })

  test('has the required pragmas', async () => {
    const pragma = async (name: string) =>
      Object.values((await database.query<Record<string, unknown>>(`PRAGMA ${name}`))[0] ?? {})[0]
    const pragmas = [await pragma('journal_mode'), await pragma('foreign_keys'), await pragma('trusted_schema')]
    expect(pragmas).toEqual(['wal', 1, 0])
    const written = async (survives: 'power-loss' | 'process-crash') =>
      database.transaction(
        async (transaction) => (await transaction.query<{ synchronous: number }>('PRAGMA synchronous'))[0]?.synchronous,
        { survives },
      )
    // 2 is FULL, with which each commit waits for the disk. 1 is NORMAL.
    const levels = [await written('power-loss'), await written('process-crash'), await written('power-loss')]
    expect(levels).toEqual([2, 1, 2])
  })
})

describe('a connection', () => {
  test('for reads refuses writes, a connection for writes does not, and neither uses memory mapping', () => {
    for (const readOnly of [true, false]) {
      const connection = openSqliteConnection(path, readOnly)
      expect(connection.all('PRAGMA mmap_size')).toEqual([{ mmap_size: 0 }])
      const write = () => connection.run("INSERT INTO items (name) VALUES ('a')")
      if (readOnly) expect(write).toThrow()
      else expect(write()).toBe(1)
      connection.close()
    }
  })

  test('for reads returns rows that were written after its last read', async () => {
    const reader = openSqliteConnection(path, true)
    const count = () => reader.all<{ count: number }>('SELECT COUNT(*) AS count FROM items')[0]?.count
    for (let rows = 0; rows < 20; rows++) {
      expect(count()).toBe(rows)
      await insert(database, `${rows} ${'x'.repeat(2_000)}`)
    }
    expect(count()).toBe(20)
    reader.close()
  })
})

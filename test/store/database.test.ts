// Behavior of every implementation of the database interface.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { systemClock } from '../../src/lib/time.ts'
import type { Database, Transaction } from '../../src/store/database.ts'
import {
  ConstraintViolatedError,
  StoreStatementError,
  StoreUnavailableError,
  TransactionMisuseError,
} from '../../src/store/errors.ts'
import { type DatabasePlace, describeDatabases } from './dialects.ts'

const insert = (transaction: Pick<Transaction, 'execute'>, name: string): Promise<number> =>
  transaction.execute('INSERT INTO items (name) VALUES (?)', [name])

describeDatabases((dialect) => {
  let place: DatabasePlace
  let database: Database

  const names = async (): Promise<string[]> =>
    (await database.query<{ name: string }>('SELECT name FROM items ORDER BY name')).map((row) => row.name)

  beforeEach(async () => {
    place = await dialect.createPlace()
    database = await place.open({ clock: systemClock })
    const { integer, bytes, tableEnd } = database.schemaWords
    await database.execute(
      `CREATE TABLE items (name TEXT PRIMARY KEY NOT NULL, number ${integer}, bytes ${bytes})${tableEnd}`,
    )
  })
  afterEach(async () => {
    await database.close()
    await place.remove()
  })

  describe('values', () => {
    test('integers of 64 bits are not rounded', async () => {
      const small = [0, -1, 2 ** 31, 2 ** 40, Number.MAX_SAFE_INTEGER]
      const numbers = [...small, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 63n), 2n ** 63n - 1n]
      for (const [index, number] of numbers.entries()) {
        await database.execute('INSERT INTO items (name, number) VALUES (?, ?)', [String(index), number])
      }
      const rows = await database.query<{ number: number | bigint; text: string }>(
        'SELECT number, CAST(number AS TEXT) AS text FROM items ORDER BY name',
      )
      expect(rows.map((row) => row.number)).toEqual(numbers)
      expect(rows.map((row) => row.text)).toEqual(numbers.map(String))
    })

    test('a number that is not a safe integer is refused', async () => {
      const store = (number: number | bigint) =>
        database.execute('INSERT INTO items (name, number) VALUES (?, ?)', ['a', number])
      for (const number of [2 ** 53, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
        await expect(store(number)).rejects.toBeInstanceOf(StoreStatementError)
      }
      await expect(store(2n ** 63n)).rejects.toBeInstanceOf(RangeError)
      expect(await names()).toEqual([])
    })

    test('bytes and nulls are read as they were written', async () => {
      const bytes = new Uint8Array([0, 255, 128])
      await database.execute('INSERT INTO items (name, bytes) VALUES (?, ?)', ['a', bytes])
      expect(await database.query('SELECT number, bytes FROM items')).toEqual([{ number: null, bytes }])
    })

    test('a missing or surplus parameter is refused', async () => {
      await expect(database.query('SELECT ? AS a, ? AS b', [1])).rejects.toThrow()
      await expect(database.query('SELECT ? AS a', [1, 2])).rejects.toThrow()
    })
  })

  describe('a transaction', () => {
    test('commits its changes, and returns its result', async () => {
      const result = await database.transaction(async (transaction) => {
        expect(await insert(transaction, 'a')).toBe(1)
        return transaction.query('SELECT name FROM items')
      })
      expect(result).toEqual([{ name: 'a' }])
      expect(await names()).toEqual(['a'])
    })

    test('is rolled back if its work throws, before or after an await', async () => {
      const early = database.transaction((transaction) => {
        insert(transaction, 'a').catch(() => undefined)
        throw new Error('early')
      })
      await expect(early).rejects.toThrow('early')
      const late = database.transaction(async (transaction) => {
        await insert(transaction, 'b')
        await new Promise((resolve) => setImmediate(resolve))
        throw new Error('late')
      })
      await expect(late).rejects.toThrow('late')
      expect(await names()).toEqual([])
    })

    test('cannot use the database outside its handle, because this would be a deadlock', async () => {
      const nested = database.transaction(async (transaction) => {
        await insert(transaction, 'outer')
        await database.transaction((inner) => insert(inner, 'inner'))
      })
      await expect(nested).rejects.toBeInstanceOf(TransactionMisuseError)
      const reading = database.transaction(async () => {
        await names()
      })
      await expect(reading).rejects.toBeInstanceOf(TransactionMisuseError)
      expect(await names()).toEqual([])
    })

    test('lets later work that it started use the database', async () => {
      const ended = Promise.withResolvers<void>()
      let read: Promise<string[]> | undefined
      await database.transaction(async (transaction) => {
        await insert(transaction, 'a')
        read = ended.promise.then(names)
      })
      ended.resolve()
      expect(await read).toEqual(['a'])
    })

    test('has a handle that is unusable after the transaction ends', async () => {
      let kept: Transaction | undefined
      await database.transaction(async (transaction) => {
        kept = transaction
      })
      for (const late of [() => insert(kept!, 'late'), () => kept!.query('SELECT name FROM items')]) {
        await expect(late()).rejects.toBeInstanceOf(TransactionMisuseError)
      }
      expect(await names()).toEqual([])
    })

    test('is rolled back after a failed statement, even if the error is caught', async () => {
      await insert(database, 'taken')
      const failing = database.transaction(async (transaction) => {
        await insert(transaction, 'other')
        await insert(transaction, 'taken').catch(() => undefined)
      })
      await expect(failing).rejects.toMatchObject({ name: 'ConstraintViolatedError', constraint: 'unique' })
      expect(await names()).toEqual(['taken'])
    })

    test('is rolled back after its time limit, and the next one runs', async () => {
      const impatient = await place.open({ clock: systemClock, transactionLimitMs: 50 })
      let late: Promise<number> | undefined
      const never = Promise.withResolvers<void>()
      const slow = impatient.transaction(async (transaction) => {
        await insert(transaction, 'slow')
        await never.promise
        late = insert(transaction, 'late')
        await late
      })
      await expect(slow).rejects.toBeInstanceOf(StoreUnavailableError)
      never.resolve()
      await new Promise((resolve) => setImmediate(resolve))
      await expect(late!).rejects.toBeInstanceOf(TransactionMisuseError)
      await insert(impatient, 'next')
      expect(await names()).toEqual(['next'])
      await impatient.close()
    })
  })

  describe('errors', () => {
    test('contain the kind of constraint but no value', async () => {
      const { integer, tableEnd } = database.schemaWords
      await database.execute(
        `CREATE TABLE parts (item TEXT REFERENCES items (name), size ${integer} CHECK (size > 0))${tableEnd}`,
      )
      const attempt = async (sql: string): Promise<unknown> => database.execute(sql).catch((error: unknown) => error)
      for (const [sql, constraint] of [
        ["INSERT INTO parts (item) VALUES ('missing')", 'foreign-key'],
        ['INSERT INTO parts (size) VALUES (-5)', 'check'],
        ['INSERT INTO items (name) VALUES (NULL)', 'not-null'],
        ["INSERT INTO items (name, number) VALUES ('a', 'b')", 'type'],
      ] as const) {
        expect(await attempt(sql)).toMatchObject({ constraint })
      }
      const error = await attempt("INSERT INTO parts (item) VALUES ('missing')")
      expect(error).toBeInstanceOf(ConstraintViolatedError)
      expect((error as ConstraintViolatedError).message).not.toContain('missing')
    })

    test('an invalid statement is a statement error, not an outage', async () => {
      await expect(database.query('SELEC 1')).rejects.toBeInstanceOf(StoreStatementError)
    })

    test('a write with query() outside a transaction is refused', async () => {
      await expect(database.query("INSERT INTO items (name) VALUES ('a') RETURNING name")).rejects.toThrow()
      expect(await names()).toEqual([])
    })

    test('calls after close() fail, and earlier calls are completed', async () => {
      const pending = insert(database, 'before')
      await database.close()
      expect(await pending).toBe(1)
      await expect(names()).rejects.toBeInstanceOf(StoreUnavailableError)
      await expect(insert(database, 'after')).rejects.toBeInstanceOf(StoreUnavailableError)
      await database.close()
    })
  })
})

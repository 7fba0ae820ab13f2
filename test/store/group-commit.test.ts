// Transactions that share a commit have the same effects and results as sequential transactions.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import fc from 'fast-check'
import { createSerialQueue } from '../../src/lib/serial-queue.ts'
import { systemClock } from '../../src/lib/time.ts'
import type { Database, Transaction } from '../../src/store/database.ts'
import { StoreUnavailableError } from '../../src/store/errors.ts'
import { openSqliteDatabase } from '../../src/store/sqlite/sqlite.ts'
import { openSqliteConnection, type SqliteConnection } from '../../src/store/sqlite/sqlite-connection.ts'
import { createTransactionRunner, type WaitingTransaction } from '../../src/store/sqlite/sqlite-transactions.ts'
import { temporaryFolder } from './temporary-store.ts'

const TABLE = 'CREATE TABLE items (name TEXT PRIMARY KEY NOT NULL, number INTEGER NOT NULL) STRICT'
const insert = (transaction: Pick<Transaction, 'execute'>, name: string, number = 0): Promise<number> =>
  transaction.execute('INSERT INTO items (name, number) VALUES (?, ?)', [name, number])
const eventLoopTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

let folder: ReturnType<typeof temporaryFolder>
let path: string
beforeEach(() => {
  folder = temporaryFolder()
  path = join(folder.path, 'test.db')
})
afterEach(() => folder.remove())

type Step =
  | { readonly kind: 'insert' | 'insert-and-catch'; readonly name: string }
  /** Depends on the rows of earlier steps. */
  | { readonly kind: 'write-sum'; readonly name: string }
  | { readonly kind: 'delete'; readonly name: string }
  | { readonly kind: 'wait' }
  | { readonly kind: 'throw' }

interface Plan {
  /** A name is inserted by a single statement, without a transaction function. */
  readonly steps: readonly Step[] | string
  readonly survives: 'power-loss' | 'process-crash'
}

const performStep = async (transaction: Transaction, step: Step): Promise<void> => {
  if (step.kind === 'wait') return eventLoopTurn()
  if (step.kind === 'throw') throw new RangeError('thrown by the work')
  if (step.kind === 'insert') return void (await insert(transaction, step.name, 1))
  if (step.kind === 'insert-and-catch') return void (await insert(transaction, step.name, 2).catch(() => undefined))
  if (step.kind === 'delete') return void (await transaction.execute('DELETE FROM items WHERE name = ?', [step.name]))
  const [row] = await transaction.query<{ sum: number }>('SELECT COALESCE(SUM(number), 0) + 1 AS sum FROM items')
  await transaction.execute('UPDATE items SET number = ? WHERE name = ?', [row?.sum ?? 0, step.name])
}

const start = (database: Database, { steps, survives }: Plan): Promise<string> => {
  if (typeof steps === 'string') {
    return database
      .execute('INSERT INTO items (name, number) VALUES (?, ?)', [steps, 3], { survives })
      .then(String, (error: Error) => error.name)
  }
  return database
    .transaction(
      async (transaction) => {
        for (const step of steps) await performStep(transaction, step)
        const rows = await transaction.query<{ name: string }>('SELECT name FROM items ORDER BY name')
        return rows.map(({ name }) => name).join()
      },
      { survives },
    )
    .catch((error: Error) => error.name)
}

const content = (database: Database) => database.query('SELECT name, number FROM items ORDER BY name')

const names = fc.constantFrom('a', 'b', 'c', 'd')
const plans: fc.Arbitrary<Plan> = fc.record({
  survives: fc.constantFrom('power-loss', 'process-crash', 'process-crash', 'process-crash'),
  steps: fc.oneof(
    { weight: 1, arbitrary: names },
    {
      weight: 2,
      arbitrary: fc.array(
        fc.oneof(
          fc.record({ kind: fc.constantFrom('insert', 'insert-and-catch', 'write-sum', 'delete'), name: names }),
          fc.constantFrom({ kind: 'wait' }, { kind: 'throw' }),
        ) as fc.Arbitrary<Step>,
        { maxLength: 5 },
      ),
    },
  ),
})

test('grouped transactions have the effects and results of sequential transactions', async () => {
  const together = await openSqliteDatabase({ path, clock: systemClock })
  const apart = await openSqliteDatabase({ path: join(folder.path, 'apart.db'), clock: systemClock })
  for (const database of [together, apart]) await database.execute(TABLE)
  await fc.assert(
    fc.asyncProperty(fc.array(plans, { minLength: 1, maxLength: 12 }), async (transactions) => {
      for (const database of [together, apart]) await database.execute('DELETE FROM items')
      const grouped = await Promise.all(transactions.map((plan) => start(together, plan)))
      const alone: string[] = []
      for (const plan of transactions) alone.push(await start(apart, plan))
      expect(grouped).toEqual(alone)
      expect(await content(together)).toEqual(await content(apart))
    }),
    { numRuns: 150 },
  )
  await together.close()
  await apart.close()
})

describe('a group on the connection', () => {
  let statements: string[]
  let refuse: (sql: string) => boolean
  let connection: SqliteConnection
  let committed: number

  /** A connection that records its statements and rejects the refused statements. */
  const watched = (real: SqliteConnection): SqliteConnection => ({
    get inTransaction() {
      return real.inTransaction
    },
    all: real.all,
    run: (sql, parameters) => {
      if (refuse(sql)) throw new StoreUnavailableError(new Error('refused'))
      if (!sql.startsWith('PRAGMA')) statements.push(sql.split(' ')[0] ?? '')
      return real.run(sql, parameters)
    },
    close: real.close,
  })

  beforeEach(async () => {
    const made = await openSqliteDatabase({ path, clock: systemClock })
    await made.execute(TABLE)
    await made.close()
    statements = []
    refuse = () => false
    committed = 0
    connection = openSqliteConnection(path, false)
  })
  afterEach(() => connection.close())

  const names = (): string[] =>
    connection.all<{ name: string }>('SELECT name FROM items ORDER BY name').map(({ name }) => name)

  const waiting = (work: WaitingTransaction['work'], settled: string[], name: string): WaitingTransaction => ({
    work,
    owner: '',
    survives: 'process-crash',
    deadlineMs: Number.POSITIVE_INFINITY,
    resolve: (result) => void settled.push(`${name} ${String(result)}`),
    reject: (error) => void settled.push(`${name} ${(error as Error).name}`),
  })

  /** A stopped clock, because a group ends after a time limit, which its first member can reach on a busy machine. */
  const stillClock = { ...systemClock, monotonicMs: () => 0 }

  const createRunner = (clock = stillClock) =>
    createTransactionRunner({
      writer: watched(connection),
      clock,
      transactionLimitMs: 10_000,
      retryWhileLocked: async (attempt) => attempt(),
      committed: () => {
        committed++
      },
    })
  /** @returns the results, and the number of transactions that were not started */
  const run = async (works: Readonly<Record<string, WaitingTransaction['work']>>, clock = stillClock) => {
    const settled: string[] = []
    const transactions = Object.entries(works).map(([name, work]) => waiting(work, settled, name))
    const left = await createRunner(clock).run(transactions)
    return { settled, left: left.length }
  }
  const throwing = async () => {
    throw new RangeError('its own')
  }
  const inserting = (name: string) => (transaction: Transaction) => insert(transaction, name)

  test('has one commit, and a single transaction has no savepoint', async () => {
    expect(await run({ a: inserting('a') })).toEqual({ settled: ['a 1'], left: 0 })
    expect(statements).toEqual(['BEGIN', 'INSERT', 'COMMIT'])
    statements = []
    expect((await run({ b: inserting('b'), c: inserting('c') })).settled).toEqual(['b 1', 'c 1'])
    const each = ['SAVEPOINT', 'INSERT', 'RELEASE']
    expect(statements).toEqual(['BEGIN', ...each, ...each, 'COMMIT'])
    expect(committed).toBe(2)
    expect(names()).toEqual(['a', 'b', 'c'])
  })

  test('settles no transaction before the commit, not even failed transactions', async () => {
    const settledThen: number[] = []
    const settled: string[] = []
    refuse = (sql) => {
      if (sql === 'COMMIT') settledThen.push(settled.length)
      return false
    }
    await createRunner().run([
      waiting(inserting('a'), settled, 'first'),
      waiting(inserting('a'), settled, 'second'),
      waiting(inserting('b'), settled, 'third'),
    ])
    expect(settledThen).toEqual([0])
    expect(settled).toEqual(['first 1', 'second ConstraintViolatedError', 'third 1'])
  })

  test('fails as a whole if the commit fails, and the next group works', async () => {
    refuse = (sql) => sql === 'COMMIT'
    const { settled } = await run({ a: inserting('a'), b: throwing })
    expect(settled).toEqual(['a StoreUnavailableError', 'b StoreUnavailableError'])
    expect(names()).toEqual([])
    refuse = () => false
    expect((await run({ c: inserting('c'), d: inserting('d') })).settled).toEqual(['c 1', 'd 1'])
    expect(names()).toEqual(['c', 'd'])
    expect(committed).toBe(1)
  })

  const LONG_NAME = 'x'.repeat(100_000)
  const fillDisk = async (transaction: Transaction): Promise<void> => {
    await insert(transaction, LONG_NAME).catch(() => undefined)
    // Outside a transaction, the row would be stored immediately.
    connection.run('PRAGMA max_page_count = 1000000')
    await insert(transaction, 'after').catch(() => undefined)
  }
  test.each<[string, WaitingTransaction['work']]>([
    ['a transaction that continues', fillDisk],
    ['a single statement', { sql: 'INSERT INTO items (name, number) VALUES (?, 0)', parameters: [LONG_NAME] }],
  ])('that SQLite rolled back fails the started transactions, and leaves the others: %s', async (_name, full) => {
    // At this limit, SQLite returns SQLITE_FULL, as for a full disk, and rolls everything back.
    connection.run('PRAGMA max_page_count = 1')
    const { settled, left } = await run({ a: async () => 'nothing written', full, later: inserting('later') })
    expect(settled.sort()).toEqual(['a StoreUnavailableError', 'full StoreUnavailableError'])
    expect([left, connection.inTransaction, names(), committed]).toEqual([1, false, [], 0])
  })

  test('whose savepoint cannot be rolled back is rolled back as a whole', async () => {
    refuse = (sql) => sql.startsWith('ROLLBACK TO')
    const failing = (transaction: Transaction) => insert(transaction, 'b').then(throwing)
    const { settled, left } = await run({ a: inserting('a'), b: failing, c: inserting('c') })
    expect(settled.sort()).toEqual(['a StoreUnavailableError', 'b StoreUnavailableError'])
    expect([left, names()]).toEqual([1, []])
  })

  test('is not started after the deadline of its first transaction, and only that transaction fails', async () => {
    const settled: string[] = []
    const late = { ...waiting(inserting('late'), settled, 'late'), deadlineMs: 4 }
    const other = waiting(inserting('other'), settled, 'other')
    expect(await createRunner({ ...systemClock, monotonicMs: () => 5 }).run([late, other])).toEqual([other])
    expect(settled).toEqual(['late StoreUnavailableError'])
    expect(statements).toEqual([])
  })

  test('accepts no further transaction after its time limit', async () => {
    let nowMs = systemClock.monotonicMs()
    const slow = (name: string) => async (transaction: Transaction) => {
      nowMs += 3
      return insert(transaction, name)
    }
    const clock = { ...systemClock, monotonicMs: () => nowMs }
    const { settled, left } = await run({ a: slow('a'), b: slow('b'), c: slow('c') }, clock)
    expect(settled).toEqual(['a 1', 'b 1'])
    expect(left).toBe(1)
  })
})

describe('the queue', () => {
  interface Item {
    readonly kind: string
    readonly number: number
  }

  const collect = async (items: readonly Item[], begin = (size: number): number => size, monotonicMs = () => 0) => {
    const groups: Item[][] = []
    const queue = createSerialQueue<Item>({
      run: async (group) => {
        const begun = begin(group.length)
        groups.push(group.slice(0, begun))
        return group.slice(begun)
      },
      ownerOf: () => '',
      belongsTo: (item, before) => item.kind === before.kind,
      monotonicMs,
    })
    for (const item of items) queue.add(item)
    expect(groups).toEqual([])
    await queue.settled()
    return groups
  }

  test('keeps the order of transactions for groups and starts of any size', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('x', 'y'), { maxLength: 200 }),
        fc.integer({ min: 1, max: 64 }),
        async (kinds, most) => {
          const items = kinds.map((kind, number) => ({ kind, number }))
          const groups = await collect(items, (size) => Math.min(size, most))
          expect(groups.flat()).toEqual(items)
          for (const group of groups) {
            expect(group.length).toBeLessThanOrEqual(64)
            expect(new Set(group.map(({ kind }) => kind)).size).toBe(1)
          }
        },
      ),
      { numRuns: 50 },
    )
  })

  test('waits briefly for further items on a busy thread', async () => {
    let nowMs = 0
    // Each turn of the event loop takes a millisecond.
    const monotonicMs = () => {
      nowMs += 1
      return nowMs
    }
    expect(await collect([{ kind: 'x', number: 0 }], undefined, monotonicMs)).toHaveLength(1)
    expect(nowMs).toBeGreaterThan(2)
    expect(nowMs).toBeLessThan(10)
  })
})

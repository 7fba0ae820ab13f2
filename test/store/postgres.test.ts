// Behavior of the store on PostgreSQL only: simultaneous transactions, connections and servers that end, freeze or
// recover, and a password that must not leak.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { QueueFullError } from '../../src/domain/errors.ts'
import { runFor } from '../../src/lib/caller.ts'
import { systemClock } from '../../src/lib/time.ts'
import type { Database, Transaction } from '../../src/store/database.ts'
import { StoreUnavailableError, StoreUnusableError } from '../../src/store/errors.ts'
import { endsOlderPrograms, isUpToDate, MIGRATIONS, type Migration, migrate } from '../../src/store/migrations.ts'
import { openMigratedDatabase } from '../../src/store/open-database.ts'
import { openPostgresDatabase, type PostgresOptions } from '../../src/store/postgres/postgres.ts'
import { createTemporaryDatabase, POSTGRES_MISSING, type TemporaryDatabase, targetOf } from '../support/postgres.ts'
import { POSTGRES_PASSWORD, type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { until } from '../support/until.ts'

const describePostgres = (name: string, define: () => void): void => {
  if (POSTGRES_MISSING === null) describe(name, define)
  else test.skipIf(true)(`${name} (${POSTGRES_MISSING})`, () => undefined)
}

const CREATE_ITEMS = 'CREATE TABLE items (name TEXT PRIMARY KEY NOT NULL, number BIGINT NOT NULL DEFAULT 0)'
const insert = (transaction: Pick<Transaction, 'execute'>, name: string): Promise<number> =>
  transaction.execute('INSERT INTO items (name) VALUES (?)', [name])
const increment = (transaction: Pick<Transaction, 'execute'>, name: string): Promise<number> =>
  transaction.execute('UPDATE items SET number = number + 1 WHERE name = ?', [name])
const backendOf = async (handle: Pick<Transaction, 'query'>): Promise<number> =>
  (await handle.query<{ pid: number }>('SELECT pg_backend_pid() AS pid'))[0]?.pid ?? 0
/** The whole error with its causes. */
const inspect = (error: unknown): string => Bun.inspect(error, { depth: 20 })

describePostgres('PostgreSQL', () => {
  let temporary: TemporaryDatabase
  let database: Database
  const opened: Database[] = []
  const open = async (options: Partial<PostgresOptions> = {}): Promise<Database> => {
    const one = await openPostgresDatabase({ target: temporary.target, clock: systemClock, ...options })
    opened.push(one)
    return one
  }
  const names = async (): Promise<string[]> =>
    (await database.query<{ name: string }>('SELECT name FROM items ORDER BY name')).map((row) => row.name)

  beforeEach(async () => {
    temporary = await createTemporaryDatabase('nothing')
    database = await open()
    await database.execute(CREATE_ITEMS)
  })
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close()
    await temporary.remove()
  })

  test('a version with an incompatible migration starts only after all nodes have stopped', async () => {
    const before = MIGRATIONS.filter(({ number }) => number <= 18)
    await migrate(database, 1, before)
    let beats = 0
    // The older table has no column for modules.
    const beat = (): Promise<number> =>
      database.execute(
        `INSERT INTO live_processes (id, name, beat, clock_ms, started_at_seconds) VALUES ('older', 'machine-1', ?, 0, 0)
         ON CONFLICT (id) DO UPDATE SET beat = excluded.beat`,
        [++beats],
      )
    const start = (isLive: boolean): Promise<Database> =>
      openMigratedDatabase({
        target: temporary.target,
        clock: systemClock,
        wait: async () => {
          if (isLive) await beat()
        },
      })
    await beat()
    await expect(start(true)).rejects.toThrow('nodes of an earlier version use the database (machine-1)')
    await migrate(database, 1, before)
    expect(await isUpToDate(database)).toBe(false)
    // A crashed process leaves its row.
    opened.push(await start(false))
    expect(await isUpToDate(database)).toBe(true)
  })

  test('a version with a compatible migration can start beside running nodes', async () => {
    await migrate(database, 1)
    const number = MIGRATIONS.length + 1
    const next = (changes: Partial<Migration>): Migration[] => [
      ...MIGRATIONS,
      { number, name: 'next', statements: () => [], ...changes },
    ]
    expect(await endsOlderPrograms(database, next({ worksWith: number - 1 }))).toBe(false)
    expect(await endsOlderPrograms(database, next({}))).toBe(true)
  })

  describe('transactions', () => {
    test('run at once, and do not see each other’s changes before the commit', async () => {
      const inside = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const looked = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const bothOf = (gates: typeof inside) => Promise.all(gates.map(({ promise }) => promise))
      const meet = (name: string) =>
        database.transaction(async (transaction) => {
          const index = name === 'a' ? 0 : 1
          await insert(transaction, name)
          inside[index]?.resolve()
          // This would never resolve if the other transaction had to wait.
          await bothOf(inside)
          const seen = (await transaction.query('SELECT name FROM items')).length
          looked[index]?.resolve()
          await bothOf(looked)
          return seen
        })
      expect(await Promise.all([meet('a'), meet('b')])).toEqual([1, 1])
      expect(await names()).toEqual(['a', 'b'])
    })

    test('in a deadlock are retried, and both are kept', async () => {
      await insert(database, 'a')
      await insert(database, 'b')
      const met = Promise.withResolvers<void>()
      let first = 0
      let runs = 0
      const cross = (one: string, other: string) =>
        database.transaction(async (transaction) => {
          runs++
          await increment(transaction, one)
          if (++first === 2) met.resolve()
          await met.promise
          await increment(transaction, other)
        })
      await Promise.all([cross('a', 'b'), cross('b', 'a')])
      expect(runs).toBeGreaterThan(2)
      expect(await database.query('SELECT number FROM items')).toEqual([{ number: 2 }, { number: 2 }])
    })

    test('are rolled back if a statement of their commit fails, and the next transaction works', async () => {
      await insert(database, 'taken')
      const again = { sql: 'INSERT INTO items (name) VALUES (?)', parameters: ['taken'] }
      const failing = database.transaction(async (transaction) => {
        transaction.announceAtCommit?.([again])
        await insert(transaction, 'other')
      })
      await expect(failing).rejects.toMatchObject({ name: 'ConstraintViolatedError', constraint: 'unique' })
      expect(await insert(database, 'next')).toBe(1)
      expect(await names()).toEqual(['next', 'taken'])
    })

    test('wait for a lock until their time limit', async () => {
      const impatient = await open({ lockLimitMs: 50 })
      await insert(database, 'a')
      const held = Promise.withResolvers<void>()
      const release = Promise.withResolvers<void>()
      const holding = database.transaction(async (transaction) => {
        await increment(transaction, 'a')
        held.resolve()
        await release.promise
      })
      await held.promise
      await expect(increment(impatient, 'a')).rejects.toBeInstanceOf(StoreUnavailableError)
      release.resolve()
      await holding
      expect(await increment(impatient, 'a')).toBe(1)
    })

    test('beyond the pool wait in a queue, and are refused at once if the queue is full', async () => {
      const small = await open({ maximumQueued: 1, target: { ...temporary.target, poolSize: 2 } })
      const release = Promise.withResolvers<void>()
      const holding = small.transaction(() => release.promise)
      const waiting = insert(small, 'waits')
      const refused = insert(small, 'refused')
      await expect(refused).rejects.toBeInstanceOf(QueueFullError)
      release.resolve()
      await holding
      expect(await waiting).toBe(1)
    })

    test('a statement is canceled after its time limit, and the connection remains usable', async () => {
      const impatient = await open({ statementLimitMs: 100, target: { ...temporary.target, poolSize: 2 } })
      const before = await backendOf(impatient)
      await expect(impatient.query('SELECT pg_sleep(60)')).rejects.toBeInstanceOf(StoreUnavailableError)
      expect(await backendOf(impatient)).toBe(before)
    })
  })

  describe('a connection', () => {
    test('that the server closed is replaced without an error', async () => {
      const reader = await backendOf(database)
      const writer = await database.transaction(backendOf)
      const other = await open()
      for (const pid of [reader, writer]) await other.query('SELECT pg_terminate_backend(?::int)', [pid])
      expect(await insert(database, 'a')).toBe(1)
      expect(await names()).toEqual(['a'])
      expect(await database.transaction(backendOf)).not.toBe(writer)
    })

    test('lost during a transaction keeps none of its changes, and the work is retried on another connection', async () => {
      const other = await open()
      let runs = 0
      await database.transaction(async (transaction) => {
        await insert(transaction, `run ${++runs}`)
        if (runs === 1) await other.query('SELECT pg_terminate_backend(?::int)', [await backendOf(transaction)])
        await insert(transaction, 'later')
      })
      expect(await names()).toEqual(['later', 'run 2'])
    })

    test('that is lost in each attempt fails the call, and the next call works', async () => {
      const other = await open()
      const lost = database.transaction(async (transaction) => {
        await insert(transaction, 'lost')
        await other.query('SELECT pg_terminate_backend(?::int)', [await backendOf(transaction)])
        await insert(transaction, 'later')
      })
      await expect(lost).rejects.toBeInstanceOf(StoreUnavailableError)
      expect(await insert(database, 'next')).toBe(1)
      expect(await names()).toEqual(['next'])
    })

    test.skipIf(process.platform === 'win32')('that freezes fails calls in time, and is replaced', async () => {
      const quick = await open({
        statementLimitMs: 100,
        lockLimitMs: 500,
        target: { ...temporary.target, poolSize: 2 },
      })
      const [reader, writer] = [await backendOf(quick), await quick.transaction(backendOf)]
      for (const pid of [reader, writer]) process.kill(pid, 'SIGSTOP')
      try {
        const startedMs = performance.now()
        const [read, written] = await Promise.allSettled([quick.query('SELECT 1 AS one'), insert(quick, 'a')])
        expect(performance.now() - startedMs).toBeLessThan(3_000)
        expect(await backendOf(quick)).not.toBe(reader)
        // Either call may have received another connection in time.
        for (const result of [read, written]) {
          if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(StoreUnavailableError)
        }
        await insert(quick, 'b')
        expect(await names()).toContain('b')
      } finally {
        for (const pid of [reader, writer]) process.kill(pid, 'SIGCONT')
      }
    })

    test('is one of at most as many as the pool allows', async () => {
      const small = await open({ target: { ...temporary.target, poolSize: 3 } })
      const pids = await Promise.all([
        ...Array.from({ length: 40 }, () => small.transaction(backendOf)),
        ...Array.from({ length: 40 }, () => backendOf(small)),
      ])
      expect(new Set(pids).size).toBeLessThanOrEqual(3)
      expect(new Set(pids).size).toBeGreaterThan(1)
    })

    test('of short reads is never taken by long reads', async () => {
      const small = await open({ target: { ...temporary.target, poolSize: 2 } })
      const reader = await backendOf(small)
      const sleeping = ['a', 'a', 'b', 'c'].map((owner) =>
        runFor({ owner, signal: null }, async () => small.queryLong?.('SELECT pg_sleep(60), pg_backend_pid() AS pid')),
      )
      const running = "SELECT pid FROM pg_stat_activity WHERE datname = ? AND query LIKE 'SELECT pg_sleep%'"
      const longReaders = async () => await small.query<{ pid: number }>(running, [temporary.name])
      await until(async () => (await longReaders()).length === 2)
      expect(await longReaders()).not.toContainEqual({ pid: reader })
      expect(await backendOf(small)).toBe(reader)
      const closing = small.close()
      const ended = Promise.allSettled(sleeping)
      const other = await open()
      for (const { pid } of await other.query<{ pid: number }>(running, [temporary.name])) {
        await other.query('SELECT pg_cancel_backend(?::int)', [pid])
      }
      for (const { status } of await ended) expect(status).toBe('rejected')
      await closing
    })

    test('commits durably with any server default', async () => {
      await database.execute(`ALTER DATABASE ${temporary.name} SET synchronous_commit = off`)
      const other = await open()
      const setting = await other.transaction((transaction) => transaction.query('SHOW synchronous_commit'))
      expect(setting).toEqual([{ synchronous_commit: 'on' }])
    })
  })

  describe('a refused connection', () => {
    const refusal = async (changes: Partial<PostgresOptions['target']>): Promise<unknown> =>
      open({ lockLimitMs: 100, target: { ...temporary.target, ...changes } }).catch((error: unknown) => error)

    test('is reported in one line, without the password', async () => {
      const wrongPassword = await refusal({ password: `${POSTGRES_PASSWORD}-wrong` })
      const noDatabase = await refusal({ database: 'missing' })
      for (const error of [wrongPassword, noDatabase]) {
        expect(error).toBeInstanceOf(StoreUnusableError)
        expect((error as StoreUnusableError).detail).not.toContain('\n')
        expect(inspect(error)).not.toContain(POSTGRES_PASSWORD)
      }
      const noServer = await refusal({ port: 1 })
      expect(noServer).toBeInstanceOf(StoreUnavailableError)
      expect(inspect(noServer)).not.toContain(POSTGRES_PASSWORD)
    })

    test('is the result of every TLS mode except prefer if the server has no TLS', async () => {
      for (const tls of ['require', 'verify-full'] as const) {
        expect(await refusal({ tls })).toBeInstanceOf(StoreUnusableError)
      }
      expect(await refusal({ tls: 'prefer' })).not.toBeInstanceOf(Error)
    })
  })

  test('errors of statements contain no value and no password', async () => {
    const error = await database.execute("INSERT INTO items (name) VALUES ('x'), ('x')").catch((thrown) => thrown)
    expect(error.message).toBe('a unique constraint was violated')
    expect(inspect(error)).not.toContain(POSTGRES_PASSWORD)
  })
})

describePostgres('a separate server', () => {
  let server: PostgresServer
  let database: Database

  beforeAll(async () => {
    server = await startPostgres()
    database = await openPostgresDatabase({ target: targetOf(server.address('postgres')), clock: systemClock })
    await database.execute(CREATE_ITEMS)
  })
  afterAll(async () => {
    await database.close()
    await server.stop()
  })

  test('that is killed and restarted during writes keeps acknowledged writes, and is used again within 2 s', async () => {
    const acknowledged: string[] = []
    const failures: unknown[] = []
    let writing = true
    let next = 0
    const write = async (): Promise<void> => {
      while (writing) {
        const name = `w${next++}`
        try {
          await insert(database, name)
          acknowledged.push(name)
        } catch (error) {
          failures.push(error)
        }
      }
    }
    const writers = Array.from({ length: 8 }, write)
    await until(() => acknowledged.length > 100)
    await server.restart(200)
    const readyMs = performance.now()
    const before = acknowledged.length
    await until(() => acknowledged.length > before + 100)
    expect(performance.now() - readyMs).toBeLessThan(2_000)
    writing = false
    await Promise.all(writers)
    for (const error of failures) expect(error).toBeInstanceOf(StoreUnavailableError)
    const kept = new Set((await database.query<{ name: string }>('SELECT name FROM items')).map(({ name }) => name))
    expect(acknowledged.filter((name) => !kept.has(name))).toEqual([])
  })

  test('with a killed backend process recovers with all acknowledged writes', async () => {
    await insert(database, 'before')
    const pid = await database.transaction(backendOf)
    process.kill(pid, 'SIGKILL')
    // The server ends all its connections and recovers. Whether a simultaneous commit is kept is unknown, so it may
    // fail, but the next commit must succeed.
    await insert(database, 'amid').catch((error: unknown) => expect(error).toBeInstanceOf(StoreUnavailableError))
    expect(await insert(database, 'after')).toBe(1)
    const rows = await database.query("SELECT name FROM items WHERE name IN ('before', 'after') ORDER BY name")
    expect(rows).toEqual([{ name: 'after' }, { name: 'before' }])
  })

  test('that freezes fails calls in time, and responds after it resumes', async () => {
    // The server may still be recovering from the earlier test.
    await until(() =>
      database.query('SELECT 1 AS one').then(
        () => true,
        () => false,
      ),
    )
    const quick = await openPostgresDatabase({
      target: targetOf(server.address('postgres')),
      clock: systemClock,
      statementLimitMs: 500,
      lockLimitMs: 1_000,
      connectLimitMs: 1_000,
    })
    const client = new SQL(server.address('postgres'), { max: 1 })
    const processes = (await client.unsafe('SELECT pid FROM pg_stat_activity')).map((row: { pid: number }) => row.pid)
    const frozen = [server.pid(), ...processes]
    for (const pid of frozen) process.kill(pid, 'SIGSTOP')
    const startedMs = performance.now()
    const results = await Promise.allSettled([quick.query('SELECT 1 AS one'), insert(quick, 'frozen')])
    expect(performance.now() - startedMs).toBeLessThan(6_000)
    for (const result of results)
      expect(result).toMatchObject({ status: 'rejected', reason: { name: 'StoreUnavailableError' } })
    for (const pid of frozen) process.kill(pid, 'SIGCONT')
    expect(await quick.query('SELECT 1 AS one')).toEqual([{ one: 1 }])
    expect(await insert(quick, 'continued')).toBe(1)
    await quick.close()
    await client.close({ timeout: 0 })
  })
})

// The database over PostgreSQL. Every call has a time limit, and the first call after an outage reconnects.
import { AsyncLocalStorage } from 'node:async_hooks'
import { currentCaller } from '../../lib/caller.ts'
import type { Clock } from '../../lib/time.ts'
import type { Database, SqlParameter } from '../database.ts'
import { StoreStatementError, StoreUnavailableError, TransactionMisuseError } from '../errors.ts'
import { describeStore, type PostgresTarget } from '../store-address.ts'
import { createLongReadTurns, createStoreTurns } from '../store-turns.ts'
import { type ConnectionLimits, openPostgresConnection, type PostgresConnection } from './postgres-connection.ts'
import { endsConnection, sqlStateOf, toStoreError, toUnusableError } from './postgres-errors.ts'
import { watchPostgresChanges } from './postgres-listener.ts'
import { createPostgresPool, type PostgresPool } from './postgres-pool.ts'
import { explainUnreachable } from './postgres-reach.ts'
import { createPostgresTransactions } from './postgres-transactions.ts'
import { POSTGRES_WORDS } from './postgres-words.ts'
import { createWriteTurns } from './write-turns.ts'

export interface PostgresOptions {
  readonly target: PostgresTarget
  readonly clock: Clock
  readonly lockLimitMs?: number
  readonly statementLimitMs?: number
  readonly transactionLimitMs?: number
  readonly maximumQueued?: number
  readonly connectLimitMs?: number
  readonly wait?: (milliseconds: number) => Promise<void>
}

const IDLE_CONNECTION_MS = 60_000
const READ_SHARE = 0.4
/** Connections for long reads, in addition to the pool. Each organization uses at most one. */
const LONG_READERS = 2
/** Connections for reads and writes that must not wait for requests, in addition to the pool. */
const RESERVED = 1
/** Limits of lookups without an API key, per SQL text and network of the caller. */
export const UNIDENTIFIED = { running: 64, ownRunning: 4, ownWaiting: 60 } as const

const sleep = (milliseconds: number): Promise<void> => Bun.sleep(milliseconds)

const toOpeningError = async (error: unknown, target: PostgresTarget, connectLimitMs: number): Promise<unknown> => {
  const known = toUnusableError(describeStore(target), error) ?? toStoreError(error)
  return known instanceof StoreUnavailableError ? await explainUnreachable(target, error, connectLimitMs) : known
}

/** Connects first, to report a wrong address immediately. @throws StoreUnusableError, StoreUnavailableError */
export const openPostgresDatabase = async (options: PostgresOptions): Promise<Database> => {
  const {
    target,
    clock,
    lockLimitMs = 3_000,
    statementLimitMs = 3_000,
    transactionLimitMs = 10_000,
    maximumQueued = 10_000,
    connectLimitMs = 2_000,
    wait = sleep,
  } = options
  const limits: ConnectionLimits = {
    connectMs: connectLimitMs,
    statementMs: statementLimitMs,
    lockMs: lockLimitMs,
    idleInTransactionMs: transactionLimitMs,
  }
  const storeName = describeStore(target)
  const createPool = (size: number, readOnly: boolean): PostgresPool =>
    createPostgresPool({
      clock,
      size,
      maximumQueued,
      wait,
      idleMs: IDLE_CONNECTION_MS,
      connect: () => openPostgresConnection(target, limits, readOnly),
      isFinal: (error) => toUnusableError(storeName, error) !== null,
    })
  const readers = Math.max(1, Math.floor(target.poolSize * READ_SHARE))
  const writers = target.poolSize - readers
  const readPool = createPool(readers, true)
  const writePool = createPool(writers, false)
  const longReadPool = createPool(LONG_READERS, true)
  const longReadTurns = createLongReadTurns(LONG_READERS, 1)
  const reservedPool = createPool(RESERVED, true)
  const reservedWritePool = createPool(RESERVED, false)
  const pools = [readPool, writePool, longReadPool, reservedPool, reservedWritePool]
  const writeTurns = createWriteTurns({ writers, maximumQueued, waitMs: lockLimitMs, clock })
  /** Turns by SQL text, so that one kind of lookup does not delay the others. */
  const unidentified = new Map<string, ReturnType<typeof createStoreTurns>>()
  const inside = new AsyncLocalStorage<{ open: boolean }>()
  const underWay = new Set<Promise<unknown>>()
  let closed = false

  const requireUsable = (): void => {
    if (closed) throw new StoreUnavailableError(new Error('the database is closed'))
    if (inside.getStore()?.open) throw new TransactionMisuseError('inside a transaction only its handle may be used')
  }

  const acquire = async (pool: PostgresPool, deadlineMs: number): Promise<PostgresConnection> => {
    try {
      return await pool.acquire(deadlineMs)
    } catch (error) {
      throw toStoreError(error)
    }
  }

  /** Retries on another connection if the server had closed the first connection. Repeats interrupted reads. */
  const onFreshConnection = async <Result>(
    pool: PostgresPool,
    deadlineMs: number,
    first: (connection: PostgresConnection) => Promise<Result>,
  ): Promise<{ readonly connection: PostgresConnection; readonly result: Result }> => {
    for (;;) {
      const connection = await acquire(pool, deadlineMs)
      try {
        return { connection, result: await first(connection) }
      } catch (error) {
        pool.release(connection)
        if (!endsConnection(error) || clock.monotonicMs() > deadlineMs) throw toStoreError(error)
      }
    }
  }

  const runTransaction = createPostgresTransactions({
    clock,
    lockLimitMs,
    transactionLimitMs,
    wait,
    inside,
    onFreshConnection,
  })

  const track = async <Result>(call: Promise<Result>): Promise<Result> => {
    underWay.add(call)
    try {
      return await call
    } finally {
      underWay.delete(call)
    }
  }

  const read = async <Row>(
    pool: PostgresPool,
    sql: string,
    parameters?: readonly SqlParameter[],
  ): Promise<readonly Row[]> => {
    const deadlineMs = clock.monotonicMs() + lockLimitMs
    const { connection, result } = await onFreshConnection(pool, deadlineMs, async (fresh) => {
      try {
        return await fresh.run<Row>(sql, parameters)
      } catch (error) {
        // On a read-only connection, this code means that the program tried to write, not that the server is a standby.
        throw sqlStateOf(error) === '25006' ? new StoreStatementError(error) : error
      }
    })
    pool.release(connection)
    return result.rows
  }

  const query = async <Row>(sql: string, parameters?: readonly SqlParameter[]): Promise<readonly Row[]> => {
    requireUsable()
    return track(read<Row>(readPool, sql, parameters))
  }

  const queryReserved = async <Row>(sql: string, parameters?: readonly SqlParameter[]): Promise<readonly Row[]> => {
    requireUsable()
    return track(read<Row>(reservedPool, sql, parameters))
  }

  const queryUnidentified = async <Row>(sql: string, parameters?: readonly SqlParameter[]): Promise<readonly Row[]> => {
    const turns = unidentified.getOrInsertComputed(sql, () =>
      createStoreTurns({ ...UNIDENTIFIED, waitMs: lockLimitMs }),
    )
    const { network = '', signal } = currentCaller()
    return turns.run(() => query<Row>(sql, parameters), { owner: network, signal })
  }

  const queryLong = async <Row>(sql: string, parameters?: readonly SqlParameter[]): Promise<readonly Row[]> => {
    requireUsable()
    return track(longReadTurns.run(() => read<Row>(longReadPool, sql, parameters)))
  }

  const transaction: Database['transaction'] = async (work, settings = {}) => {
    requireUsable()
    if (settings.queue === 'reserved') return track(runTransaction(reservedWritePool, work))
    return track(writeTurns.run(() => runTransaction(writePool, work), settings))
  }

  const execute: Database['execute'] = (sql, parameters, settings) =>
    transaction((handle) => handle.execute(sql, parameters), settings)

  try {
    writePool.release(await writePool.acquire(clock.monotonicMs() + lockLimitMs))
  } catch (error) {
    for (const pool of pools) pool.close()
    throw await toOpeningError(error, target, connectLimitMs)
  }

  return {
    kind: 'database',
    dialect: 'postgres',
    schemaWords: POSTGRES_WORDS,
    query,
    queryLong,
    queryReserved,
    queryUnidentified,
    transaction,
    execute,
    backlogMs: writeTurns.backlogMs,
    commitMark: async () => null,
    watchChanges: (wake) => watchPostgresChanges(target, connectLimitMs, wake),
    close: async () => {
      if (closed) return
      requireUsable()
      closed = true
      for (const turns of [longReadTurns, ...unidentified.values()]) turns.stop()
      await Promise.allSettled(underWay)
      for (const pool of pools) pool.close()
    },
  }
}

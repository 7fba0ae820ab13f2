// Runs transactions (READ COMMITTED) with a time limit, and repeats them after conflicts or lost connections.
// https://www.postgresql.org/docs/current/transaction-iso.html
import type { AsyncLocalStorage } from 'node:async_hooks'
import type { Clock } from '../../lib/time.ts'
import type { DeferredStatement, SqlParameter, Transaction } from '../database.ts'
import { StoreUnavailableError, TransactionMisuseError } from '../errors.ts'
import type { PostgresConnection } from './postgres-connection.ts'
import { endsConnection, isConflict, toStoreError } from './postgres-errors.ts'
import type { PostgresPool } from './postgres-pool.ts'
import { CHANGES_CHANNEL } from './postgres-words.ts'

export interface PostgresTransactionsDependencies {
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly lockLimitMs: number
  readonly transactionLimitMs: number
  readonly wait: (milliseconds: number) => Promise<void>
  readonly inside: AsyncLocalStorage<{ open: boolean }>
  readonly onFreshConnection: <Result>(
    pool: PostgresPool,
    deadlineMs: number,
    first: (connection: PostgresConnection) => Promise<Result>,
  ) => Promise<{ readonly connection: PostgresConnection; readonly result: Result }>
}

/** Maximum attempts after conflicts, or after connection losses before the commit. */
const ATTEMPTS = 5
const PAUSE_MS = 10

export const createPostgresTransactions = (dependencies: PostgresTransactionsDependencies) => {
  const { clock, lockLimitMs, transactionLimitMs, wait, inside, onFreshConnection } = dependencies

  /** @param committing called before the commit is sent; after that, the writes may be kept even if the call fails */
  const runWork = async <Result>(
    connection: PostgresConnection,
    work: (transaction: Transaction) => Promise<Result>,
    committing: () => void,
  ): Promise<Result> => {
    const state = { open: true }
    let failure: unknown
    const atCommit: DeferredStatement[] = []
    const run = async <Row>(sql: string, parameters?: readonly SqlParameter[]) => {
      if (!state.open) throw new TransactionMisuseError('the transaction has ended')
      // After the first failure, the server rejects further statements without a reason.
      if (failure !== undefined) throw toStoreError(failure)
      try {
        return await connection.run<Row>(sql, parameters)
      } catch (error) {
        failure ??= error
        throw toStoreError(error)
      }
    }
    const handle: Transaction = {
      kind: 'transaction',
      query: async <Row>(sql: string, parameters?: readonly SqlParameter[]) => (await run<Row>(sql, parameters)).rows,
      execute: async (sql, parameters) => (await run(sql, parameters)).count,
      announceAtCommit: (statements) => void atCommit.push(...statements),
    }
    const limit = Promise.withResolvers<never>()
    let late = false
    const timer = setTimeout(() => {
      late = true
      // The server then rolls back the transaction.
      connection.drop()
      limit.reject(new StoreUnavailableError(new Error('the transaction timed out')))
    }, transactionLimitMs)
    try {
      const result = await Promise.race([inside.run(state, () => work(handle)), limit.promise])
      if (failure !== undefined) throw failure
      state.open = false
      committing()
      // One round trip. If a statement fails, the following statements and the commit fail too.
      await Promise.all([
        ...atCommit.map(({ sql, parameters }) => connection.run(sql, parameters)),
        connection.command(atCommit.length > 0 ? `NOTIFY ${CHANGES_CHANNEL}; COMMIT` : 'COMMIT'),
      ])
      return result
    } catch (error) {
      state.open = false
      if (connection.usable()) await connection.command('ROLLBACK').catch(() => connection.drop())
      // Throw the original error, so that the work can be repeated.
      throw !late && (isConflict(failure) || endsConnection(failure)) ? failure : error
    } finally {
      clearTimeout(timer)
    }
  }

  return async <Result>(pool: PostgresPool, work: (transaction: Transaction) => Promise<Result>): Promise<Result> => {
    const againUntilMs = clock.monotonicMs() + lockLimitMs
    for (let attempt = 1; ; attempt++) {
      const deadlineMs = clock.monotonicMs() + lockLimitMs
      const { connection } = await onFreshConnection(pool, deadlineMs, (fresh) => fresh.command('BEGIN'))
      let nothingKept = true
      try {
        return await runWork(connection, work, () => {
          nothingKept = false
        })
      } catch (error) {
        // Nothing was kept: the server reported so, or the connection was lost before the commit was sent.
        const lost = nothingKept && endsConnection(error) && clock.monotonicMs() < againUntilMs
        if (attempt === ATTEMPTS || !(lost || isConflict(error))) throw toStoreError(error)
      } finally {
        pool.release(connection)
      }
      await wait(PAUSE_MS * attempt * (0.5 + Math.random()))
    }
  }
}

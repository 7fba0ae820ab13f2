// Where a table's functions run: each write in a transaction of its own, or all of them in one that is already open.
import type { Clock } from '../../lib/time.ts'
import type { Database, SqlParameter, Statements, Transaction, TransactionOptions } from '../database.ts'

export interface TableScope extends Statements {
  readonly statements: Statements
  /** Runs one statement as a transaction of its own, which costs less than `write`. Returns the number of changed rows. */
  execute(sql: string, parameters?: readonly SqlParameter[], options?: TransactionOptions): Promise<number>
  /** Runs `work` in one transaction, whose scope it gets. */
  write<Result>(work: (own: TransactionScope) => Promise<Result>, options?: TransactionOptions): Promise<Result>
  nowSeconds(): number
}

export interface TransactionScope extends Transaction, Omit<TableScope, 'execute'> {}

/** Each write commits by itself. */
export const databaseScope = (database: Database, clock: Clock): TableScope => ({
  statements: database,
  query: database.query,
  queryLong: database.queryLong,
  execute: database.execute,
  write: (work, options) => database.transaction((transaction) => work(transactionScope(transaction, clock)), options),
  nowSeconds: clock.unixSeconds,
})

/** Writes become part of the transaction, and reads see them. */
export const transactionScope = (transaction: Transaction, clock: Clock): TransactionScope => {
  const scope: TransactionScope = {
    ...transaction,
    statements: transaction,
    write: (work) => work(scope),
    nowSeconds: clock.unixSeconds,
  }
  return scope
}

const PROCESS_CRASH: TransactionOptions = { survives: 'process-crash' }

/** The same scope, whose writes need not survive a power cut (see TransactionOptions). */
export const survivingCrashes = (scope: TableScope): TableScope => ({
  ...scope,
  execute: (sql, parameters) => scope.execute(sql, parameters, PROCESS_CRASH),
  write: (work) => scope.write(work, PROCESS_CRASH),
})

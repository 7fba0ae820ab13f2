// Where a table's functions run: each write in a transaction of its own, or all of them in one that is already open.
import type { Clock } from '../../lib/time.ts'
import type { Database, SqlParameter, Statements, Transaction, TransactionOptions } from '../database.ts'

export interface TableScope {
  readonly statements: Statements
  /** Runs one statement as a transaction of its own, which costs less than `write`. Returns the number of changed rows. */
  execute(sql: string, parameters?: readonly SqlParameter[], options?: TransactionOptions): Promise<number>
  write<Result>(work: (transaction: Transaction) => Promise<Result>, options?: TransactionOptions): Promise<Result>
  nowSeconds(): number
}

/** Each write commits by itself. */
export const databaseScope = (database: Database, clock: Clock): TableScope => ({
  statements: database,
  execute: database.execute,
  write: (work, options) => database.transaction(work, options),
  nowSeconds: clock.unixSeconds,
})

/** Writes become part of the transaction, and reads see them. */
export const transactionScope = (transaction: Transaction, clock: Clock): TableScope => ({
  statements: transaction,
  execute: transaction.execute,
  write: (work) => work(transaction),
  nowSeconds: clock.unixSeconds,
})

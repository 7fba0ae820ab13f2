// Scope of a table's functions: one transaction per write, or one open transaction for all.
import { LIST_ENTRIES_PER_ORGANIZATION_MAX } from '../../domain/list.ts'
import type { Clock } from '../../lib/time.ts'
import type { Database, SqlParameter, Statements, Transaction, TransactionOptions } from '../database.ts'

export interface StoreLimits {
  readonly listEntriesMax: number
}

const LIMITS: StoreLimits = { listEntriesMax: LIST_ENTRIES_PER_ORGANIZATION_MAX }

export interface TableScope extends Statements {
  readonly limits: StoreLimits
  readonly statements: Statements
  /** Runs one statement in its own transaction; cheaper than `write`. Returns the number of changed rows. */
  execute(sql: string, parameters?: readonly SqlParameter[], options?: TransactionOptions): Promise<number>
  write<Result>(work: (own: TransactionScope) => Promise<Result>, options?: TransactionOptions): Promise<Result>
  nowSeconds(): number
}

export interface TransactionScope extends Transaction, Omit<TableScope, 'execute'> {}

export const reservedReads = ({ query, queryReserved = query }: Statements): Statements => ({ query: queryReserved })

/** Reads with the limit for callers without a key. */
export const unidentifiedReads = ({ query, queryUnidentified = query }: Statements): Statements => ({
  query: queryUnidentified,
})

export const databaseScope = (database: Database, clock: Clock, limits = LIMITS): TableScope => ({
  limits,
  statements: database,
  query: database.query,
  queryLong: database.queryLong,
  queryReserved: database.queryReserved,
  queryUnidentified: database.queryUnidentified,
  execute: database.execute,
  write: (work, options) =>
    database.transaction((transaction) => work(transactionScope(transaction, clock, limits)), options),
  nowSeconds: clock.unixSeconds,
})

export const transactionScope = (transaction: Transaction, clock: Clock, limits = LIMITS): TransactionScope => {
  const scope: TransactionScope = {
    ...transaction,
    limits,
    statements: transaction,
    write: (work) => work(scope),
    nowSeconds: clock.unixSeconds,
  }
  return scope
}

const writing = (scope: TableScope, options: TransactionOptions): TableScope => ({
  ...scope,
  execute: (sql, parameters) => scope.execute(sql, parameters, options),
  write: (work) => scope.write(work, options),
})

/** Writes need not survive a power loss (see TransactionOptions). */
export const survivingCrashes = (scope: TableScope): TableScope => writing(scope, { survives: 'process-crash' })

/** Like `survivingCrashes`, on the reserved connection. */
export const reservedWrites = (scope: TableScope): TableScope =>
  writing(scope, { survives: 'process-crash', queue: 'reserved' })

// One SQLite connection, used only by sqlite.ts. https://sqlite.org/pragma.html, https://sqlite.org/rescode.html
import { Database as BunDatabase, SQLiteError, type Statement } from 'bun:sqlite'
import { LRUCache } from 'lru-cache'
import { withPath } from '../../lib/named-error.ts'
import type { SqlParameter } from '../database.ts'
import { type ConstraintKind, ConstraintViolatedError, StoreStatementError, StoreUnavailableError } from '../errors.ts'
import { narrowInteger, requireSafeInteger } from '../integers.ts'
import { LOG_KEPT_BYTES } from './write-ahead-log.ts'

/**
 * Limit for a wait, which is short because SQLite blocks the thread while it waits; sqlite.ts retries without blocking.
 */
const BUSY_TIMEOUT_MS = 1
/** Maximum cached statements, above the number of statements in the code. Bounds statements built at run time. */
const STATEMENT_CACHE_SIZE = 256

/** Eight times SQLite's default: a small transaction in a large file touches dozens of scattered pages. */
const WRITER_CACHE_KIBIBYTES = 16_384

const BUSY = 5
const LOCKED = 6
const CONSTRAINT = 19
/** NOMEM, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, PROTOCOL, NOTADB: not caused by the statement. */
const UNAVAILABLE: ReadonlySet<number> = new Set([BUSY, LOCKED, 7, 8, 10, 11, 13, 14, 15, 26])

const CONSTRAINTS: Readonly<Record<string, ConstraintKind>> = {
  SQLITE_CONSTRAINT_UNIQUE: 'unique',
  SQLITE_CONSTRAINT_PRIMARYKEY: 'unique',
  SQLITE_CONSTRAINT_ROWID: 'unique',
  SQLITE_CONSTRAINT_FOREIGNKEY: 'foreign-key',
  SQLITE_CONSTRAINT_NOTNULL: 'not-null',
  SQLITE_CONSTRAINT_DATATYPE: 'type',
}

const primaryCode = (error: SQLiteError): number => error.errno & 0xff

/** Returns true if another connection holds the lock, so that a retry can help. */
export const isBusy = (error: unknown): boolean =>
  error instanceof SQLiteError && (primaryCode(error) === BUSY || primaryCode(error) === LOCKED)

export const toStoreError = (error: unknown): unknown => {
  if (!(error instanceof SQLiteError)) return error
  const code = primaryCode(error)
  if (code === CONSTRAINT) return new ConstraintViolatedError(CONSTRAINTS[error.code ?? ''] ?? 'check', error)
  return UNAVAILABLE.has(code) ? new StoreUnavailableError(error) : new StoreStatementError(error)
}

export interface SqliteConnection {
  /** False after SQLite itself rolled back a transaction. */
  readonly inTransaction: boolean
  all<Row>(sql: string, parameters?: readonly SqlParameter[]): Row[]
  run(sql: string, parameters?: readonly SqlParameter[]): number
  close(): void
}

const toBinding = (parameter: SqlParameter, index: number): SqlParameter => {
  if (typeof parameter !== 'number') return parameter
  requireSafeInteger(parameter, index)
  // A number beyond 32 bits would be bound as a float.
  return parameter === (parameter | 0) ? parameter : BigInt(parameter)
}

/** Converts integers, all of which are read as bigints, to numbers if possible. */
const narrowIntegers = <Row>(rows: Row[]): Row[] => {
  for (const row of rows as Record<string, unknown>[]) {
    for (const column in row) {
      const value = row[column]
      if (typeof value === 'bigint') row[column] = narrowInteger(value)
    }
  }
  return rows
}

/** Even with `readOnly`, the connection can write, to recover the log after a crash. @throws SQLiteError */
export const openSqliteConnection = (path: string, readOnly: boolean): SqliteConnection => {
  const database = new BunDatabase(path, { readwrite: true, create: false, strict: true, safeIntegers: true })
  const statements = new LRUCache<string, Statement>({
    max: STATEMENT_CACHE_SIZE,
    dispose: (statement) => statement.finalize(),
  })
  const prepare = (sql: string): Statement => {
    const cached = statements.get(sql)
    if (cached !== undefined) return cached
    const statement = database.prepare(sql)
    statements.set(sql, statement)
    return statement
  }
  try {
    database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    // Readers and the writer never wait for each other.
    database.run('PRAGMA journal_mode = WAL')
    // Off by default. The schema relies on foreign keys to separate tenants.
    database.run('PRAGMA foreign_keys = ON')
    // Prevents a manipulated file from calling functions with side effects in a view or trigger.
    database.run('PRAGMA trusted_schema = OFF')
    // Intermediate results are never written outside the data folder.
    database.run('PRAGMA temp_store = MEMORY')
    // Zeroes deleted data, for example an erased key, if this costs no additional write.
    database.run('PRAGMA secure_delete = FAST')
    database.run(`PRAGMA journal_size_limit = ${LOG_KEPT_BYTES}`)
    // On macOS, a plain fsync does not reach the disk. Elsewhere, this has no effect.
    database.run('PRAGMA fullfsync = ON')
    // No memory mapping: releasing mapped pages after a commit can block a read for up to a second.
    if (readOnly) database.run('PRAGMA query_only = ON')
    else database.run(`PRAGMA cache_size = -${WRITER_CACHE_KIBIBYTES}`)
  } catch (error) {
    database.close()
    throw error
  }
  return {
    get inTransaction() {
      return database.inTransaction
    },
    all: <Row>(sql: string, parameters: readonly SqlParameter[] = []) => {
      try {
        return narrowIntegers(prepare(sql).all(...parameters.map(toBinding)) as Row[])
      } catch (error) {
        throw withPath(error, path)
      }
    },
    run: (sql, parameters = []) => {
      try {
        return prepare(sql).run(...parameters.map(toBinding)).changes
      } catch (error) {
        throw withPath(error, path)
      }
    },
    close: () => {
      statements.clear()
      database.close(true)
    },
  }
}

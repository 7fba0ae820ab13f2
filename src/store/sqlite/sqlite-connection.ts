// One SQLite connection: its pragmas, prepared statements, values and errors. Synchronous, and used only through
// sqlite.ts. Source: https://sqlite.org/pragma.html, https://sqlite.org/rescode.html.
import { Database as BunDatabase, SQLiteError, type Statement } from 'bun:sqlite'
import { LRUCache } from 'lru-cache'
import type { SqlParameter } from '../database.ts'
import { type ConstraintKind, ConstraintViolatedError, StoreStatementError, StoreUnavailableError } from '../errors.ts'
import { narrowInteger, requireSafeInteger } from '../integers.ts'
import { LOG_KEPT_BYTES } from './write-ahead-log.ts'

/** SQLite blocks the whole thread while it waits, so it waits only this long: sqlite.ts retries without blocking. */
const BUSY_TIMEOUT_MS = 1
/** More than there are statements in the code; a guard against texts made at run time. */
const STATEMENT_CACHE_SIZE = 256

/**
 * Size of the writer's page cache. While only one process writes, no other connection invalidates it, and a small
 * transaction in a large file touches some dozens of pages all over it. SQLite's own default is an eighth. Memory is
 * allocated page by page.
 */
const WRITER_CACHE_KIBIBYTES = 16_384

const BUSY = 5
const LOCKED = 6
const CONSTRAINT = 19
/** NOMEM, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, PROTOCOL, NOTADB: not this statement's fault. */
const UNAVAILABLE: ReadonlySet<number> = new Set([BUSY, LOCKED, 7, 8, 10, 11, 13, 14, 15, 26])

const CONSTRAINTS: Readonly<Record<string, ConstraintKind>> = {
  SQLITE_CONSTRAINT_UNIQUE: 'unique',
  SQLITE_CONSTRAINT_PRIMARYKEY: 'unique',
  SQLITE_CONSTRAINT_ROWID: 'unique',
  SQLITE_CONSTRAINT_FOREIGNKEY: 'foreign-key',
  SQLITE_CONSTRAINT_NOTNULL: 'not-null',
  SQLITE_CONSTRAINT_DATATYPE: 'type',
}

/** The low byte of an extended result code is the primary one. */
const primaryCode = (error: SQLiteError): number => error.errno & 0xff

/** True when another connection holds the lock, so that a later retry can help. */
export const isBusy = (error: unknown): boolean =>
  error instanceof SQLiteError && (primaryCode(error) === BUSY || primaryCode(error) === LOCKED)

/** The store's own error for what SQLite threw; anything else is passed through. */
export const toStoreError = (error: unknown): unknown => {
  if (!(error instanceof SQLiteError)) return error
  const code = primaryCode(error)
  if (code === CONSTRAINT) return new ConstraintViolatedError(CONSTRAINTS[error.code ?? ''] ?? 'check', error)
  return UNAVAILABLE.has(code) ? new StoreUnavailableError(error) : new StoreStatementError(error)
}

export interface SqliteConnection {
  /** True while a transaction is open, also after SQLite rolled one back by itself. */
  readonly inTransaction: boolean
  all<Row>(sql: string, parameters?: readonly SqlParameter[]): Row[]
  /** How many rows changed. */
  run(sql: string, parameters?: readonly SqlParameter[]): number
  close(): void
}

const toBinding = (parameter: SqlParameter, index: number): SqlParameter => {
  if (typeof parameter !== 'number') return parameter
  requireSafeInteger(parameter, index)
  // A bigint is bound as an integer of any size; a number beyond 32 bits would be bound as a float.
  return parameter === (parameter | 0) ? parameter : BigInt(parameter)
}

/** Integers are read as bigints; those that fit become numbers. */
const narrowIntegers = <Row>(rows: Row[]): Row[] => {
  for (const row of rows as Record<string, unknown>[]) {
    for (const column in row) {
      const value = row[column]
      if (typeof value === 'bigint') row[column] = narrowInteger(value)
    }
  }
  return rows
}

/**
 * Opens an existing file. `readOnly` refuses writes; the connection is not opened read-only, since recovering the
 * write-ahead log after a crash needs to write.
 * @throws SQLiteError, also when the file is locked.
 */
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
    // Readers never wait for the writer, nor the writer for readers.
    database.run('PRAGMA journal_mode = WAL')
    // Off by default in SQLite; the schema relies on them to keep tenants apart.
    database.run('PRAGMA foreign_keys = ON')
    // A doctored file can't make a view or trigger call functions with side effects.
    database.run('PRAGMA trusted_schema = OFF')
    // Intermediate results never reach a file outside the data folder.
    database.run('PRAGMA temp_store = MEMORY')
    // What is deleted or overwritten, an erased key for example, is zeroed in its page, where that costs no further write.
    database.run('PRAGMA secure_delete = FAST')
    database.run(`PRAGMA journal_size_limit = ${LOG_KEPT_BYTES}`)
    // On macOS a plain fsync does not reach the disk; elsewhere this does nothing.
    database.run('PRAGMA fullfsync = ON')
    // Do not map the file into memory: mapped pages are released at the first read after each commit, and with hundreds
    // of megabytes that blocked the thread for up to a second on a busy virtual machine.
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
    all: <Row>(sql: string, parameters: readonly SqlParameter[] = []) =>
      narrowIntegers(prepare(sql).all(...parameters.map(toBinding)) as Row[]),
    run: (sql, parameters = []) => prepare(sql).run(...parameters.map(toBinding)).changes,
    close: () => {
      statements.clear()
      database.close(true)
    },
  }
}

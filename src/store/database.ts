// The database interface of every store file: asynchronous SQL without a dialect, implemented for SQLite and
// PostgreSQL. Rules that keep the two alike: `?` placeholders, and none inside a literal; only text, 64-bit integers
// and bytes; ids created by the service; conflicts avoided with ON CONFLICT rather than caught, because a failed
// statement spoils its transaction.

/** A number must be a safe integer; anything larger is a bigint. Booleans and fractions are not stored. */
export type SqlParameter = string | number | bigint | Uint8Array | null

/** The value of a column when it is read: integers are numbers up to 2^53 - 1 and bigints beyond, never rounded. */
export type SqlValue = string | number | bigint | Uint8Array | null

export interface Statements {
  /**
   * Runs one statement and returns its rows. Outside a transaction it only reads, and sees everything committed before.
   * @throws StoreUnavailableError when the store can't answer in time
   */
  query<Row>(sql: string, parameters?: readonly SqlParameter[]): Promise<readonly Row[]>
  /**
   * As `query`, for a read that may examine many rows: it does not block the main thread. Absent in a transaction, and if
   * `query` doesn't block the main thread either.
   */
  readonly queryLong?: Statements['query'] | undefined
}

export interface DeferredStatement {
  readonly sql: string
  readonly parameters: readonly SqlParameter[]
}

/** The only handle that runs a transaction's statements. It is unusable once the transaction has ended. */
export interface Transaction extends Statements {
  /** Distinguishes a transaction from a database, so that a function that must be atomic can require one. */
  readonly kind: 'transaction'
  /** True where nothing else writes until the transaction ends: a row that was read needs no lock. */
  readonly alone?: true
  /**
   * Runs one statement and returns the number of rows that it changed.
   * @throws ConstraintViolatedError, StoreUnavailableError; after either, the transaction can only be rolled back
   */
  execute(sql: string, parameters?: readonly SqlParameter[]): Promise<number>
  /**
   * Runs statements as the last ones of the transaction, sent together with its commit, and then wakes whoever watches
   * changes. A row that every transaction needs is then locked only while the server commits, however busy this process
   * is. Absent where transactions run alone and `commitMark` shows each commit.
   */
  readonly announceAtCommit?: (statements: readonly DeferredStatement[]) => void
}

export interface TransactionOptions {
  /**
   * What an acknowledged write survives. `power-loss`, the default, waits for the disk. `process-crash` hands the write
   * to the operating system: kill -9 loses nothing, a power cut may lose the last moments. Use it for rows written per
   * request. On PostgreSQL both wait for the disk: without waiting (synchronous_commit = off), a commit stays in memory
   * that is discarded when any of the server's processes is killed, and a statement to choose would cost as much as it
   * saves, because the server writes the commits of many connections to the disk at once.
   */
  readonly survives?: 'power-loss' | 'process-crash'
}

/** The parts of table definitions in which the dialects differ. */
export interface SchemaWords {
  /** A signed 64-bit integer column. */
  readonly integer: string
  /** A column of bytes. */
  readonly bytes: string
  /** Follows the closing bracket of CREATE TABLE. */
  readonly tableEnd: string
  /** Statements that make the database refuse to change or delete a table's rows. */
  appendOnly(table: string): readonly string[]
  /** Adapts a whole statement of a migration; absent where it runs unchanged. */
  adapt?(statement: string): string
  /**
   * Run first in each migration's transaction, so that several processes take turns; absent where they do so anyway.
   */
  readonly beginMigration?: readonly string[]
}

/** Call `stop` to end it. */
export interface ChangeWatch {
  /** False while commits of other processes may be missed. */
  listening(): boolean
  stop(): Promise<void>
}

export interface Database extends Statements {
  readonly kind: 'database'
  /** Absent means SQLite. */
  readonly dialect?: 'sqlite' | 'postgres'
  readonly schemaWords: SchemaWords
  /** Runs one statement in its own transaction. */
  execute(sql: string, parameters?: readonly SqlParameter[], options?: TransactionOptions): Promise<number>
  /**
   * Runs `work` in one transaction: committed when it resolves, rolled back when it throws. Only statements of the
   * handle take part. On SQLite, transactions run one after another, in the order requested. On PostgreSQL, several run
   * at once, READ COMMITTED: a decision that depends on a row must lock that row, by an UPDATE, a unique index or
   * row-locks.ts. `work` must not wait long for anything except the handle, because others queue behind it, and must
   * have no other effects, because it is run again after a deadlock or a lost connection.
   * @throws TransactionMisuseError when called inside a transaction's work, which would wait for itself
   * @throws StoreUnavailableError when the store is locked or away, or the queue is full. Nothing was written, unless
   *   PostgreSQL was lost during the commit: then it is not known.
   */
  transaction<Result>(
    work: (transaction: Transaction) => Promise<Result>,
    options?: TransactionOptions,
  ): Promise<Result>
  /**
   * Milliseconds until a transaction requested now would be completed; null when so many wait that only necessary ones
   * should be added.
   */
  backlogMs(): number | null
  /**
   * A number that changes whenever another connection has committed since the last call; null where the dialect has
   * none.
   */
  commitMark(): Promise<number | null>
  /**
   * Calls `wake` soon after other processes have committed a change; it may miss some. Absent where `commitMark` is as
   * quick.
   */
  watchChanges?(wake: () => void): ChangeWatch
  /** Completes the transactions already requested, then closes. Later calls are refused. */
  close(): Promise<void>
}

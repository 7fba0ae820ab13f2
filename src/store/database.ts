// What every store file talks to: asynchronous, dialect-free SQL. SQLite and PostgreSQL stand behind it.
// Rules that keep the two alike: `?` placeholders and none inside a literal; text, 64-bit integers and bytes only; ids
// made by the service; constraint conflicts avoided with ON CONFLICT rather than caught, since a failed statement spoils
// its transaction.

/** A number must be a safe integer; anything larger is a bigint. Booleans and fractions are not stored. */
export type SqlParameter = string | number | bigint | Uint8Array | null

/**
 * What a column may hold when read: integers arrive as numbers up to 2^53 - 1 and as bigints beyond, never rounded.
 */
export type SqlValue = string | number | bigint | Uint8Array | null

export interface Statements {
  /**
   * Runs one statement and answers its rows. Outside a transaction it only reads, and sees everything committed before.
   * @throws StoreUnavailableError when the store can't answer in time.
   */
  query<Row>(sql: string, parameters?: readonly SqlParameter[]): Promise<readonly Row[]>
}

export interface DeferredStatement {
  readonly sql: string
  readonly parameters: readonly SqlParameter[]
}

/** The one handle through which a transaction's statements run. Dead once the transaction has ended. */
export interface Transaction extends Statements {
  /** Tells a transaction from a database, so that a function that must be atomic can ask for one. */
  readonly kind: 'transaction'
  /**
   * Runs one statement and answers how many rows it changed.
   * @throws ConstraintViolatedError, StoreUnavailableError; after either the transaction can only be rolled back.
   */
  execute(sql: string, parameters?: readonly SqlParameter[]): Promise<number>
  /**
   * Runs statements as the transaction's last ones, sent together with its commit, and then wakes whoever watches changes:
   * so a row that everyone needs stays locked no longer than the server takes to commit, however busy this process is.
   * Absent where the transaction is alone anyway and a commit is seen by its mark.
   */
  readonly announceAtCommit?: (statements: readonly DeferredStatement[]) => void
}

export interface TransactionOptions {
  /**
   * What an acknowledged write outlives. `power-loss`, the default, waits for the disk. `process-crash` hands the write
   * to the operating system: kill -9 loses nothing, a power cut may lose the last moments. For rows written per request.
   * On PostgreSQL both wait for the disk: what it commits without (synchronous_commit = off) stays in memory that is
   * thrown away when any of its processes is killed, and a statement to choose would cost as much as it saves, since the
   * server writes the commits of many connections to the disk at once.
   */
  readonly survives?: 'power-loss' | 'process-crash'
}

/** The words in which the dialects' table definitions differ. */
export interface SchemaWords {
  /** A signed 64-bit integer column. */
  readonly integer: string
  /** A column of bytes. */
  readonly bytes: string
  /** Follows the closing bracket of CREATE TABLE. */
  readonly tableEnd: string
  /** The statements that make the database itself refuse to change or delete a table's rows. */
  appendOnly(table: string): readonly string[]
  /** Changes a whole statement of a migration; absent where it runs as it is. */
  adapt?(statement: string): string
  /** Run first in each migration's transaction, so that several processes take turns; absent where they do anyway. */
  readonly beginMigration?: readonly string[]
}

/** Ends with `stop`. */
export interface ChangeWatch {
  /** False while commits of others may go unheard. */
  listening(): boolean
  stop(): Promise<void>
}

export interface Database extends Statements {
  readonly kind: 'database'
  /** Absent: SQLite. */
  readonly dialect?: 'sqlite' | 'postgres'
  readonly schemaWords: SchemaWords
  /** A transaction of one statement. */
  execute(sql: string, parameters?: readonly SqlParameter[], options?: TransactionOptions): Promise<number>
  /**
   * Runs `work` in one transaction: committed when it resolves, rolled back when it throws. Only statements of the handle
   * take part. On SQLite transactions run one after another, in the order they were asked for; on PostgreSQL several run
   * at once, READ COMMITTED, so what is decided by a row that was read needs that row locked: by an UPDATE, a unique
   * index or row-locks.ts. `work` must not wait on anything but the handle for long, since others queue behind it, and
   * has no effect but through it, since it is run again after a deadlock or the loss of its connection.
   * @throws TransactionMisuseError when called inside a transaction's work, which would wait for itself.
   * @throws StoreUnavailableError when the store is locked, away or the queue is full. Nothing was written, but where
   * PostgreSQL was lost while it committed: then it is not known.
   */
  transaction<Result>(
    work: (transaction: Transaction) => Promise<Result>,
    options?: TransactionOptions,
  ): Promise<Result>
  /** Milliseconds until a transaction asked for now would be done; null while too many wait to add one but in need. */
  backlogMs(): number | null
  /** A number that differs whenever anyone has committed since the last call; null where the dialect has none. */
  commitMark(): Promise<number | null>
  /** Calls `wake` soon after others have committed a change; it may miss some. Absent where the mark is as good. */
  watchChanges?(wake: () => void): ChangeWatch
  /** Lets the transactions already asked for finish, then closes. Later calls are refused. */
  close(): Promise<void>
}

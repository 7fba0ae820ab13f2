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

/** The one handle through which a transaction's statements run. Dead once the transaction has ended. */
export interface Transaction extends Statements {
  /** Tells a transaction from a database, so that a function that must be atomic can ask for one. */
  readonly kind: 'transaction'
  /**
   * Runs one statement and answers how many rows it changed.
   * @throws ConstraintViolatedError, StoreUnavailableError; after either the transaction can only be rolled back.
   */
  execute(sql: string, parameters?: readonly SqlParameter[]): Promise<number>
}

export interface TransactionOptions {
  /**
   * What an acknowledged write outlives. `power-loss`, the default, waits for the disk. `process-crash` hands the write
   * to the operating system: kill -9 loses nothing, a power cut may lose the last moments. For rows written per request.
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
}

export interface Database extends Statements {
  readonly kind: 'database'
  readonly schemaWords: SchemaWords
  /** A transaction of one statement. */
  execute(sql: string, parameters?: readonly SqlParameter[], options?: TransactionOptions): Promise<number>
  /**
   * Runs `work` in one transaction: committed when it resolves, rolled back when it throws. Transactions run one after
   * another, in the order they were asked for; only statements of the handle take part. `work` must not wait on
   * anything but the handle for long: others queue behind it.
   * @throws TransactionMisuseError when called inside a transaction's work, which would wait for itself.
   * @throws StoreUnavailableError when the store is locked or the queue is full; nothing was written.
   */
  transaction<Result>(
    work: (transaction: Transaction) => Promise<Result>,
    options?: TransactionOptions,
  ): Promise<Result>
  /** A number that differs whenever anyone has committed since the last call; null where the dialect has none. */
  commitMark(): Promise<number | null>
  /** Lets the transactions already asked for finish, then closes. Later calls are refused. */
  close(): Promise<void>
}

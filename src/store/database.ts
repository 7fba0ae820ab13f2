// The database interface of all store files: asynchronous SQL for SQLite and PostgreSQL. Rules: `?` placeholders, none
// inside a literal; only text, 64-bit integers and bytes; ids created by the service; ON CONFLICT instead of failing
// statements, because a failed statement aborts its transaction.

/** A number must be a safe integer; larger integers are bigints. Booleans and fractions are not stored. */
export type SqlParameter = string | number | bigint | Uint8Array | null

/** Integers are numbers up to 2^53 - 1 and bigints above, never rounded. */
export type SqlValue = string | number | bigint | Uint8Array | null

export interface Statements {
  /**
   * Outside a transaction, only reads, including all earlier commits. @throws StoreUnavailableError at the time limit
   */
  query<Row>(sql: string, parameters?: readonly SqlParameter[]): Promise<readonly Row[]>
  /**
   * For reads of many rows: they delay no other read, and organizations take turns (store-turns.ts). Absent in a
   * transaction, and if the database is opened without it. @throws QueueFullError, DeadlineExceededError
   */
  readonly queryLong?: Statements['query'] | undefined
  /**
   * Uses a reserved connection, for the few reads on which all decisions of a process depend. Absent in a transaction,
   * and if reads never wait for a connection.
   */
  readonly queryReserved?: Statements['query'] | undefined
  /**
   * For lookups that a caller without a key can cause: few per SQL text run at once, so that guesses delay no other
   * reads. Absent like `queryReserved`. @throws QueueFullError
   */
  readonly queryUnidentified?: Statements['query'] | undefined
}

export interface DeferredStatement {
  readonly sql: string
  readonly parameters: readonly SqlParameter[]
}

/** The only handle that runs a transaction's statements. Unusable once the transaction has ended. */
export interface Transaction extends Statements {
  /** Distinguishes a transaction from a database, so that an atomic function can require a transaction. */
  readonly kind: 'transaction'
  /** True if no other writer runs until the transaction ends; rows that were read then need no lock. */
  readonly alone?: true
  /**
   * Returns the number of changed rows.
   * @throws ConstraintViolatedError, StoreUnavailableError; after either, the transaction can only be rolled back
   */
  execute(sql: string, parameters?: readonly SqlParameter[]): Promise<number>
  /**
   * Runs statements together with the commit, and then wakes the watchers of changes: a row that every transaction
   * needs is locked only during the commit. Absent if transactions run alone and `commitMark` shows each commit.
   */
  readonly announceAtCommit?: (statements: readonly DeferredStatement[]) => void
}

export interface TransactionOptions {
  /**
   * Failures that an acknowledged write survives. `power-loss` (the default) waits for the disk. `process-crash` passes
   * the write to the operating system: a power loss may lose the latest writes. Use it for rows written per request. On
   * PostgreSQL, both wait for the disk, because a crash of any server process would lose commits with
   * synchronous_commit = off.
   */
  readonly survives?: 'power-loss' | 'process-crash'
  /**
   * Queue for a connection to PostgreSQL. In `request` (the default) and `claim`, organizations take turns. Claims
   * never wait for other writes. `reserved` has its own connection, for the few writes without which a process ends.
   * SQLite has one queue.
   */
  readonly queue?: 'request' | 'claim' | 'reserved'
  /** Organization of a claim. Other writes belong to the current request (src/lib/caller.ts). */
  readonly owner?: string
}

export interface SchemaWords {
  /** A signed 64-bit integer column. */
  readonly integer: string
  /** A column of bytes. */
  readonly bytes: string
  readonly tableEnd: string
  /** Statements that make the database refuse to change or delete a table's rows. */
  appendOnly(table: string): readonly string[]
  /** Adapts a statement of a migration. Absent if statements run unchanged. */
  adapt?(statement: string): string
  /**
   * Statements that serialize processes at the start of each migration's transaction. Absent if transactions are
   * already serialized.
   */
  readonly beginMigration?: readonly string[]
}

export interface ChangeWatch {
  /** Returns false if commits of other processes may be missed. */
  listening(): boolean
  stop(): Promise<void>
}

export interface Database extends Statements {
  readonly kind: 'database'
  /** Defaults to SQLite. */
  readonly dialect?: 'sqlite' | 'postgres'
  readonly schemaWords: SchemaWords
  execute(sql: string, parameters?: readonly SqlParameter[], options?: TransactionOptions): Promise<number>
  /**
   * Runs `work` in one transaction: committed when it resolves, rolled back when it throws. SQLite runs transactions
   * one after another. PostgreSQL runs several at once with READ COMMITTED: a decision that depends on a row must lock
   * it. `work` must wait only for the handle, and must have no other side effects, because it is repeated after a
   * deadlock or a lost connection. @throws TransactionMisuseError inside a transaction's work; StoreUnavailableError if
   * nothing was written, or if the connection was lost during the commit, whose result is then unknown; QueueFullError,
   * DeadlineExceededError if nothing was written
   */
  transaction<Result>(
    work: (transaction: Transaction) => Promise<Result>,
    options?: TransactionOptions,
  ): Promise<Result>
  /**
   * Expected milliseconds until a new claim of the organization would complete. Null if the queue accepts only
   * necessary transactions.
   */
  backlogMs(organizationId: string): number | null
  /** Changes when another connection has committed since the last call. Null if the dialect has no such number. */
  commitMark(): Promise<number | null>
  /**
   * Calls `wake` soon after other processes have committed a change; may miss commits. Absent if `commitMark` is
   * equally fast.
   */
  watchChanges?(wake: () => void): ChangeWatch
  /** Completes the requested transactions, then closes. Later calls are rejected. */
  close(): Promise<void>
}

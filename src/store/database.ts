// Database interface of all store files, for SQLite and PostgreSQL. SQL rules: `?` placeholders, none inside a literal;
// only text, 64-bit integers and bytes; ids created by the service; ON CONFLICT instead of statements that may fail,
// because a failed statement aborts its transaction.

/** Numbers must be safe integers; larger integers are bigints. Booleans and fractions are not supported. */
export type SqlParameter = string | number | bigint | Uint8Array | null

/** Integers are numbers up to 2^53 - 1 and bigints above; never rounded. */
export type SqlValue = string | number | bigint | Uint8Array | null

export interface Statements {
  /** Includes all earlier commits. Read-only outside a transaction. @throws StoreUnavailableError at the time limit */
  query<Row>(sql: string, parameters?: readonly SqlParameter[]): Promise<readonly Row[]>
  /** Reads many rows without delaying other reads; organizations take turns. @throws QueueFullError */
  readonly queryLong?: Statements['query'] | undefined
  /** Runs the few reads that all decisions of a process depend on. Absent if reads never wait for a connection. */
  readonly queryReserved?: Statements['query'] | undefined
  /**
   * Runs lookups for requests that have no API key, a few at a time, so that guesses don't delay other reads.
   * @throws QueueFullError
   */
  readonly queryUnidentified?: Statements['query'] | undefined
}

export interface DeferredStatement {
  readonly sql: string
  readonly parameters: readonly SqlParameter[]
}

/** The only handle for a transaction's statements. Unusable after the transaction has ended. */
export interface Transaction extends Statements {
  /** Lets atomic functions require a transaction by type. */
  readonly kind: 'transaction'
  /** True if no other writer runs until the transaction ends; rows then need no locks. */
  readonly alone?: true
  /** Returns the number of changed rows. @throws ConstraintViolatedError, StoreUnavailableError: then roll back */
  execute(sql: string, parameters?: readonly SqlParameter[]): Promise<number>
  /** Runs statements with the commit, because they lock a row that every transaction needs. Then wakes watchers. */
  readonly announceAtCommit?: (statements: readonly DeferredStatement[]) => void
}

export interface TransactionOptions {
  /**
   * `power-loss` (the default) waits for the disk. `process-crash`, for rows written per request, passes the write to
   * the operating system. PostgreSQL always waits: with synchronous_commit = off, a server crash would lose commits.
   */
  readonly survives?: 'power-loss' | 'process-crash'
  /**
   * Organizations take turns in `request` (default) and `claim`. `reserved` is for writes without which a process
   * exits.
   */
  readonly queue?: 'request' | 'claim' | 'reserved'
  /** Organization of a claim. Other writes belong to the current request (src/lib/caller.ts). */
  readonly owner?: string
}

export interface SchemaWords {
  readonly integer: string
  readonly bytes: string
  readonly tableEnd: string
  appendOnly(table: string): readonly string[]
  adapt?(statement: string): string
  /** Serializes migrations of several processes. Absent if transactions are serialized anyway. */
  readonly beginMigration?: readonly string[]
}

export interface ChangeWatch {
  /** Returns false if commits of other processes may be missed. */
  listening(): boolean
  stop(): Promise<void>
}

export interface Database extends Statements {
  readonly kind: 'database'
  readonly dialect?: 'sqlite' | 'postgres'
  readonly schemaWords: SchemaWords
  execute(sql: string, parameters?: readonly SqlParameter[], options?: TransactionOptions): Promise<number>
  /**
   * Runs `work` in one transaction. SQLite runs transactions sequentially; PostgreSQL uses READ COMMITTED, so lock
   * every row that a decision depends on. `work` must await only its handle and have no side effects, because it is
   * repeated after a deadlock or a lost connection.
   * @throws TransactionMisuseError inside another transaction; QueueFullError, DeadlineExceededError;
   * StoreUnavailableError. Nothing was written, unless the connection was lost during the commit
   */
  transaction<Result>(
    work: (transaction: Transaction) => Promise<Result>,
    options?: TransactionOptions,
  ): Promise<Result>
  /**
   * Returns the expected wait of a new claim in milliseconds; null if the queue accepts only necessary transactions.
   */
  backlogMs(organizationId: string): number | null
  /** Changes when another connection commits. Null if the dialect has no such number. */
  commitMark(): Promise<number | null>
  /** Calls `wake` soon after another process commits; may miss commits. Absent if `commitMark` is equally fast. */
  watchChanges?(wake: () => void): ChangeWatch
  /** Completes the requested transactions, then closes. Later calls are rejected. */
  close(): Promise<void>
}

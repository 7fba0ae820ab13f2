// Opens the database at an address and migrates it. Only this file knows both dialects.
import type { Clock } from '../lib/time.ts'
import { refuseMovedStore } from './copy/moved.ts'
import type { Database } from './database.ts'
import { StoreUnusableError } from './errors.ts'
import { isUpToDate, migrate, wasMigrated } from './migrations.ts'
import { openPostgresDatabase, type PostgresOptions } from './postgres/postgres.ts'
import { openSqliteDatabase, type SqliteOptions } from './sqlite/sqlite.ts'
import { describeStore, type StoreTarget } from './store-address.ts'

interface CommonOptions {
  readonly clock: Clock
  /** How long a call waits for its turn and for another's lock, milliseconds. */
  readonly lockLimitMs?: number
  /** How long one transaction's work may take before it is rolled back, milliseconds. */
  readonly transactionLimitMs?: number
  /** For PostgreSQL alone: how long an attempt to connect may take, milliseconds. */
  readonly connectLimitMs?: number
  /** For PostgreSQL alone: how long one statement may run, milliseconds. */
  readonly statementLimitMs?: number
  /** How many transactions may wait before the next is refused at once. */
  readonly maximumQueued?: number
  /** For SQLite alone; see sqlite.ts. */
  readonly checkpoints?: NonNullable<SqliteOptions['checkpoints']>
  /** For SQLite alone; see sqlite.ts. */
  readonly longReads?: NonNullable<SqliteOptions['longReads']>
  readonly wait?: (milliseconds: number) => Promise<void>
  /** Refuses a PostgreSQL database in which no service has been started yet. A missing file is the caller's to refuse. */
  readonly onlyExisting?: boolean
  /** Refuses a database of an older version instead of changing it. */
  readonly asItIs?: boolean
  /** Opens a store that was moved away, too. */
  readonly evenMoved?: boolean
}

/** `path` is short for a SQLite file. */
export type StoreOptions = CommonOptions & ({ readonly target: StoreTarget } | { readonly path: string })

/** Limit for migrations: making an index over a large table takes long, and so does waiting for a node that makes one. */
const MIGRATION_LIMIT_MS = 3_600_000

const migratePatiently = async (options: PostgresOptions): Promise<void> => {
  const patient = await openPostgresDatabase({
    ...options,
    lockLimitMs: MIGRATION_LIMIT_MS,
    statementLimitMs: MIGRATION_LIMIT_MS,
    transactionLimitMs: MIGRATION_LIMIT_MS,
  })
  try {
    await migrate(patient, options.clock.unixSeconds())
  } finally {
    await patient.close()
  }
}

/**
 * Opens the database, and migrates it unless the options forbid that.
 * @throws StoreUnusableError, also where the store was moved away; StoreUnavailableError
 */
export const openMigratedDatabase = async (options: StoreOptions): Promise<Database> => {
  const target: StoreTarget = 'target' in options ? options.target : { kind: 'sqlite', path: options.path }
  const database =
    target.kind === 'sqlite'
      ? await openSqliteDatabase({ ...options, path: target.path })
      : await openPostgresDatabase({ ...options, target })
  const usable = async (): Promise<Database> => {
    if (options.evenMoved !== true) await refuseMovedStore(database)
    return database
  }
  try {
    if (options.asItIs === true) {
      if (await isUpToDate(database)) return await usable()
      throw new StoreUnusableError(
        `the database in ${describeStore(target)} is of an older version: start this one on it once, or use that version's command`,
      )
    }
    if (target.kind === 'sqlite') await migrate(database, options.clock.unixSeconds())
    else if (!(await isUpToDate(database))) {
      if (options.onlyExisting === true && !(await wasMigrated(database))) {
        throw new StoreUnusableError(`there is no deployment in ${describeStore(target)}: start the service once`)
      }
      await migratePatiently({ ...options, target })
    }
    return await usable()
  } catch (error) {
    await database.close()
    throw error
  }
}

import type { Clock } from '../lib/time.ts'
import { refuseMovedStore } from './copy/moved.ts'
import type { StoreLimits } from './copy/table-scope.ts'
import type { Database } from './database.ts'
import { StoreUnusableError } from './errors.ts'
import { findUsers } from './live-processes.ts'
import { endsOlderPrograms, isUpToDate, migrate, wasMigrated } from './migrations.ts'
import { openPostgresDatabase, type PostgresOptions } from './postgres/postgres.ts'
import { openSqliteDatabase, type SqliteOptions } from './sqlite/sqlite.ts'
import { describeStore, type StoreTarget } from './store-address.ts'

interface CommonOptions {
  readonly clock: Clock
  /** Maximum wait for a turn and for another transaction's lock. */
  readonly lockLimitMs?: number
  /** Maximum duration of a transaction's work before rollback. */
  readonly transactionLimitMs?: number
  /** Limit for PostgreSQL only. */
  readonly connectLimitMs?: number
  /** PostgreSQL only. */
  readonly statementLimitMs?: number
  readonly maximumQueued?: number
  /** SQLite only. */
  readonly checkpoints?: NonNullable<SqliteOptions['checkpoints']>
  /** SQLite only. */
  readonly longReads?: NonNullable<SqliteOptions['longReads']>
  readonly wait?: (milliseconds: number) => Promise<void>
  readonly limits?: StoreLimits | undefined
  /** Rejects a PostgreSQL database that the service has never used. For SQLite, the caller checks the file. */
  readonly onlyExisting?: boolean
  /** Rejects a database of an older version instead of migrating it. */
  readonly asItIs?: boolean
  readonly evenMoved?: boolean
}

/** `path`: a SQLite file. */
export type StoreOptions = CommonOptions & ({ readonly target: StoreTarget } | { readonly path: string })

/** Limit for a migration. Creating an index on a large table takes long; other nodes wait for it. */
const MIGRATION_LIMIT_MS = 3_600_000

/** @throws StoreUnusableError while programs that don't follow the rules of the new schema use the database */
const migrateAlone = async (database: Database, { clock, wait = Bun.sleep }: CommonOptions): Promise<void> => {
  const users = (await endsOlderPrograms(database)) ? await findUsers(database, { wait }) : []
  // Another process of this version may have migrated in the meantime.
  if (users.length > 0 && (await endsOlderPrograms(database))) {
    throw new StoreUnusableError(
      `nodes of an earlier version use the database (${users.join(', ')}) and do not follow this version's rules: stop all of them, then start this version again`,
    )
  }
  await migrate(database, clock.unixSeconds())
}

const migratePatiently = async (options: PostgresOptions): Promise<void> => {
  const patient = await openPostgresDatabase({
    ...options,
    lockLimitMs: MIGRATION_LIMIT_MS,
    statementLimitMs: MIGRATION_LIMIT_MS,
    transactionLimitMs: MIGRATION_LIMIT_MS,
  })
  try {
    await migrateAlone(patient, options)
  } finally {
    await patient.close()
  }
}

/** @throws StoreUnusableError (also for a moved store), StoreUnavailableError */
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
        `the database in ${describeStore(target)} has an older schema: start this version of the service once, or use the command of the older version`,
      )
    }
    if (target.kind === 'sqlite') await migrateAlone(database, options)
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

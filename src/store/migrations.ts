// Migrates a database forward to this program's schema. Each migration is one transaction, recorded with a hash of its
// text: never edit a released migration.
import { createHash } from 'node:crypto'
import type { Database, SchemaWords, Statements, Transaction } from './database.ts'
import { StoreStatementError, StoreUnusableError } from './errors.ts'
import { foundation } from './migrations/0001-foundation.ts'
import { identity } from './migrations/0002-identity.ts'
import { lists } from './migrations/0003-lists.ts'
import { administration } from './migrations/0004-administration.ts'
import { evidence } from './migrations/0005-evidence.ts'
import { webhooks } from './migrations/0006-webhooks.ts'
import { portal } from './migrations/0007-portal.ts'
import { MIGRATIONS_8_TO_12 } from './migrations/0008-0012.ts'
import { MIGRATIONS_13_TO_19 } from './migrations/0013-0019.ts'
import { sessionChecks } from './migrations/0020-session-checks.ts'
import { screening } from './migrations/0021-screening.ts'
import { checksAgain } from './migrations/0022-checks-again.ts'
import { MIGRATIONS_23_TO_28 } from './migrations/0023-0028.ts'
import { MIGRATIONS_FROM_29 } from './migrations/from-0029.ts'

export interface Migration {
  readonly number: number
  readonly name: string
  /** Returns SQL for both databases, with `words` inserted. */
  statements(words: SchemaWords): readonly string[]
  /**
   * Oldest schema whose programs may start with this migration. Defaults to its own number. Set it only if those
   * programs follow every rule of the migration: otherwise, they could sign twice or complete a session that must wait.
   */
  readonly worksWith?: number
}

export const MIGRATIONS: readonly Migration[] = [
  foundation,
  identity,
  lists,
  administration,
  evidence,
  webhooks,
  portal,
  ...MIGRATIONS_8_TO_12,
  ...MIGRATIONS_13_TO_19,
  sessionChecks,
  screening,
  checksAgain,
  ...MIGRATIONS_23_TO_28,
  ...MIGRATIONS_FROM_29,
]

const PLAIN_WORDS: SchemaWords = {
  integer: '<integer>',
  bytes: '<bytes>',
  tableEnd: '<end>',
  appendOnly: (table) => [`<append-only ${table}>`],
}

const contentHash = (migration: Migration): string =>
  createHash('sha256').update(migration.statements(PLAIN_WORDS).join(';\n')).digest('hex')

interface AppliedRow {
  readonly number: number
  readonly content_hash: string
}

interface History {
  readonly applied: readonly AppliedRow[]
  /** Null if no migration is unknown, or if an unknown migration does not specify it. */
  readonly worksWith: number | null
}

const refuseForeignHistory = ({ applied, worksWith }: History, migrations: readonly Migration[]): void => {
  const newest = Math.max(0, ...applied.map((row) => row.number))
  if (newest > migrations.length && (worksWith === null || worksWith > migrations.length)) {
    throw new StoreUnusableError(
      `the database is newer than this program (schema ${newest}; this program supports ${migrations.length}): start a newer version, or restore the backup made before the upgrade`,
    )
  }
  for (const row of applied) {
    const migration = migrations[row.number - 1]
    if (migration === undefined && row.number > migrations.length) continue
    if (migration === undefined || contentHash(migration) !== row.content_hash) {
      throw new StoreUnusableError(
        `the database's schema ${row.number} differs from this program's schema: restore a backup`,
      )
    }
  }
}

const readApplied = (statements: Statements): Promise<readonly AppliedRow[]> =>
  statements.query<AppliedRow>('SELECT number, content_hash FROM schema_migrations')

/** Returns the oldest schema that works with all these migrations; null if one does not specify it. */
const readWorksWith = async (statements: Statements, unknown: readonly number[]): Promise<number | null> => {
  const rows = await statements.query<{ number: number; works_with: number }>(
    'SELECT number, works_with FROM schema_readers',
  )
  const worksWith = new Map(rows.map((row) => [row.number, row.works_with]))
  const needed = unknown.map((number) => worksWith.get(number) ?? Number.POSITIVE_INFINITY)
  const highest = Math.max(...needed)
  return Number.isFinite(highest) ? highest : null
}

const readHistory = async (statements: Statements, migrations: readonly Migration[]): Promise<History> => {
  const applied = await readApplied(statements)
  // Only a database newer than this program certainly has the table that `readWorksWith` reads.
  const unknown = applied.map((row) => row.number).filter((number) => number > migrations.length)
  return { applied, worksWith: unknown.length === 0 ? null : await readWorksWith(statements, unknown) }
}

/** @throws StoreUnusableError if the database is newer or its history differs */
export const requireKnownSchema = async (
  statements: Statements,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<readonly AppliedRow[]> => {
  const history = await readHistory(statements, migrations)
  refuseForeignHistory(history, migrations)
  return history.applied
}

export const wasMigrated = async (database: Database): Promise<boolean> => {
  try {
    return (await readApplied(database)).length > 0
  } catch (error) {
    if (error instanceof StoreStatementError) return false
    throw error
  }
}

export const isUpToDate = async (
  database: Database,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<boolean> => {
  try {
    return (await requireKnownSchema(database, migrations)).length >= migrations.length
  } catch (error) {
    // The table is missing before first startup. Any other cause is reported when creating the table fails.
    if (error instanceof StoreStatementError) return false
    throw error
  }
}

/** First schema with the table `live_processes`. */
const SHARED_SCHEMA = 9

/** Returns whether a pending migration is incompatible with older processes that may still use the database. */
export const endsOlderPrograms = async (
  database: Database,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<boolean> => {
  if (!(await wasMigrated(database))) return false
  const newest = Math.max(...(await readApplied(database)).map(({ number }) => number))
  const breaks = migrations.some(({ number, worksWith = number }) => number > newest && worksWith > newest)
  return breaks && newest >= SHARED_SCHEMA
}

/** Safe to call concurrently. @throws StoreUnusableError if the database is newer or its history differs */
export const migrate = async (
  database: Database,
  nowSeconds: number,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> => {
  const { schemaWords } = database
  // Usually nothing is missing, so startup does not wait for another process's lock.
  if (await isUpToDate(database, migrations)) return
  const { beginMigration = [], adapt = (statement: string) => statement } = schemaWords
  const inTurn = (work: (transaction: Transaction) => Promise<void>): Promise<void> =>
    database.transaction(async (transaction) => {
      for (const statement of beginMigration) await transaction.query(statement)
      await work(transaction)
    })
  await inTurn(async (transaction) => {
    await transaction.execute(
      adapt(`CREATE TABLE IF NOT EXISTS schema_migrations (
       number ${schemaWords.integer} PRIMARY KEY,
       name TEXT NOT NULL,
       content_hash TEXT NOT NULL,
       applied_at_seconds ${schemaWords.integer} NOT NULL
     )${schemaWords.tableEnd}`),
    )
    await transaction.execute(
      adapt(`CREATE TABLE IF NOT EXISTS schema_readers (
       number ${schemaWords.integer} PRIMARY KEY,
       works_with ${schemaWords.integer} NOT NULL
     )${schemaWords.tableEnd}`),
    )
  })
  for (const migration of migrations) {
    await inTurn(async (transaction) => {
      // Another process may have applied it in the meantime.
      const applied = await requireKnownSchema(transaction, migrations)
      if (applied.some((row) => row.number === migration.number)) return
      for (const statement of migration.statements(schemaWords)) await transaction.execute(adapt(statement))
      await transaction.execute(
        'INSERT INTO schema_migrations (number, name, content_hash, applied_at_seconds) VALUES (?, ?, ?, ?)',
        [migration.number, migration.name, contentHash(migration), nowSeconds],
      )
      await transaction.execute('INSERT INTO schema_readers (number, works_with) VALUES (?, ?)', [
        migration.number,
        migration.worksWith ?? migration.number,
      ])
    })
  }
}

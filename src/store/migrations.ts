// Brings a database's tables to what this code expects: forward only, one transaction each, recorded with a hash of
// their text. A shipped migration is never edited; a later one changes what it made.
import { createHash } from 'node:crypto'
import type { Database, SchemaWords, Statements } from './database.ts'
import { StoreStatementError, StoreUnusableError } from './errors.ts'
import { foundation } from './migrations/0001-foundation.ts'
import { identity } from './migrations/0002-identity.ts'
import { lists } from './migrations/0003-lists.ts'
import { administration } from './migrations/0004-administration.ts'
import { evidence } from './migrations/0005-evidence.ts'
import { webhooks } from './migrations/0006-webhooks.ts'
import { portal } from './migrations/0007-portal.ts'
import { policyShadow } from './migrations/0008-policy-shadow.ts'

export interface Migration {
  /** 1, 2, 3 … without gaps. */
  readonly number: number
  readonly name: string
  /** SQL that SQLite and PostgreSQL both take, once the words are filled in. */
  statements(words: SchemaWords): readonly string[]
}

export const MIGRATIONS: readonly Migration[] = [
  foundation,
  identity,
  lists,
  administration,
  evidence,
  webhooks,
  portal,
  policyShadow,
]

/** The words left as they are called. */
const PLAIN_WORDS: SchemaWords = {
  integer: '<integer>',
  bytes: '<bytes>',
  tableEnd: '<end>',
  appendOnly: (table) => [`<append-only ${table}>`],
}

/** The same in every dialect. */
const contentHash = (migration: Migration): string =>
  createHash('sha256').update(migration.statements(PLAIN_WORDS).join(';\n')).digest('hex')

interface AppliedRow {
  readonly number: number
  readonly content_hash: string
}

const refuseForeignHistory = (applied: readonly AppliedRow[], migrations: readonly Migration[]): void => {
  const newest = Math.max(0, ...applied.map((row) => row.number))
  if (newest > migrations.length) {
    throw new StoreUnusableError(
      `the database is newer than this program (schema ${newest}, known up to ${migrations.length}): start a newer version`,
    )
  }
  for (const row of applied) {
    const migration = migrations[row.number - 1]
    if (migration === undefined || contentHash(migration) !== row.content_hash) {
      throw new StoreUnusableError(
        `the database's schema ${row.number} is not the one of this program: restore a backup`,
      )
    }
  }
}

const readApplied = (statements: Statements): Promise<readonly AppliedRow[]> =>
  statements.query<AppliedRow>('SELECT number, content_hash FROM schema_migrations')

const isUpToDate = async (database: Database, migrations: readonly Migration[]): Promise<boolean> => {
  try {
    const applied = await readApplied(database)
    refuseForeignHistory(applied, migrations)
    return applied.length === migrations.length
  } catch (error) {
    // Before the first start there is no such table. Whatever else it was, creating the table will tell.
    if (error instanceof StoreStatementError) return false
    throw error
  }
}

/**
 * Applies what is missing. Safe when several processes start at once, and does nothing the second time.
 * @throws StoreUnusableError when the database is newer than the code or its history differs; nothing is changed then.
 */
export const migrate = async (
  database: Database,
  nowSeconds: number,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> => {
  const { schemaWords } = database
  // Usually nothing is missing, and then nothing is written: a start does not wait for whoever holds the lock.
  if (await isUpToDate(database, migrations)) return
  await database.execute(
    `CREATE TABLE IF NOT EXISTS schema_migrations (
       number ${schemaWords.integer} PRIMARY KEY,
       name TEXT NOT NULL,
       content_hash TEXT NOT NULL,
       applied_at_seconds ${schemaWords.integer} NOT NULL
     )${schemaWords.tableEnd}`,
  )
  for (const migration of migrations) {
    await database.transaction(async (transaction) => {
      // Read again each time: another process may have applied it while this one waited for the lock.
      const applied = await readApplied(transaction)
      refuseForeignHistory(applied, migrations)
      if (applied.some((row) => row.number === migration.number)) return
      for (const statement of migration.statements(schemaWords)) await transaction.execute(statement)
      await transaction.execute(
        'INSERT INTO schema_migrations (number, name, content_hash, applied_at_seconds) VALUES (?, ?, ?, ?)',
        [migration.number, migration.name, contentHash(migration), nowSeconds],
      )
    })
  }
}

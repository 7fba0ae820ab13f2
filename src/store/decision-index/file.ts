// SQLite file of the decision index. It is derived from the log, so a damaged or outdated file is rebuilt.
import { Database, type Statement } from 'bun:sqlite'
import { chmodSync, closeSync, existsSync, openSync, rmSync } from 'node:fs'
import { createTallyTable } from './tally-table.ts'

/** Increment when the stored data or its format changes. */
const VERSION = '6'

/**
 * Rows per generation: few enough to scan without an index, and to create indexes without blocking searches for long.
 */
export const GENERATION_ROWS = 200_000

/** Columns in every index, so that non-matching rows are not read from the table. */
const ASKED = 'at, number, project, policy, rule, chain, compliant, shadow'

export const GENERATION_INDEXES: ReadonlyArray<{ readonly name: string; readonly on: string }> = [
  { name: 'wallet', on: `(organization, wallet, ${ASKED})` },
  { name: 'uuid', on: '(uuid)' },
  { name: 'project', on: `(organization, project, ${ASKED.replace(' project,', '')})` },
  { name: 'rule', on: `(organization, rule, ${ASKED.replace(' rule,', '')})` },
  { name: 'denied', on: `(organization, ${ASKED}) WHERE compliant = 0` },
  { name: 'shadow', on: `(organization, shadow, ${ASKED.replace(', shadow', '')}) WHERE shadow <> 0` },
]

export const tableOf = (generation: number): string => `decisions_${generation}`

export const createGenerationTable = (generation: number): string =>
  `CREATE TABLE ${tableOf(generation)} (
     organization INTEGER NOT NULL, at INTEGER NOT NULL, number INTEGER NOT NULL, project INTEGER NOT NULL,
     policy INTEGER NOT NULL, rule INTEGER NOT NULL, chain INTEGER NOT NULL, compliant INTEGER NOT NULL,
     shadow INTEGER NOT NULL, key_id INTEGER NOT NULL, wallet INTEGER NOT NULL, uuid INTEGER NOT NULL, segment INTEGER NOT NULL,
     offset INTEGER NOT NULL, length INTEGER NOT NULL, PRIMARY KEY (organization, at, number)
   ) STRICT, WITHOUT ROWID`

export const TALLIES = createTallyTable('tallies')

const SCHEMA = [
  'CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT',
  'CREATE TABLE names (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, text TEXT NOT NULL, UNIQUE (kind, text)) STRICT',
  'CREATE TABLE positions (slot TEXT PRIMARY KEY, segment TEXT NOT NULL, offset INTEGER NOT NULL) STRICT',
  `CREATE TABLE generations (id INTEGER PRIMARY KEY, rows INTEGER NOT NULL, lowest_at INTEGER NOT NULL,
     highest_at INTEGER NOT NULL, complete INTEGER NOT NULL, indexes INTEGER NOT NULL) STRICT`,
  ...TALLIES.create('INTEGER', ' STRICT, WITHOUT ROWID'),
  'CREATE TABLE withheld (uuid INTEGER PRIMARY KEY) STRICT',
]

export interface IndexFile {
  readonly database: Database
  statement(sql: string): Statement
  forget(sql: string): void
  close(): void
}

const removeFiles = (path: string): void => {
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
}

export const setConnection = (database: Database): void => {
  database.run('PRAGMA temp_store = MEMORY')
  database.run('PRAGMA trusted_schema = OFF')
  database.run('PRAGMA cache_size = -65536')
  // Reads come from the operating system's page cache without copying.
  database.run('PRAGMA mmap_size = 8589934592')
}

const openDatabase = (path: string): Database => {
  // Readable only by the owner, like every file in the data folder.
  closeSync(openSync(path, 'a', 0o600))
  chmodSync(path, 0o600)
  const database = new Database(path, { create: true, readwrite: true, strict: true })
  // Speeds up sequential reading. Must be set before the first write.
  database.run('PRAGMA page_size = 8192')
  database.run('PRAGMA journal_mode = WAL')
  // A power loss can lose the latest rows, but only together with their log positions, so the lines are indexed again.
  database.run('PRAGMA synchronous = NORMAL')
  setConnection(database)
  return database
}

export const hasVersion = (database: Database): boolean => {
  try {
    const row = database.query("SELECT value FROM meta WHERE name = 'version'").get() as { value: string } | null
    return row?.value === VERSION
  } catch {
    return false
  }
}

const prepareDatabase = (path: string): Database => {
  if (existsSync(path)) {
    try {
      const known = openDatabase(path)
      if (hasVersion(known)) return known
      known.close()
    } catch {
      // The file isn't a database, so it is rebuilt.
    }
  }
  removeFiles(path)
  const database = openDatabase(path)
  database.transaction(() => {
    for (const statement of SCHEMA) database.run(statement)
    database.query("INSERT INTO meta (name, value) VALUES ('version', ?)").run(VERSION)
  })()
  return database
}

export const openIndexFile = (path: string, fresh = false): IndexFile => {
  if (fresh) removeFiles(path)
  const database = prepareDatabase(path)
  const statements = new Map<string, Statement>()
  return {
    database,
    statement: (sql) => {
      let statement = statements.get(sql)
      if (statement === undefined) {
        statement = database.prepare(sql)
        statements.set(sql, statement)
      }
      return statement
    },
    forget: (sql) => {
      statements.get(sql)?.finalize()
      statements.delete(sql)
    },
    close: () => {
      for (const statement of statements.values()) statement.finalize()
      statements.clear()
      database.close()
    },
  }
}

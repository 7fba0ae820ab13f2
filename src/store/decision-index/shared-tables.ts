// Decision index in PostgreSQL, shared by all nodes. Tables of another version are rebuilt from the logs.
import type { Database } from '../database.ts'
import { createTallyTable } from './tally-table.ts'

export const SHARED_INDEX_PREFIX = 'decision_index_'

export const SHARED_TALLIES = createTallyTable(`${SHARED_INDEX_PREFIX}tallies`)

/** Increment when the stored data or its format changes. */
const VERSION = '5'

const TABLES = ['rows', 'tallies', 'positions', 'withheld', 'nodes', 'meta'].map((name) => SHARED_INDEX_PREFIX + name)

const create = ({ schemaWords }: Database): readonly string[] => {
  const { integer, bytes, tableEnd } = schemaWords
  return [
    `CREATE TABLE decision_index_meta (name TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL)${tableEnd}`,
    `CREATE TABLE decision_index_nodes (
       node TEXT PRIMARY KEY NOT NULL, decisions ${integer} NOT NULL
     )${tableEnd}`,
    `CREATE TABLE decision_index_positions (
       node TEXT NOT NULL, slot TEXT NOT NULL, segment TEXT NOT NULL, start_byte ${integer} NOT NULL,
       PRIMARY KEY (node, slot)
     )${tableEnd}`,
    `CREATE TABLE decision_index_withheld (uuid ${integer} PRIMARY KEY NOT NULL)${tableEnd}`,
    // The number is derived from the position in the log, so that indexing a line twice adds one row.
    `CREATE TABLE decision_index_rows (
       organization_id TEXT NOT NULL, at ${integer} NOT NULL, number ${integer} NOT NULL,
       project_id TEXT NOT NULL, policy_id TEXT NOT NULL, key_id TEXT NOT NULL, rule TEXT NOT NULL, chain TEXT NOT NULL,
       compliant ${integer} NOT NULL, shadow TEXT, wallet ${integer} NOT NULL, uuid ${integer} NOT NULL,
       node TEXT NOT NULL, slot TEXT NOT NULL, segment TEXT NOT NULL, start_byte ${integer} NOT NULL,
       byte_length ${integer} NOT NULL, line_hash ${bytes} NOT NULL, PRIMARY KEY (organization_id, at, number)
     )${tableEnd}`,
    ...SHARED_TALLIES.create(integer, tableEnd),
    'CREATE INDEX decision_index_by_uuid ON decision_index_rows (uuid)',
    'CREATE INDEX decision_index_by_wallet ON decision_index_rows (organization_id, wallet, at, number)',
    'CREATE INDEX decision_index_by_project ON decision_index_rows (organization_id, project_id, at, number)',
    'CREATE INDEX decision_index_by_denial ON decision_index_rows (organization_id, at, number) WHERE compliant = 0',
    'CREATE INDEX decision_index_by_shadow ON decision_index_rows (organization_id, shadow, at) WHERE shadow IS NOT NULL',
  ]
}

const EXISTS = {
  sqlite: "SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'decision_index_meta'",
  postgres: `SELECT relname::text AS name FROM pg_class WHERE relname = 'decision_index_meta'
    AND relnamespace = current_schema()::regnamespace`,
} as const

/** Creates missing or outdated tables. Safe for concurrent starts of several nodes. */
export const prepareSharedIndex = (database: Database): Promise<void> => {
  const { beginMigration = [], adapt = (statement: string) => statement } = database.schemaWords
  return database.transaction(async (transaction) => {
    for (const statement of beginMigration) await transaction.query(statement)
    const exists = (await transaction.query(EXISTS[database.dialect ?? 'sqlite'])).length > 0
    if (exists) {
      const [row] = await transaction.query<{ value: string }>(
        "SELECT value FROM decision_index_meta WHERE name = 'version'",
      )
      if (row?.value === VERSION) return
      for (const table of TABLES) await transaction.execute(`DROP TABLE IF EXISTS ${table}`)
    }
    for (const statement of create(database)) await transaction.execute(adapt(statement))
    await transaction.execute("INSERT INTO decision_index_meta (name, value) VALUES ('version', ?)", [VERSION])
  })
}

// Tables of the Merkle tree, in a separate SQLite file or in PostgreSQL. They can't be rebuilt: the logs don't contain
// the order of the leaves.
import { LOG_TREE_PREFIX } from '../../../store/copy/table-catalog.ts'
import type { Database, Statements, Transaction } from '../../../store/database.ts'
import { StoreUnusableError } from '../../../store/errors.ts'

const VERSION = '1'

const create = ({ schemaWords }: Pick<Database, 'schemaWords'>): readonly string[] => {
  const { integer, bytes, tableEnd } = schemaWords
  return [
    `CREATE TABLE decision_tree_meta (name TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL)${tableEnd}`,
    // One row, the latest head. The signed head in `checkpoint` may briefly be older.
    `CREATE TABLE decision_tree_head (
       id ${integer} PRIMARY KEY NOT NULL, size ${integer} NOT NULL, root ${bytes} NOT NULL,
       signed_size ${integer} NOT NULL, checkpoint TEXT NOT NULL
     )${tableEnd}`,
    `CREATE TABLE decision_tree_tiles (
       level ${integer} NOT NULL, number ${integer} NOT NULL, hashes ${bytes} NOT NULL, PRIMARY KEY (level, number)
     )${tableEnd}`,
    `CREATE TABLE decision_tree_segments (
       id ${integer} PRIMARY KEY NOT NULL, node TEXT NOT NULL, slot TEXT NOT NULL, segment TEXT NOT NULL,
       taken_bytes ${integer} NOT NULL, UNIQUE (node, slot, segment)
     )${tableEnd}`,
    'CREATE INDEX decision_tree_by_segment ON decision_tree_segments (slot, segment)',
    // Maps lines to leaves: byte range of a segment, and its first leaf.
    `CREATE TABLE decision_tree_spans (
       segment_id ${integer} NOT NULL, start_byte ${integer} NOT NULL, end_byte ${integer} NOT NULL,
       first_leaf ${integer} NOT NULL, leaves ${integer} NOT NULL, PRIMARY KEY (segment_id, start_byte)
     )${tableEnd}`,
    // Submitted leaves that no head covers yet.
    `CREATE TABLE decision_tree_pending (
       segment_id ${integer} NOT NULL, start_byte ${integer} NOT NULL, end_byte ${integer} NOT NULL,
       hashes ${bytes} NOT NULL, PRIMARY KEY (segment_id, start_byte)
     )${tableEnd}`,
  ]
}

const EXISTS = {
  sqlite: "SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'decision_tree_meta'",
  postgres: `SELECT relname::text AS name FROM pg_class WHERE relname = 'decision_tree_meta'
    AND relnamespace = current_schema()::regnamespace`,
} as const

type Dialect = Pick<Database, 'schemaWords' | 'dialect'>

export const hasDecisionTree = async ({ dialect }: Dialect, statements: Statements): Promise<boolean> =>
  (await statements.query(EXISTS[dialect ?? 'sqlite'])).length > 0

/** Call only if the tables are missing. */
export const createDecisionTree = async (database: Dialect, transaction: Transaction): Promise<void> => {
  const { adapt = (statement: string) => statement } = database.schemaWords
  for (const statement of create(database)) await transaction.execute(adapt(statement))
  await transaction.execute("INSERT INTO decision_tree_meta (name, value) VALUES ('version', ?)", [VERSION])
}

/** Creates missing tables, even if several nodes start at once. @throws StoreUnusableError */
export const prepareDecisionTree = (database: Database): Promise<void> => {
  const { beginMigration = [] } = database.schemaWords
  return database.transaction(async (transaction) => {
    for (const statement of beginMigration) await transaction.query(statement)
    if (!(await hasDecisionTree(database, transaction))) await createDecisionTree(database, transaction)
    const [row] = await transaction.query<{ value: string }>(
      "SELECT value FROM decision_tree_meta WHERE name = 'version'",
    )
    if (row?.value !== VERSION) throw new StoreUnusableError('the tree of the decision log has a different version')
  })
}

const TABLES = ['head', 'tiles', 'segments', 'spans', 'pending', 'meta'].map((name) => LOG_TREE_PREFIX + name)

export const dropDecisionTree = (database: Database): Promise<void> =>
  database.transaction(async (transaction) => {
    for (const table of TABLES) await transaction.execute(`DROP TABLE IF EXISTS ${table}`)
  })

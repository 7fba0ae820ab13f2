// Reads the list of tables from the database, so that copies include future tables.
// https://sqlite.org/pragma.html#pragfunc, https://www.postgresql.org/docs/current/catalogs.html

import type { Database, Statements } from '../database.ts'
import { SHARED_INDEX_PREFIX } from '../decision-index/shared-tables.ts'
import { StoreUnusableError } from '../errors.ts'

export interface CatalogTable {
  readonly name: string
  /** Sorted by name, because the order of creation may differ between databases. */
  readonly columns: readonly string[]
  readonly key: readonly string[]
}

export const MIGRATIONS_TABLE = 'schema_migrations'
const READERS_TABLE = 'schema_readers'

export const LOG_TREE_PREFIX = 'decision_tree_'

/** Excludes the shared decision index and the tree, which are derived from logs. */
const isStored = (name: string): boolean =>
  name !== MIGRATIONS_TABLE &&
  name !== READERS_TABLE &&
  !name.startsWith(SHARED_INDEX_PREFIX) &&
  !name.startsWith(LOG_TREE_PREFIX)

interface ColumnRow {
  readonly table_name: string
  readonly column_name: string
}

interface KeyRow extends ColumnRow {
  readonly position: number
}

interface ReferenceRow {
  readonly child: string
  readonly parent: string
}

const OWN_TABLES = "m.type = 'table' AND substr(m.name, 1, 7) <> 'sqlite_'"
const OWN_SCHEMA = 'c.relnamespace = current_schema()::regnamespace'

const QUERIES = {
  sqlite: {
    columns: `SELECT m.name AS table_name, p.name AS column_name FROM sqlite_master m JOIN pragma_table_info(m.name) p
      WHERE ${OWN_TABLES}`,
    keys: `SELECT m.name AS table_name, p.name AS column_name, p.pk AS position
      FROM sqlite_master m JOIN pragma_table_info(m.name) p WHERE ${OWN_TABLES} AND p.pk > 0`,
    references: `SELECT DISTINCT m.name AS child, f."table" AS parent
      FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f WHERE ${OWN_TABLES}`,
  },
  postgres: {
    columns: `SELECT c.relname::text AS table_name, a.attname::text AS column_name
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
      WHERE c.relkind IN ('r', 'p') AND ${OWN_SCHEMA} AND a.attnum > 0 AND NOT a.attisdropped`,
    keys: `SELECT c.relname::text AS table_name, a.attname::text AS column_name, k.position::bigint AS position
      FROM pg_class c JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
      CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k (number, position)
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number
      WHERE ${OWN_SCHEMA}`,
    references: `SELECT DISTINCT c.relname::text AS child, p.relname::text AS parent
      FROM pg_constraint f JOIN pg_class c ON c.oid = f.conrelid JOIN pg_class p ON p.oid = f.confrelid
      WHERE f.contype = 'f' AND ${OWN_SCHEMA}`,
  },
} as const

const byText = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)

const inReferenceOrder = (tables: readonly CatalogTable[], references: readonly ReferenceRow[]): CatalogTable[] => {
  const waiting = new Map(tables.map((table) => [table.name, table]))
  const ordered: CatalogTable[] = []
  while (waiting.size > 0) {
    const ready = [...waiting.values()].filter(
      ({ name }) => !references.some(({ child, parent }) => child === name && parent !== name && waiting.has(parent)),
    )
    if (ready.length === 0) {
      throw new StoreUnusableError(`the references between tables form a cycle: ${[...waiting.keys()].join(', ')}`)
    }
    for (const table of ready) {
      waiting.delete(table.name)
      ordered.push(table)
    }
  }
  return ordered
}

/** Returns the tables to copy, referenced tables first. @throws StoreUnusableError for a table without a primary key */
export const readCatalog = async (
  statements: Statements,
  dialect: NonNullable<Database['dialect']>,
): Promise<readonly CatalogTable[]> => {
  const queries = QUERIES[dialect]
  const columns = await statements.query<ColumnRow>(queries.columns)
  const keys = await statements.query<KeyRow>(queries.keys)
  const references = await statements.query<ReferenceRow>(queries.references)
  const names = [...new Set(columns.map(({ table_name }) => table_name))].filter(isStored)
  const tables = names.sort(byText).map((name): CatalogTable => {
    const key = keys
      .filter(({ table_name }) => table_name === name)
      .sort((left, right) => Number(left.position) - Number(right.position))
      .map(({ column_name }) => column_name)
    if (key.length === 0) throw new StoreUnusableError(`the table ${name} has no primary key`)
    const own = columns.filter(({ table_name }) => table_name === name).map(({ column_name }) => column_name)
    return { name, columns: own.sort(byText), key }
  })
  return inReferenceOrder(tables, references)
}

import { createHash } from 'node:crypto'
import type { SqlValue, Statements } from '../database.ts'
import type { CatalogTable } from './table-catalog.ts'

export type TableRow = Readonly<Record<string, SqlValue>>

export interface TableContent {
  readonly rows: number
  readonly sha256: string
}

/** Rows per batch. A list chunk has up to a few hundred kilobytes; other rows have a few hundred bytes. */
const BATCH_ROWS = 250

/** Names come from the catalog and may be SQL keywords. */
export const quoted = (name: string): string => `"${name}"`
const listed = (names: readonly string[]): string => names.map(quoted).join(', ')

/** One statement per batch, with the isolation of `statements`. */
export const readRows = async function* (
  statements: Statements,
  table: CatalogTable,
): AsyncGenerator<readonly TableRow[]> {
  const { name, columns, key } = table
  const head = `SELECT ${listed(columns)} FROM ${quoted(name)}`
  const tail = `ORDER BY ${listed(key)} LIMIT ${BATCH_ROWS}`
  const after = `WHERE (${listed(key)}) > (${key.map(() => '?').join(', ')})`
  let last: TableRow | undefined
  for (;;) {
    const position = last
    const rows =
      position === undefined
        ? await statements.query<TableRow>(`${head} ${tail}`)
        : await statements.query<TableRow>(
            `${head} ${after} ${tail}`,
            key.map((column) => position[column] ?? null),
          )
    if (rows.length > 0) yield rows
    last = rows.at(-1)
    if (rows.length < BATCH_ROWS || last === undefined) return
  }
}

const encode = (value: SqlValue): Uint8Array => {
  if (value === null) return Buffer.from('n')
  if (typeof value === 'number' || typeof value === 'bigint') return Buffer.from(`i${value};`)
  const bytes = typeof value === 'string' ? Buffer.from(value) : value
  return Buffer.concat([Buffer.from(`${typeof value === 'string' ? 't' : 'b'}${bytes.length}:`), bytes])
}

export const createContentHash = ({ name, columns }: CatalogTable) => {
  const hash = createHash('sha256').update(JSON.stringify([name, columns]))
  let rows = 0
  return {
    add: (row: TableRow): void => {
      for (const column of columns) hash.update(encode(row[column] ?? null))
      rows += 1
    },
    result: (): TableContent => ({ rows, sha256: hash.digest('hex') }),
  }
}

export const readContent = async (statements: Statements, table: CatalogTable): Promise<TableContent> => {
  const content = createContentHash(table)
  for await (const rows of readRows(statements, table)) for (const row of rows) content.add(row)
  return content.result()
}

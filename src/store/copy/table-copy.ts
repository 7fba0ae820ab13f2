// Copies a snapshot of one database to a new database, in one transaction of the target.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../lib/time.ts'
import type { Database, Statements, Transaction } from '../database.ts'
import { StoreUnusableError } from '../errors.ts'
import { openMigratedDatabase } from '../open-database.ts'
import { lockDeployment } from '../row-locks.ts'
import type { StoreTarget } from '../store-address.ts'
import { type CatalogTable, MIGRATIONS_TABLE, readCatalog } from './table-catalog.ts'
import { createContentHash, quoted, readContent, readRows, type TableContent, type TableRow } from './table-content.ts'

export interface CopiedTable extends TableContent {
  readonly name: string
}

export interface CopyProgress {
  readonly table: string
  readonly rows: number
  readonly tablesDone: number
  readonly tablesTotal: number
}

export interface CopyOptions {
  readonly onProgress?: (progress: CopyProgress) => void
  readonly alongside?: (transaction: Transaction) => Promise<void>
  /** Called after the copy was committed, in a transaction of the source that blocks changes during the copy. */
  readonly markSource?: (transaction: Transaction) => Promise<void>
}

/** Limit for a copy, below the timer limits of both databases. */
export const COPY_LIMIT_MS = 43_200_000
/** Maximum parameters per statement, within the limits of both dialects. */
const PARAMETERS_MAX = 2_000

const open = (target: StoreTarget, asItIs: boolean): Promise<Database> =>
  openMigratedDatabase({
    target,
    asItIs,
    clock: systemClock,
    transactionLimitMs: COPY_LIMIT_MS,
    statementLimitMs: COPY_LIMIT_MS,
    lockLimitMs: 10_000,
  })

/** Rejects an older version, because a copy must not migrate its source. @throws the errors of `open` */
export const openCopySource = (source: StoreTarget): Promise<Database> => open(source, true)

export const openMoved = (store: StoreTarget): Promise<Database> =>
  openMigratedDatabase({ target: store, clock: systemClock, asItIs: true, evenMoved: true })

export const openForCopying = (target: StoreTarget): Promise<Database> => open(target, false)

const dialectOf = ({ dialect = 'sqlite' }: Database) => dialect

export const readSnapshot = <Result>(
  database: Database,
  work: (transaction: Transaction) => Promise<Result>,
  mode: 'READ ONLY' | 'READ WRITE' = 'READ ONLY',
): Promise<Result> =>
  database.transaction(async (transaction) => {
    if (dialectOf(database) === 'postgres') {
      await transaction.query(`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ ${mode}`)
    }
    return work(transaction)
  })

interface Schema {
  readonly tables: readonly CatalogTable[]
  readonly migrations: string
}

const readSchema = async (statements: Statements, database: Database): Promise<Schema> => {
  const applied = await statements.query<{ number: number; content_hash: string }>(
    `SELECT number, content_hash FROM ${MIGRATIONS_TABLE} ORDER BY number`,
  )
  return {
    tables: await readCatalog(statements, dialectOf(database)),
    migrations: JSON.stringify(applied.map(({ number, content_hash }) => [Number(number), content_hash])),
  }
}

const namesOf = ({ tables }: Schema): string =>
  JSON.stringify(tables.map(({ name, columns, key }) => [name, columns, key]).sort())

/** Returns the rows that the migrations themselves insert, for example counters. */
const readFresh = async (): Promise<{
  readonly schema: Schema
  readonly contents: ReadonlyMap<string, TableContent>
}> => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-schema-'))
  try {
    const database = await openForCopying({ kind: 'sqlite', path: join(folder, 'fresh.db') })
    try {
      const schema = await readSchema(database, database)
      const contents = new Map<string, TableContent>()
      for (const table of schema.tables) contents.set(table.name, await readContent(database, table))
      return { schema, contents }
    } finally {
      await database.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const requireFresh = async (
  transaction: Transaction,
  tables: readonly CatalogTable[],
  contents: ReadonlyMap<string, TableContent>,
): Promise<void> => {
  for (const table of tables) {
    const expected = contents.get(table.name) ?? createContentHash(table).result()
    if ((await readContent(transaction, table)).sha256 !== expected.sha256) {
      throw new StoreUnusableError(`the target is not empty: its table ${table.name} contains other data`)
    }
  }
}

const insertRows = async (transaction: Transaction, table: CatalogTable, rows: readonly TableRow[]): Promise<void> => {
  const { name, columns } = table
  const one = `(${columns.map(() => '?').join(', ')})`
  const head = `INSERT INTO ${quoted(name)} (${columns.map(quoted).join(', ')}) VALUES `
  const most = Math.max(1, Math.floor(PARAMETERS_MAX / columns.length))
  for (let from = 0; from < rows.length; ) {
    // Two statement sizes per table, so that each is prepared only once.
    const size = rows.length - from >= most ? most : 1
    const values = rows.slice(from, from + size).flatMap((row) => columns.map((column) => row[column] ?? null))
    await transaction.execute(head + Array.from({ length: size }, () => one).join(', '), values)
    from += size
  }
}

/** The target must be an empty table of the same shape. @throws StoreUnusableError if the copy differs */
export const copyTable = async (
  from: Statements,
  transaction: Transaction,
  table: CatalogTable,
  onRows: (rows: number) => void = () => undefined,
): Promise<CopiedTable> => {
  const content = createContentHash(table)
  let done = 0
  for await (const rows of readRows(from, table)) {
    await insertRows(transaction, table, rows)
    for (const row of rows) content.add(row)
    done += rows.length
    onRows(done)
  }
  const sent = content.result()
  const arrived = await readContent(transaction, table)
  if (arrived.rows !== sent.rows || arrived.sha256 !== sent.sha256) {
    throw new StoreUnusableError(`the copy of the table ${table.name} differs from the source`)
  }
  onRows(done)
  return { name: table.name, ...sent }
}

/** Both databases must be migrated, and the target otherwise unused. @throws StoreUnusableError */
export const copyTables = async (
  source: Database,
  target: Database,
  { onProgress = () => undefined, alongside, markSource }: CopyOptions = {},
): Promise<readonly CopiedTable[]> => {
  const fresh = await readFresh()
  const copyFrom = (from: Statements) =>
    target.transaction(async (transaction) => {
      const sourceSchema = await readSchema(from, source)
      const targetSchema = await readSchema(transaction, target)
      if (sourceSchema.migrations !== targetSchema.migrations || namesOf(sourceSchema) !== namesOf(targetSchema)) {
        throw new StoreUnusableError('the two databases have different tables: migrate both to the same version first')
      }
      const { tables } = targetSchema
      await requireFresh(transaction, tables, fresh.contents)
      for (const table of [...tables].reverse()) {
        if ((fresh.contents.get(table.name)?.rows ?? 0) > 0)
          await transaction.execute(`DELETE FROM ${quoted(table.name)}`)
      }
      const copied: CopiedTable[] = []
      for (const table of tables) {
        const ofTable = (rows: number): void =>
          onProgress({ table: table.name, rows, tablesDone: copied.length, tablesTotal: tables.length })
        copied.push(await copyTable(from, transaction, table, ofTable))
      }
      await alongside?.(transaction)
      return copied
    })
  if (markSource === undefined) return readSnapshot(source, copyFrom)
  const move = async (from: Transaction) => {
    await lockDeployment(from)
    const copied = await copyFrom(from)
    await markSource(from)
    return copied
  }
  return readSnapshot(source, move, 'READ WRITE')
}

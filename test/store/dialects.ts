// Suites in `describeStores` or `describeDatabases` run on SQLite and on PostgreSQL. Without PostgreSQL, a skipped test
// contains the reason.
import { describe, test } from 'bun:test'
import { join } from 'node:path'
import type { Clock } from '../../src/lib/time.ts'
import type { Database } from '../../src/store/database.ts'
import { openPostgresDatabase } from '../../src/store/postgres/postgres.ts'
import { openSqliteDatabase } from '../../src/store/sqlite/sqlite.ts'
import type { StoreTarget } from '../../src/store/store-address.ts'
import { createTemporaryDatabase, PATIENT_LIMITS, POSTGRES_MISSING } from '../support/postgres.ts'
import { openOverPostgres, openTemporaryStore, type TemporaryStore, temporaryFolder } from './temporary-store.ts'

export interface DatabaseOptions {
  readonly clock: Clock
  readonly lockLimitMs?: number
  readonly transactionLimitMs?: number
  readonly maximumQueued?: number
  readonly wait?: (milliseconds: number) => Promise<void>
}

/** An empty database that several connections can be opened to. */
export interface DatabasePlace {
  readonly target: StoreTarget
  readonly address: string
  open(options: DatabaseOptions): Promise<Database>
  remove(): Promise<void>
}

export interface Dialect {
  readonly name: 'SQLite' | 'PostgreSQL'
  createPlace(): Promise<DatabasePlace>
  openTemporaryStore(): Promise<TemporaryStore>
}

const SQLITE: Dialect = {
  name: 'SQLite',
  createPlace: async () => {
    const folder = temporaryFolder()
    const path = join(folder.path, 'test.db')
    return {
      target: { kind: 'sqlite', path },
      address: `sqlite:${path}`,
      open: (options) => openSqliteDatabase({ path, ...options }),
      remove: async () => folder.remove(),
    }
  },
  openTemporaryStore: () => openTemporaryStore(),
}

const POSTGRES: Dialect = {
  name: 'PostgreSQL',
  createPlace: async () => {
    const { target, address, remove } = await createTemporaryDatabase('nothing')
    return {
      target,
      address,
      open: (options) => openPostgresDatabase({ target, ...PATIENT_LIMITS, ...options }),
      remove,
    }
  },
  openTemporaryStore: () => openOverPostgres({ createTemporaryDatabase, PATIENT_LIMITS }),
}

const forEachDialect = (define: (dialect: Dialect) => void): void => {
  for (const dialect of [SQLITE, POSTGRES]) {
    if (dialect === SQLITE || POSTGRES_MISSING === null) describe(`on ${dialect.name}`, () => define(dialect))
    else test.skipIf(true)(`on ${dialect.name} (${POSTGRES_MISSING})`, () => undefined)
  }
}

/** A suite that uses the database interface. */
export const describeDatabases = forEachDialect

/** A suite that uses the store. */
export const describeStores = (define: (open: () => Promise<TemporaryStore>, dialect: Dialect['name']) => void): void =>
  forEachDialect((dialect) => define(dialect.openTemporaryStore, dialect.name))

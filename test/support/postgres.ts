// PostgreSQL for tests: one server for all files of a process or of the suite, and a new database per request. Without
// binaries for the platform, tests are skipped with the reason in their names.
import { SQL } from 'bun'
import { systemClock } from '../../src/lib/time.ts'
import { migrate } from '../../src/store/migrations.ts'
import { openPostgresDatabase } from '../../src/store/postgres/postgres.ts'
import { type PostgresTarget, parseStoreAddress } from '../../src/store/store-address.ts'
import { atEnd, hasEnd } from './at-end.ts'
import { findBinaries } from './postgres-binaries.ts'
import { type PostgresAccess, postgresAt, startPostgres } from './postgres-server.ts'

/** Port of the server that the runner started, with the template database, for all processes of a run. */
const RUN_PORT = process.env['TEST_POSTGRES_PORT']

const startShared = async (): Promise<PostgresAccess | string> => {
  if (RUN_PORT !== undefined) return postgresAt(Number(RUN_PORT))
  if (findBinaries() === null) return `no PostgreSQL binaries for ${process.platform} ${process.arch}`
  try {
    return await startPostgres()
  } catch (error) {
    return `PostgreSQL does not start here: ${error instanceof Error ? error.message : 'unknown'}`
  }
}

const shared = await startShared()

/** Reason why tests with PostgreSQL are skipped; null if they run. */
export const POSTGRES_MISSING: string | null = typeof shared === 'string' ? shared : null

/** Returns the server that the tests of this process or of the suite share. */
export const sharedPostgres = (): PostgresAccess => {
  if (typeof shared === 'string') throw new Error(shared)
  return shared
}

/** Long limits, for machines that stall for several seconds. Tests of the limits set their own. */
export const PATIENT_LIMITS = {
  connectLimitMs: 20_000,
  lockLimitMs: 20_000,
  statementLimitMs: 20_000,
  transactionLimitMs: 20_000,
} as const

export interface TemporaryDatabase {
  readonly name: string
  readonly address: string
  readonly target: PostgresTarget
  /** Also ends open connections. */
  remove(): Promise<void>
}

export const targetOf = (address: string): PostgresTarget => {
  const target = parseStoreAddress(address)
  if (target.kind !== 'postgres') throw new Error('not a PostgreSQL address')
  return target
}

let administrator: SQL | undefined

/** Uses one connection for all databases of this process: a new connection costs half as much as a database. */
const administer = async (statement: string): Promise<void> => {
  if (!hasEnd()) return sharedPostgres().administer(statement)
  if (administrator === undefined) {
    const client = new SQL(sharedPostgres().address('postgres'), { max: 1 })
    atEnd(() => client.close({ timeout: 0 }))
    administrator = client
  }
  await administrator.unsafe(statement).simple()
}

const MIGRATED = 'template_migrated'
let migrated = RUN_PORT === undefined ? undefined : Promise.resolve()
let count = 0

/** Call once per server: in the runner, or in a process with its own server. */
export const makeTemplate = async (): Promise<void> => {
  const server = sharedPostgres()
  await server.administer(`CREATE DATABASE ${MIGRATED}`)
  const target = targetOf(server.address(MIGRATED))
  const database = await openPostgresDatabase({ target, clock: systemClock, ...PATIENT_LIMITS })
  await migrate(database, systemClock.unixSeconds())
  await database.close()
}

/**
 * Creates a database on the shared server.
 * @param content `tables`: with the store's tables, as after the first start; `nothing`: empty
 */
export const createTemporaryDatabase = async (content: 'tables' | 'nothing' = 'tables'): Promise<TemporaryDatabase> => {
  const server = sharedPostgres()
  const name = `test_${process.pid}_${++count}`
  if (content === 'tables') {
    migrated ??= makeTemplate()
    await migrated
  }
  const template = content === 'tables' ? MIGRATED : 'template0'
  // Copies the files without the write-ahead log, which takes a tenth of the work.
  await administer(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`)
  const address = server.address(name)
  return {
    name,
    address,
    target: targetOf(address),
    remove: () => administer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  }
}

// PostgreSQL for tests: one server for all files of a process, or of the whole suite, and a fresh database for whoever
// asks. Without binaries for the platform, POSTGRES_MISSING says so and tests are skipped with it in their names.
import { SQL } from 'bun'
import { systemClock } from '../../src/lib/time.ts'
import { migrate } from '../../src/store/migrations.ts'
import { openPostgresDatabase } from '../../src/store/postgres/postgres.ts'
import { type PostgresTarget, parseStoreAddress } from '../../src/store/store-address.ts'
import { atEnd, hasEnd } from './at-end.ts'
import { findBinaries } from './postgres-binaries.ts'
import { type PostgresAccess, postgresAt, startPostgres } from './postgres-server.ts'

/** Of the server that the runner has started, with the template in it, for all processes of a run. */
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

/** Why tests over PostgreSQL are skipped; null where they run. */
export const POSTGRES_MISSING: string | null = typeof shared === 'string' ? shared : null

/** The server that the tests of this process, or of the whole suite, share. */
export const sharedPostgres = (): PostgresAccess => {
  if (typeof shared === 'string') throw new Error(shared)
  return shared
}

/** A machine that stands still for some seconds must not fail a test. Those of the limits themselves set their own. */
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
  /** Also ends whoever is still connected. */
  remove(): Promise<void>
}

export const targetOf = (address: string): PostgresTarget => {
  const target = parseStoreAddress(address)
  if (target.kind !== 'postgres') throw new Error('not a PostgreSQL address')
  return target
}

let administrator: SQL | undefined

/** Over one connection for all databases of this process: a new one costs as much as half of a database. */
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

/** Once a server: by the runner, or by the process that has a server of its own. */
export const makeTemplate = async (): Promise<void> => {
  const server = sharedPostgres()
  await server.administer(`CREATE DATABASE ${MIGRATED}`)
  const target = targetOf(server.address(MIGRATED))
  const database = await openPostgresDatabase({ target, clock: systemClock, ...PATIENT_LIMITS })
  await migrate(database, systemClock.unixSeconds())
  await database.close()
}

/**
 * A fresh database of the shared server.
 * @param content tables: with the store's tables, as after its first start; nothing: empty.
 */
export const createTemporaryDatabase = async (content: 'tables' | 'nothing' = 'tables'): Promise<TemporaryDatabase> => {
  const server = sharedPostgres()
  const name = `test_${process.pid}_${++count}`
  if (content === 'tables') {
    migrated ??= makeTemplate()
    await migrated
  }
  const template = content === 'tables' ? MIGRATED : 'template0'
  // The files are copied, not written through the log: a tenth of the work.
  await administer(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`)
  const address = server.address(name)
  return {
    name,
    address,
    target: targetOf(address),
    remove: () => administer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  }
}

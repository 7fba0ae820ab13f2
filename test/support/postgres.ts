// PostgreSQL for tests: one server for all files of a process, and a fresh database for whoever asks. Without binaries for
// the platform, POSTGRES_MISSING says so and tests are skipped with it in their names.
import { systemClock } from '../../src/domain/time.ts'
import { migrate } from '../../src/store/migrations.ts'
import { openPostgresDatabase } from '../../src/store/postgres.ts'
import { type PostgresTarget, parseStoreAddress } from '../../src/store/store-address.ts'
import { findBinaries } from './postgres-binaries.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'

const startShared = async (): Promise<PostgresServer | string> => {
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

/** The server that the tests of this process share. */
export const sharedPostgres = (): PostgresServer => {
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

const MIGRATED = 'template_migrated'
let migrated: Promise<void> | undefined
let count = 0

const makeTemplate = async (): Promise<void> => {
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
  await server.administer(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`)
  const address = server.address(name)
  return {
    name,
    address,
    target: targetOf(address),
    remove: () => server.administer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  }
}

// Opens the shared index on its own connections, with limits for searches and large batches.
import { systemClock } from '../../lib/time.ts'
import { openPostgresDatabase } from '../postgres/postgres.ts'
import type { PostgresTarget } from '../store-address.ts'
import { createSharedIndexReader } from './shared-reader.ts'
import { prepareSharedIndex } from './shared-tables.ts'
import { createSharedIndexWriter } from './shared-writer.ts'

export type SharedIndexTarget = PostgresTarget

const STATEMENT_LIMIT_MS = 15_000
const TRANSACTION_LIMIT_MS = 300_000
const CONNECTIONS = 3

export const openSharedIndex = async (target: SharedIndexTarget, node: string) => {
  const database = await openPostgresDatabase({
    target: { ...target, poolSize: CONNECTIONS },
    clock: systemClock,
    statementLimitMs: STATEMENT_LIMIT_MS,
    transactionLimitMs: TRANSACTION_LIMIT_MS,
  })
  try {
    await prepareSharedIndex(database)
  } catch (error) {
    await database.close()
    throw error
  }
  return {
    writer: createSharedIndexWriter(database, node),
    reader: createSharedIndexReader(database),
    close: (): Promise<void> => database.close(),
  }
}

// Opens the tree: a separate SQLite file, or tables in the deployment's PostgreSQL with separate connections.
import { existsSync } from 'node:fs'
import { systemClock } from '../../../lib/time.ts'
import type { Database } from '../../../store/database.ts'
import { openPostgresDatabase } from '../../../store/postgres/postgres.ts'
import { openSqliteDatabase } from '../../../store/sqlite/sqlite.ts'
import type { StoreTarget } from '../../../store/store-address.ts'
import { createDecisionTreeReader, type DecisionTreeReader } from './reader.ts'
import { dropDecisionTree, hasDecisionTree, prepareDecisionTree } from './tables.ts'
import { createDecisionTreeWriter, type DecisionTreeWriter } from './writer.ts'

const LIMIT_MS = 15_000
const CONNECTIONS = 2

/** Doesn't check whether there is a tree. */
export const openTreeDatabase = (target: StoreTarget, limitMs = LIMIT_MS): Promise<Database> =>
  target.kind === 'sqlite'
    ? openSqliteDatabase({ path: target.path, clock: systemClock, transactionLimitMs: limitMs })
    : openPostgresDatabase({
        target: { ...target, poolSize: CONNECTIONS },
        clock: systemClock,
        statementLimitMs: limitMs,
        transactionLimitMs: limitMs,
      })

export interface DecisionTree {
  readonly reader: DecisionTreeReader
  readonly writer: DecisionTreeWriter
  close(): Promise<void>
}

/** Creates missing tables. @param node submits its log @throws StoreUnusableError, StoreUnavailableError */
export const openDecisionTree = async (target: StoreTarget, node: string): Promise<DecisionTree> => {
  const database = await openTreeDatabase(target)
  try {
    await prepareDecisionTree(database)
  } catch (error) {
    await database.close()
    throw error
  }
  return {
    reader: createDecisionTreeReader(database),
    writer: createDecisionTreeWriter(database, node),
    close: () => database.close(),
  }
}

/** Returns null if no tree exists yet. @throws StoreUnusableError, StoreUnavailableError */
export const openDecisionTreeReader = async (
  target: StoreTarget,
): Promise<(DecisionTreeReader & { close(): Promise<void> }) | null> => {
  if (target.kind === 'sqlite' && !existsSync(target.path)) return null
  const database = await openTreeDatabase(target)
  let found = false
  try {
    found = await hasDecisionTree(database, database)
  } finally {
    // Until there is a tree, each request for a proof opens the database again.
    if (!found) await database.close()
  }
  return found ? { ...createDecisionTreeReader(database), close: () => database.close() } : null
}

/** The service must be stopped. @throws StoreUnusableError, StoreUnavailableError */
export const clearDecisionTree = async (target: StoreTarget): Promise<void> => {
  const database = await openTreeDatabase(target)
  try {
    await dropDecisionTree(database)
  } finally {
    await database.close()
  }
}

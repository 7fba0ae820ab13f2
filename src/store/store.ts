// The store's interface for the rest of the service: opens and migrates the database, offers one object of table
// functions, and runs several of them as one transaction.
import type { Clock } from '../lib/time.ts'
import type { PolicySource } from '../policy/types/source.ts'
import { databaseScope, transactionScope } from './copy/table-scope.ts'
import type { Database, TransactionOptions } from './database.ts'
import { createLastUsedWriter } from './last-used.ts'
import { openMigratedDatabase, type StoreOptions } from './open-database.ts'
import { createPolicySource } from './organizations/policy-source.ts'
import { pairwiseUserId, readUserKey } from './sessions/persons.ts'
import { createWalletStandings, type WalletStandings } from './sessions/wallet-standings.ts'
import { createAll, createTables, type Tables } from './tables.ts'
import { createUpkeep, type Upkeep } from './upkeep.ts'

// The store's readers import it from here.
export type { Tables }

export interface Store extends Tables {
  /** For the change feed. */
  readonly database: Database
  readonly kind: 'sqlite' | 'postgres'
  /** Created on the first start, and never changed. */
  readonly deploymentId: string
  readonly policySource: PolicySource
  /** Who is verified: the reads behind interface B4 and the identity facts of policies. */
  readonly walletStandings: WalletStandings
  /**
   * Runs table functions as one transaction: all of it is stored, or nothing. Inside, use only the tables handed in.
   * @throws what `work` throws, after rolling back.
   */
  transaction<Result>(work: (tables: Tables) => Promise<Result>, options?: TransactionOptions): Promise<Result>
  /**
   * Resolves when a write reached the file within the last second. For `/readyz`.
   * @throws StoreUnavailableError when it can't be written.
   */
  checkWritable(): Promise<void>
  /** Writes uses of keys in batches and deletes expired rows. Servers start it; commands don't need it. */
  readonly upkeep: Pick<Upkeep, 'start' | 'flush' | 'sweep'>
  /** Writes batched data, waits for requested transactions, and closes. Safe to call twice. */
  close(): Promise<void>
}

/** The store as the functions of an open transaction see it: its tables take part, and no further transaction begins. */
export const storeWithin = (store: Store, tables: Tables): Store => ({
  ...store,
  ...createAll(tables),
  transaction: (work) => work(tables),
})

const WRITE_CHECK_VALID_MS = 1_000

/** Writes at most once a second, however often it is called: `/readyz` is open to anyone. */
const createWriteCheck = (database: Database, clock: Clock): (() => Promise<void>) => {
  let lastWriteMs = Number.NEGATIVE_INFINITY
  let checking: Promise<void> | undefined
  const check = async (): Promise<void> => {
    await database.execute(
      `INSERT INTO deployment (name, value) VALUES ('last_write_check_seconds', ?)
       ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
      [String(clock.unixSeconds())],
      { survives: 'process-crash' },
    )
    lastWriteMs = clock.monotonicMs()
  }
  return async () => {
    if (clock.monotonicMs() - lastWriteMs < WRITE_CHECK_VALID_MS) return
    checking ??= check().finally(() => {
      checking = undefined
    })
    await checking
  }
}

/**
 * Opens the store and brings its tables up to date. A missing SQLite file is created; a PostgreSQL database must exist.
 * @throws StoreUnusableError, with one line for the operator, when the store can't be used as it is;
 *   StoreUnavailableError when tables are missing and the file stays locked
 */
export const openStore = async (options: StoreOptions): Promise<Store> => {
  const { clock } = options
  const database = await openMigratedDatabase(options)
  try {
    const scope = databaseScope(database, clock)
    const tables = createAll(createTables(scope))
    const deploymentId = await tables.deployment.ensureIdentity()
    const lastUsed = createLastUsedWriter(database)
    await tables.deployment.ensureUserKey()
    const userKey = await readUserKey(database)
    const upkeep = createUpkeep({
      scope,
      lastUsed,
      answerLatencies: tables.answerLatencies,
      tables: [
        tables.answerLatencies,
        tables.idempotency,
        tables.claimGroups,
        tables.sessionNonces,
        tables.portalLinks,
        tables.listBases,
        tables.userSessions,
        tables.signInCounters,
        tables.membershipOffers,
        tables.passkeys,
        tables.adminIdempotency,
        tables.webhookMessages,
        tables.providerResults,
      ],
    })
    return {
      ...tables,
      database,
      kind: database.dialect ?? 'sqlite',
      deploymentId,
      policySource: createPolicySource(database),
      walletStandings: createWalletStandings(database, (organizationId, personId) =>
        pairwiseUserId(userKey, organizationId, personId),
      ),
      transaction: (work, settings) =>
        database.transaction((transaction) => work(createTables(transactionScope(transaction, clock))), settings),
      checkWritable: createWriteCheck(database, clock),
      upkeep,
      close: async () => {
        await upkeep.stop()
        await database.close()
      },
    }
  } catch (error) {
    await database.close()
    throw error
  }
}

import { type Clock, createHeldClock } from '../lib/time.ts'
import type { PolicySource } from '../policy/types/source.ts'
import { databaseScope, transactionScope } from './copy/table-scope.ts'
import type { Database, Transaction, TransactionOptions } from './database.ts'
import { createLastUsedWriter } from './last-used.ts'
import { openMigratedDatabase, type StoreOptions } from './open-database.ts'
import { createPolicySource } from './organizations/policy-source.ts'
import { pairwiseUserId, readUserKey } from './sessions/persons.ts'
import { createWalletStandings, type WalletStandings } from './sessions/wallet-standings.ts'
import { createAll, createTables, type Tables } from './tables.ts'
import { createUpkeep, type Upkeep } from './upkeep.ts'

// Importers of the store import the type from here.
export type { Tables }

export interface StoreTransactionOptions extends TransactionOptions {
  /** Called after `work`, so that the rows it locks stay locked briefly. If it throws, nothing is written. */
  readonly beforeCommit?: (transaction: Transaction) => Promise<void>
}

export interface Store extends Tables {
  readonly database: Database
  readonly kind: 'sqlite' | 'postgres'
  /** Created at first startup and never changed. */
  readonly deploymentId: string
  readonly policySource: PolicySource
  readonly walletStandings: WalletStandings
  /** Use only the tables passed to `work`. Rolls back and throws the errors of `work`. */
  transaction<Result>(work: (tables: Tables) => Promise<Result>, options?: StoreTransactionOptions): Promise<Result>
  /** Resolves if a write reached the file within the last second. @throws StoreUnavailableError */
  checkWritable(): Promise<void>
  readonly upkeep: Pick<Upkeep, 'start' | 'flush' | 'sweep'>
  /** Writes batched data, waits for queued transactions, and closes. Idempotent. */
  close(): Promise<void>
}

/** Returns the store inside an open transaction: its writes join that transaction. */
export const storeWithin = (store: Store, tables: Tables): Store => ({
  ...store,
  ...createAll(tables),
  transaction: (work) => work(tables),
})

/** Time for which a forward jump of the clock deletes no claims: longer than most signatures are valid. */
const CLAIMS_HELD_MS = 7_200_000
const WRITE_CHECK_VALID_MS = 1_000

/** Writes at most once per second, because `/readyz` is public. */
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

/** A PostgreSQL database must exist. @throws StoreUnusableError, StoreUnavailableError */
export const openStore = async (options: StoreOptions): Promise<Store> => {
  const { clock, limits } = options
  const database = await openMigratedDatabase(options)
  try {
    const scope = databaseScope(database, clock, limits)
    const tables = createAll(createTables(scope))
    const deploymentId = await tables.deployment.ensureIdentity()
    const lastUsed = createLastUsedWriter(database)
    await tables.deployment.ensureUserKey()
    const userKey = await readUserKey(database)
    const heldClock = createHeldClock(clock, CLAIMS_HELD_MS)
    heldClock()
    const upkeep = createUpkeep({
      scope,
      lastUsed,
      answerLatencies: tables.answerLatencies,
      tables: [
        tables.answerLatencies,
        { sweep: () => tables.idempotency.sweep(heldClock()) },
        { sweep: () => tables.claimGroups.sweep(heldClock()) },
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
      transaction: (work, { beforeCommit, ...settings } = {}) =>
        database.transaction(async (transaction) => {
          const result = await work(createTables(transactionScope(transaction, clock, limits)))
          await beforeCommit?.(transaction)
          return result
        }, settings),
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

// The database over one SQLite file, with a writing and a reading connection. An acknowledged write survives kill -9,
// and a power loss unless the caller chose `process-crash`. https://sqlite.org/wal.html
import { chmodSync, closeSync, openSync, statSync } from 'node:fs'
import { currentCaller } from '../../lib/caller.ts'
import { fileProblem } from '../../lib/file-problem.ts'
import { createSerialQueue } from '../../lib/serial-queue.ts'
import type { Clock } from '../../lib/time.ts'
import { createBacklogs } from '../backlog.ts'
import type { Database, SqlParameter, Transaction, TransactionOptions } from '../database.ts'
import { StoreUnavailableError, StoreUnusableError, TransactionMisuseError } from '../errors.ts'
import { createLongReadTurns } from '../store-turns.ts'
import { startCheckpoints } from './checkpoints.ts'
import { createLongReads } from './long-reads.ts'
import { isBusy, openSqliteConnection, type SqliteConnection, toStoreError } from './sqlite-connection.ts'
import { createTransactionRunner, type WaitingTransaction } from './sqlite-transactions.ts'

export interface SqliteOptions {
  readonly path: string
  readonly clock: Clock
  readonly lockLimitMs?: number
  readonly transactionLimitMs?: number
  /** Maximum waiting writes per organization. */
  readonly maximumQueued?: number
  /** `by-commits` (default): some commits wait for a checkpoint. `separate-thread`: for servers. */
  readonly checkpoints?: 'by-commits' | 'separate-thread'
  /** `inline` (default): the calling thread. `separate-thread`: for servers. */
  readonly longReads?: 'inline' | 'separate-thread'
  readonly wait?: (milliseconds: number) => Promise<void>
}

const FIRST_RETRY_MS = 2
const LONGEST_RETRY_MS = 50
/** Pages after which a commit runs a checkpoint; the second applies if the checkpoint thread falls behind. */
const CHECKPOINT_PAGES = 1_000
const CHECKPOINT_PAGES_BESIDE_THREAD = 131_072

/** An organization's claims don't wait for its other writes. */
const ownerOf = (queue: NonNullable<TransactionOptions['queue']>, organizationId: string): string =>
  `${queue} ${organizationId}`

const sleep = (milliseconds: number): Promise<void> => Bun.sleep(milliseconds)

const protectFile = (path: string): void => {
  try {
    closeSync(openSync(path, 'a', 0o600))
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600)
  } catch (error) {
    const why = fileProblem(error) ?? String(error)
    throw new StoreUnusableError(`the store ${path} could not be created or restricted to its owner: ${why}`, error)
  }
}

/** Creates a missing file with mode 0600. @throws StoreUnusableError */
export const openSqliteDatabase = async (options: SqliteOptions): Promise<Database> => {
  const {
    path,
    clock,
    lockLimitMs = 3_000,
    transactionLimitMs = 10_000,
    maximumQueued = 10_000,
    checkpoints: checkpointing = 'by-commits',
    longReads: longReading = 'inline',
    wait = sleep,
  } = options

  /** Retries without blocking the thread while another process holds the lock. */
  const retryWhileLocked = async <Result>(attempt: () => Result, deadlineMs: number): Promise<Result> => {
    for (let delayMs = FIRST_RETRY_MS; ; delayMs = Math.min(delayMs * 2, LONGEST_RETRY_MS)) {
      try {
        return attempt()
      } catch (error) {
        if (!isBusy(error) || clock.monotonicMs() + delayMs > deadlineMs) throw toStoreError(error)
      }
      // Random, so that two waiting processes do not collide repeatedly.
      await wait(delayMs * (0.5 + Math.random() / 2))
    }
  }

  const open = async (readOnly: boolean): Promise<SqliteConnection> => {
    try {
      return await retryWhileLocked(() => openSqliteConnection(path, readOnly), clock.monotonicMs() + lockLimitMs)
    } catch (error) {
      const why = fileProblem(error) ?? 'it is locked, damaged or not a database'
      throw new StoreUnusableError(`the store ${path} could not be opened: ${why}`, error)
    }
  }

  protectFile(path)
  const writer = await open(false)
  const reader = await open(true)
  const checkpointAfter = (pages: number): number => writer.run(`PRAGMA wal_autocheckpoint = ${pages}`)
  const checkpoints =
    checkpointing === 'by-commits'
      ? null
      : startCheckpoints(path, () => {
          if (!closed) checkpointAfter(CHECKPOINT_PAGES)
        })
  if (checkpoints !== null) checkpointAfter(CHECKPOINT_PAGES_BESIDE_THREAD)
  const longReads = longReading === 'inline' ? null : createLongReads(path)
  const longReadTurns = createLongReadTurns(1, 1)
  const runner = createTransactionRunner({
    writer,
    clock,
    transactionLimitMs,
    retryWhileLocked,
    committed: () => checkpoints?.committed(),
  })
  const queue = createSerialQueue<WaitingTransaction>({
    run: runner.run,
    ownerOf: ({ owner }) => owner,
    belongsTo: (one, first) => one.survives === first.survives,
    monotonicMs: clock.monotonicMs,
  })
  const backlogs = createBacklogs(maximumQueued, clock.monotonicMs)
  let closed = false

  const requireUsable = (): void => {
    if (closed) throw new StoreUnavailableError(new Error('the database is closed'))
    if (runner.isInside()) throw new TransactionMisuseError('inside a transaction only its handle may be used')
  }

  const enqueue = (work: WaitingTransaction['work'], options: TransactionOptions = {}) =>
    new Promise<unknown>((resolve, reject) => {
      requireUsable()
      const {
        survives = 'power-loss',
        queue: kind = 'request',
        owner: organizationId = currentCaller().owner,
      } = options
      const owner = ownerOf(kind, organizationId)
      if (backlogs.sizeOf(owner) >= maximumQueued) {
        throw new StoreUnavailableError(new Error('too many transactions are waiting'))
      }
      backlogs.add(owner)
      queue.add({
        work,
        owner,
        survives,
        deadlineMs: clock.monotonicMs() + lockLimitMs,
        resolve: (result) => {
          backlogs.remove(owner)
          resolve(result)
        },
        reject: (error) => {
          backlogs.remove(owner)
          reject(error)
        },
      })
    })

  const query = async <Row>(sql: string, parameters?: readonly SqlParameter[]): Promise<readonly Row[]> => {
    requireUsable()
    return retryWhileLocked(() => reader.all<Row>(sql, parameters), clock.monotonicMs() + lockLimitMs)
  }

  const queryLong = async <Row>(sql: string, parameters: readonly SqlParameter[] = []): Promise<readonly Row[]> => {
    requireUsable()
    return longReadTurns.run(async () => {
      const rows = await longReads?.read(sql, parameters)
      return (rows as readonly Row[] | null | undefined) ?? query<Row>(sql, parameters)
    })
  }

  return {
    kind: 'database',
    schemaWords: {
      integer: 'INTEGER',
      bytes: 'BLOB',
      tableEnd: ' STRICT',
      appendOnly: (table) =>
        ['UPDATE', 'DELETE'].map(
          (verb) =>
            `CREATE TRIGGER ${table}_refuses_${verb.toLowerCase()} BEFORE ${verb} ON ${table}
             BEGIN SELECT RAISE(ABORT, 'the table takes new rows only'); END`,
        ),
    },
    query,
    ...(longReads === null ? {} : { queryLong }),
    transaction: <Result>(work: (handle: Transaction) => Promise<Result>, settings?: TransactionOptions) =>
      enqueue(work, settings) as Promise<Result>,
    execute: (sql, parameters = [], settings) => enqueue({ sql, parameters }, settings) as Promise<number>,
    backlogMs: (organizationId) => backlogs.waitMs(ownerOf('claim', organizationId)),
    commitMark: async () => (await query<{ data_version: number }>('PRAGMA data_version'))[0]?.data_version ?? null,
    close: async () => {
      if (closed) return
      requireUsable()
      closed = true
      longReadTurns.stop()
      await checkpoints?.stop()
      await longReads?.stop()
      await queue.settled()
      reader.close()
      writer.close()
    },
  }
}

// Runs several transactions in one commit, because writing the log is half the cost of a small transaction. Each is a
// savepoint. Invariant: callers get results, and errors that may depend on others' writes, only after the commit.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Clock } from '../../lib/time.ts'
import type { DeferredStatement, SqlParameter, Transaction, TransactionOptions } from '../database.ts'
import { StoreUnavailableError, TransactionMisuseError } from '../errors.ts'
import { type SqliteConnection, toStoreError } from './sqlite-connection.ts'

export interface WaitingTransaction {
  /** Owners take turns. */
  readonly owner: string
  /** A single statement resolves with its number of changed rows. */
  readonly work: ((transaction: Transaction) => Promise<unknown>) | DeferredStatement
  readonly survives: NonNullable<TransactionOptions['survives']>
  /** Monotonic time before which the transaction must begin. */
  readonly deadlineMs: number
  resolve(result: unknown): void
  reject(error: unknown): void
}

export interface TransactionRunnerDependencies {
  readonly writer: SqliteConnection
  readonly clock: Clock
  readonly transactionLimitMs: number
  readonly retryWhileLocked: <Result>(attempt: () => Result, deadlineMs: number) => Promise<Result>
  readonly committed: () => void
}

/**
 * Maximum duration of a group. No transaction joins later, because the first transactions are waiting for the commit.
 */
const LONGEST_GROUP_MS = 5

type Outcome =
  | { readonly kind: 'done'; readonly member: WaitingTransaction; readonly result: unknown }
  | {
      readonly kind: 'failed'
      readonly member: WaitingTransaction
      readonly error: unknown
      /** The writes of the group's other transactions are also lost. */
      readonly allLost: boolean
    }

export const createTransactionRunner = (dependencies: TransactionRunnerDependencies) => {
  const { writer, clock, transactionLimitMs, retryWhileLocked, committed } = dependencies
  const inside = new AsyncLocalStorage<{ open: boolean }>()
  let writerSurvives: TransactionOptions['survives']

  const begin = (survives: WaitingTransaction['survives']): void => {
    // If an earlier rollback failed, this transaction must not join the old transaction.
    if (writer.inTransaction) writer.run('ROLLBACK')
    if (writerSurvives !== survives) {
      writer.run(survives === 'power-loss' ? 'PRAGMA synchronous = FULL' : 'PRAGMA synchronous = NORMAL')
      writerSurvives = survives
    }
    // IMMEDIATE takes the write lock now. A deferred transaction could fail halfway.
    writer.run('BEGIN IMMEDIATE')
  }

  /** Rolls back and returns the error to report: the original error, or the rollback error. */
  const undo = (reason: unknown, statements: readonly string[]): unknown => {
    try {
      // After some failures, SQLite has already rolled back.
      if (writer.inTransaction) for (const statement of statements) writer.run(statement)
      return reason
    } catch (error) {
      return new StoreUnavailableError(new AggregateError([reason, error]))
    }
  }

  /** Rejects if the work or one of its statements fails, or at the time limit. */
  const perform = async (work: (transaction: Transaction) => Promise<unknown>): Promise<unknown> => {
    const state = { open: true }
    let failure: unknown
    const run = <Value>(statement: () => Value): Value => {
      if (!state.open) throw new TransactionMisuseError('the transaction has ended')
      // A failed statement may roll back the transaction; SQLite would then commit each further statement immediately.
      if (failure !== undefined) throw failure
      try {
        return statement()
      } catch (error) {
        failure = toStoreError(error)
        throw failure
      }
    }
    const handle: Transaction = {
      kind: 'transaction',
      alone: true,
      query: async <Row>(sql: string, parameters?: readonly SqlParameter[]) =>
        run(() => writer.all<Row>(sql, parameters)),
      execute: async (sql, parameters) => run(() => writer.run(sql, parameters)),
    }
    const limit = Promise.withResolvers<never>()
    const timer = setTimeout(
      () => limit.reject(new StoreUnavailableError(new Error('the transaction timed out'))),
      transactionLimitMs,
    )
    try {
      const result = await Promise.race([inside.run(state, () => work(handle)), limit.promise])
      if (failure !== undefined) throw failure
      return result
    } finally {
      state.open = false
      clearTimeout(timer)
    }
  }

  const runStatement = (member: WaitingTransaction, { sql, parameters }: DeferredStatement): Outcome => {
    try {
      return { kind: 'done', member, result: writer.run(sql, parameters) }
    } catch (error) {
      return { kind: 'failed', member, error: toStoreError(error), allLost: !writer.inTransaction }
    }
  }

  const runMember = async (
    member: WaitingTransaction,
    work: (transaction: Transaction) => Promise<unknown>,
    isAlone: boolean,
  ): Promise<Outcome> => {
    try {
      if (!isAlone) writer.run('SAVEPOINT member')
      const result = await perform(work)
      if (!isAlone) writer.run('RELEASE member')
      return { kind: 'done', member, result }
    } catch (error) {
      const reason = toStoreError(error)
      const worst = undo(reason, isAlone ? ['ROLLBACK'] : ['ROLLBACK TO member', 'RELEASE member'])
      return { kind: 'failed', member, error: worst, allLost: worst !== reason || !writer.inTransaction }
    }
  }

  /** Nothing was kept: repeat completed work. Other failures may be consequences. */
  const failAll = (outcomes: readonly Outcome[], error: unknown): void => {
    for (const { member } of outcomes) member.reject(error)
  }

  const commit = async (outcomes: readonly Outcome[], deadlineMs: number): Promise<void> => {
    try {
      await retryWhileLocked(() => writer.run('COMMIT'), deadlineMs)
    } catch (error) {
      failAll(outcomes, undo(error, ['ROLLBACK']))
      return
    }
    committed()
    for (const outcome of outcomes) {
      if (outcome.kind === 'done') outcome.member.resolve(outcome.result)
      else outcome.member.reject(outcome.error)
    }
  }

  const requireInTime = ({ deadlineMs }: WaitingTransaction): void => {
    if (clock.monotonicMs() > deadlineMs)
      throw new StoreUnavailableError(new Error('the transaction did not start in time'))
  }

  const runAll = async (members: WaitingTransaction[]): Promise<void> => {
    const isAlone = members.length === 1
    const startMs = clock.monotonicMs()
    const outcomes: Outcome[] = []
    let deadlineMs = startMs
    for (let member = members.shift(); member !== undefined; member = members.shift()) {
      const { work } = member
      const outcome = typeof work === 'function' ? await runMember(member, work, isAlone) : runStatement(member, work)
      if (outcome.kind === 'failed' && outcome.allLost) {
        member.reject(undo(outcome.error, ['ROLLBACK']))
        failAll(outcomes, new StoreUnavailableError(outcome.error))
        return
      }
      outcomes.push(outcome)
      deadlineMs = Math.max(deadlineMs, member.deadlineMs)
      if (clock.monotonicMs() - startMs >= LONGEST_GROUP_MS) break
    }
    await commit(outcomes, deadlineMs)
  }

  return {
    isInside: (): boolean => inside.getStore()?.open === true,
    /** Runs the first transactions in one commit, and returns the transactions that were not started. Never rejects. */
    run: async (group: readonly WaitingTransaction[]): Promise<readonly WaitingTransaction[]> => {
      const [first, ...others] = group
      if (first === undefined) return []
      try {
        requireInTime(first)
        await retryWhileLocked(() => begin(first.survives), first.deadlineMs)
      } catch (error) {
        first.reject(error)
        return others
      }
      const members = [first, ...others]
      await runAll(members)
      return members
    },
  }
}

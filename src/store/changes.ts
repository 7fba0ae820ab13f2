// Records the changes that invalidate caches. Each row is part of the transaction of the change, so that both become
// visible together (invariant 7). Read by change-feed.ts.

import type { TableScope } from './copy/table-scope.ts'
import type { DeferredStatement, Statements, Transaction } from './database.ts'
import { fieldsOf, type RowOf } from './row-fields.ts'

export type ChangeTopic =
  | 'organization'
  | 'api-key'
  | 'project'
  | 'policy'
  | 'binding'
  | 'attester'
  | 'session'
  | 'list'

export interface Change {
  /** Increments with every change, in commit order. */
  readonly sequence: number
  readonly topic: ChangeTopic
  /**
   * Id of the changed object. For a binding: `<chain name>/<address>`, its look-up key. For a session: the encoding of
   * session-changes.ts.
   */
  readonly subjectId: string
  /** Null if it concerns the deployment. */
  readonly organizationId: string | null
}

/** Adds a row to the transaction of the change. */
export const recordChange = async (
  transaction: Transaction,
  change: Omit<Change, 'sequence'>,
  nowSeconds: number,
): Promise<void> => {
  // The counter's row stays locked until the commit, so sequence numbers become visible in order.
  const statements: readonly DeferredStatement[] = [
    { sql: "UPDATE counters SET value = value + 1 WHERE name = 'changes'", parameters: [] },
    {
      sql: `INSERT INTO changes (sequence, topic, subject_id, organization_id, created_at_seconds)
            SELECT value, ?, ?, ?, ? FROM counters WHERE name = 'changes'`,
      parameters: [change.topic, change.subjectId, change.organizationId, nowSeconds],
    },
  ]
  await runAtCommit(transaction, statements)
}

/** Runs statements that lock the counter's row, in order, as late in the transaction as the database allows. */
export const runAtCommit = async (
  transaction: Transaction,
  statements: readonly DeferredStatement[],
): Promise<void> => {
  if (transaction.announceAtCommit !== undefined) transaction.announceAtCommit(statements)
  else for (const { sql, parameters } of statements) await transaction.execute(sql, parameters)
}

/** Returns the sequence of the newest change; 0 before the first. */
export const readLastSequence = async (statements: Statements): Promise<number> => {
  const [counter] = await statements.query<{ value: number }>("SELECT value FROM counters WHERE name = 'changes'")
  return counter?.value ?? 0
}

/** Returns changes after a sequence, oldest first. */
export const readChanges = async (
  statements: Statements,
  afterSequence: number,
  limit: number,
): Promise<readonly Change[]> =>
  (
    await statements.query<RowOf<Change>>(
      'SELECT sequence, topic, subject_id, organization_id FROM changes WHERE sequence > ? ORDER BY sequence LIMIT ?',
      [afterSequence, limit],
    )
  ).map(fieldsOf)

/** Long enough that only a suspended reader misses rows. Such a reader detects this and resynchronizes. */
const KEEP_SECONDS = 3_600

/** Deletes rows that every active reader has read. */
export const trimChanges = (scope: TableScope): Promise<number> =>
  scope.write((transaction) =>
    transaction.execute('DELETE FROM changes WHERE created_at_seconds < ?', [scope.nowSeconds() - KEEP_SECONDS]),
  )

// Records the changes that invalidate caches, in the transaction of the change, so that both become visible together
// (invariant 7). Read by change-feed.ts.

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
  /** In commit order. */
  readonly sequence: number
  readonly topic: ChangeTopic
  /** For a binding: `<chain name>/<address>`, its lookup key. For a session: the encoding of session-changes.ts. */
  readonly subjectId: string
  /** Null if the change concerns the deployment. */
  readonly organizationId: string | null
}

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

/** Runs statements that lock the counter's row, as late in the transaction as the database permits. */
export const runAtCommit = async (
  transaction: Transaction,
  statements: readonly DeferredStatement[],
): Promise<void> => {
  if (transaction.announceAtCommit !== undefined) transaction.announceAtCommit(statements)
  else for (const { sql, parameters } of statements) await transaction.execute(sql, parameters)
}

export const readLastSequence = async (statements: Statements): Promise<number> => {
  const [counter] = await statements.query<{ value: number }>("SELECT value FROM counters WHERE name = 'changes'")
  return counter?.value ?? 0
}

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

/** Only a suspended reader misses rows; it detects this and resynchronizes. */
const KEEP_SECONDS = 3_600

export const trimChanges = (scope: TableScope): Promise<number> =>
  scope.write((transaction) =>
    transaction.execute('DELETE FROM changes WHERE created_at_seconds < ?', [scope.nowSeconds() - KEEP_SECONDS]),
  )

// Records the changes that invalidate caches, in the transaction of the change, so that both become visible together
// (invariant 7). Read by change-feed.ts.
import { randomUUID } from 'node:crypto'
import { throwMoved } from './copy/moved.ts'
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
  /** Increases in commit order. */
  readonly sequence: number
  readonly topic: ChangeTopic
  /**
   * Lookup key of a binding, `<chain name>/<address>`; subject of a session, see session-changes.ts; otherwise an id.
   */
  readonly subjectId: string
  readonly organizationId: string | null
}

export interface ChangePosition {
  readonly sequence: number
  /** Random: a failover that loses commits reuses sequence numbers. Null if trimmed or recorded by an older program. */
  readonly mark: string | null
}

export const recordChange = async (
  transaction: Transaction,
  change: Omit<Change, 'sequence'>,
  nowSeconds: number,
): Promise<void> => {
  // Locks the counter until the commit, so that sequence numbers become visible in order.
  const statements: readonly DeferredStatement[] = [
    { sql: "UPDATE counters SET value = value + 1 WHERE name = 'changes'", parameters: [] },
    {
      // Without the counter, a constraint fails: the store was moved.
      sql: `INSERT INTO changes (sequence, topic, subject_id, organization_id, created_at_seconds, mark)
            VALUES ((SELECT value FROM counters WHERE name = 'changes'),
              (SELECT CAST(? AS TEXT) FROM counters WHERE name = 'changes'), ?, ?, ?, ?)`,
      parameters: [change.topic, change.subjectId, change.organizationId, nowSeconds, randomUUID()],
    },
  ]
  await runAtCommit(transaction, statements)
}

/** Runs statements that lock the counter, as late in the transaction as the database permits. */
export const runAtCommit = async (
  transaction: Transaction,
  statements: readonly DeferredStatement[],
): Promise<void> => {
  if (transaction.announceAtCommit !== undefined) transaction.announceAtCommit(statements)
  else for (const { sql, parameters } of statements) await transaction.execute(sql, parameters)
}

/** @throws StoreMovedError */
export const readNewest = async (statements: Statements): Promise<ChangePosition> => {
  const [newest] = await statements.query<ChangePosition>(
    `SELECT counters.value AS sequence, changes.mark
     FROM counters LEFT JOIN changes ON changes.sequence = counters.value WHERE counters.name = 'changes'`,
  )
  return newest ?? throwMoved(statements)
}

/** Returns the changes, oldest first. Null if the position refers to a different change. */
export const readChanges = async (
  statements: Statements,
  after: ChangePosition,
  limit: number,
): Promise<readonly (Change & ChangePosition)[] | null> => {
  const rows = await statements.query<RowOf<Change & ChangePosition>>(
    `SELECT sequence, topic, subject_id, organization_id, mark FROM changes
     WHERE sequence >= ? ORDER BY sequence LIMIT ?`,
    [after.sequence, limit + 1],
  )
  const changes = rows.map(fieldsOf)
  const [first, ...others] = changes
  if (first?.sequence !== after.sequence) return after.mark === null ? changes : null
  return first.mark === after.mark ? others : null
}

/** Retention of changes. Only a suspended reader misses deleted rows; it detects this and resynchronizes. */
const KEEP_SECONDS = 3_600

export const trimChanges = (scope: TableScope): Promise<number> =>
  scope.write((transaction) =>
    // Keeps the newest change: readers compare its mark.
    transaction.execute(
      `DELETE FROM changes WHERE created_at_seconds < ?
       AND sequence < (SELECT value FROM counters WHERE name = 'changes')`,
      [scope.nowSeconds() - KEEP_SECONDS],
    ),
  )

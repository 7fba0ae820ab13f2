// Row locks that last until the end of the transaction, in SQL for both dialects: a no-op update locks the row. SQLite
// serializes transactions; on PostgreSQL, a row read without a lock may be stale.
import type { Transaction } from './database.ts'

/**
 * A lock for the whole deployment, which every announced change also takes. For rules without a row of their own, for
 * example that a name must not exist in two places.
 */
export const lockDeployment = (transaction: Transaction): Promise<number> =>
  transaction.execute("UPDATE counters SET value = value WHERE name = 'changes'")

/**
 * Serializes the transactions of one organization that compare a sum over several rows with a limit. Take it before
 * lockDeployment: a change that follows is announced, which takes that lock.
 */
export const lockOrganization = (transaction: Transaction, organizationId: string): Promise<number> =>
  transaction.execute('UPDATE organizations SET name = name WHERE id = ?', [organizationId])

/** Returns false if there is no such list. Does not change the list's content, source or version. */
export const lockList = async (transaction: Transaction, listId: string): Promise<boolean> =>
  (await transaction.execute('UPDATE lists SET version = version WHERE id = ?', [listId])) === 1

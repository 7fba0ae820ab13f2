// Row locks until the end of the transaction, for both dialects: a no-op update locks the row. SQLite serializes
// transactions; on PostgreSQL, a row read without a lock may be stale.
import type { Transaction } from './database.ts'

/**
 * A lock for the whole deployment, which every announced change also takes. For rules without their own row, for
 * example that a name must not exist in two places.
 */
export const lockDeployment = (transaction: Transaction): Promise<number> =>
  transaction.execute("UPDATE counters SET value = value WHERE name = 'changes'")

/**
 * Serializes transactions of one organization that compare a sum over several rows with a limit. Take it before
 * lockDeployment, which a later announcement takes.
 */
export const lockOrganization = (transaction: Transaction, organizationId: string): Promise<number> =>
  transaction.execute('UPDATE organizations SET name = name WHERE id = ?', [organizationId])

/** Does not change the list. Returns false if there is no such list. */
export const lockList = async (transaction: Transaction, listId: string): Promise<boolean> =>
  (await transaction.execute('UPDATE lists SET version = version WHERE id = ?', [listId])) === 1

// Row locks until the end of the transaction, by a no-op update. On PostgreSQL, a row read without a lock may be stale.
import type { Transaction } from './database.ts'

/**
 * Locks the deployment, as every announced change does: for rules without their own row, such as unique names across
 * tables.
 */
export const lockDeployment = (transaction: Transaction): Promise<number> =>
  transaction.execute("UPDATE counters SET value = value WHERE name = 'changes'")

/** Serializes transactions of one organization that compare a sum with a limit. Take it before lockDeployment. */
export const lockOrganization = (transaction: Transaction, organizationId: string): Promise<number> =>
  transaction.execute('UPDATE organizations SET name = name WHERE id = ?', [organizationId])

/** Does not change the list. Returns false if there is no such list. */
export const lockList = async (transaction: Transaction, listId: string): Promise<boolean> =>
  (await transaction.execute('UPDATE lists SET version = version WHERE id = ?', [listId])) === 1

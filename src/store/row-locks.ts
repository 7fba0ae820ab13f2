// Locks that hold until the transaction ends, in SQL for both dialects: a row is locked by writing it unchanged. On
// SQLite the transaction runs alone anyway; on PostgreSQL a decision based on a row that was only read may use outdated
// data. To avoid deadlocks, every transaction locks in this order: the rows that it changes, then `changes`, then
// `audit`.
import type { Transaction } from './database.ts'

/**
 * One lock for the whole deployment, which every announced change takes anyway: for rules without a row of their own,
 * for example that a name must not exist in two places.
 */
export const lockDeployment = (transaction: Transaction): Promise<number> =>
  transaction.execute("UPDATE counters SET value = value WHERE name = 'changes'")

/** False when there is no such list. Does not change the list's content, source or version. */
export const lockList = async (transaction: Transaction, listId: string): Promise<boolean> =>
  (await transaction.execute('UPDATE lists SET version = version WHERE id = ?', [listId])) === 1

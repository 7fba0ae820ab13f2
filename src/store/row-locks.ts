// Locks that hold until the transaction ends, in SQL that both dialects take: a row is locked by writing it as it is. On
// SQLite the transaction is alone anyway; on PostgreSQL a decision by a row that was only read may be made of old news.
// Order, so that two transactions don't wait for each other: the rows that one is about, then `changes`, then `audit`.
import type { Transaction } from './database.ts'

/**
 * One lock for the whole deployment, which every change that is told takes anyway: for rules that no row stands for, such
 * as a name that must be in neither of two places.
 */
export const lockDeployment = (transaction: Transaction): Promise<number> =>
  transaction.execute("UPDATE counters SET value = value WHERE name = 'changes'")

/** False when there is no such list. Its content, its source and its version stay as they are. */
export const lockList = async (transaction: Transaction, listId: string): Promise<boolean> =>
  (await transaction.execute('UPDATE lists SET version = version WHERE id = ?', [listId])) === 1

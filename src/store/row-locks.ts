// Locks rows by updating them without a change. On PostgreSQL, unlocked reads may be stale.
import { throwMoved } from './copy/moved.ts'
import type { Transaction } from './database.ts'

/** Enforces rules without their own row, such as unique names across tables. Every announced change takes this lock. */
export const lockDeployment = async (transaction: Transaction): Promise<void> => {
  const locked = await transaction.execute("UPDATE counters SET value = value WHERE name = 'changes'")
  if (locked === 0) await throwMoved(transaction)
}

/** Call in transactions that compare an organization's total with a limit, before lockDeployment. */
export const lockOrganization = (transaction: Transaction, organizationId: string): Promise<number> =>
  transaction.execute('UPDATE organizations SET name = name WHERE id = ?', [organizationId])

/** Locks the account for changes to it and its links. Call it before lockDeployment. */
export const lockUser = (transaction: Transaction, userId: string): Promise<number> =>
  transaction.execute('UPDATE users SET version = version WHERE id = ?', [userId])

export const lockList = async (transaction: Transaction, listId: string): Promise<boolean> =>
  (await transaction.execute('UPDATE lists SET version = version WHERE id = ?', [listId])) === 1

// Marks a store as moved by `countersign migrate`. Opening it fails with an error that names the new store. A process that
// still has it open can announce no change, and stops.
import type { Database, Statements, Transaction } from '../database.ts'
import { StoreMovedError, StoreUnusableError } from '../errors.ts'
import { describeStore, type StoreTarget } from '../store-address.ts'

export const MOVED_TO = 'moved_to'

export const movedError = (place: string): StoreMovedError =>
  new StoreMovedError(
    `this store was moved to ${place} and is no longer used: set COUNTERSIGN_STORE or COUNTERSIGN_STORE_FILE to the new address`,
  )

export const refuseMovedStore = async (statements: Statements): Promise<void> => {
  const [row] = await statements.query<{ value: string }>('SELECT value FROM deployment WHERE name = ?', [MOVED_TO])
  if (row !== undefined) throw movedError(row.value)
}

/** Call after a statement that found no counter of changes. */
export const throwMoved = async (statements: Statements): Promise<never> => {
  await refuseMovedStore(statements)
  throw new StoreUnusableError('the store has no change counter: restore a backup')
}

/** Renames the counters, so that every later change, audit entry and read of the change feed fails. */
export const markMoved = async (transaction: Transaction, to: StoreTarget): Promise<void> => {
  await transaction.execute('INSERT INTO deployment (name, value) VALUES (?, ?)', [MOVED_TO, describeStore(to)])
  await transaction.execute("UPDATE counters SET name = 'moved ' || name")
}

export const unmarkMoved = (store: Database): Promise<boolean> =>
  store.transaction(async (transaction) => {
    await transaction.execute("UPDATE counters SET name = substr(name, 7) WHERE substr(name, 1, 6) = 'moved '")
    return (await transaction.execute('DELETE FROM deployment WHERE name = ?', [MOVED_TO])) === 1
  })

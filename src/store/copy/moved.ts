// Marks a store as moved by `countersign migrate`. Opening it fails with an error that names the new store.
import type { Database, Statements } from '../database.ts'
import { StoreUnusableError } from '../errors.ts'
import { describeStore, type StoreTarget } from '../store-address.ts'

export const MOVED_TO = 'moved_to'

export const movedError = (place: string): StoreUnusableError =>
  new StoreUnusableError(
    `this store was moved to ${place} and is no longer used: set COUNTERSIGN_STORE or COUNTERSIGN_STORE_FILE to the new address`,
  )

export const refuseMovedStore = async (statements: Statements): Promise<void> => {
  const [row] = await statements.query<{ value: string }>('SELECT value FROM deployment WHERE name = ?', [MOVED_TO])
  if (row !== undefined) throw movedError(row.value)
}

export const markMoved = async (store: Database, to: StoreTarget): Promise<void> => {
  await store.execute('INSERT INTO deployment (name, value) VALUES (?, ?)', [MOVED_TO, describeStore(to)])
}

export const unmarkMoved = async (store: Database): Promise<boolean> =>
  (await store.execute('DELETE FROM deployment WHERE name = ?', [MOVED_TO])) === 1

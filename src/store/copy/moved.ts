// A store that `countersign migrate` has moved away says so itself, in its own table `deployment`: whoever opens it, by
// whatever address, is refused and told where the deployment goes on. The row holds no password.
import type { Database, Statements } from '../database.ts'
import { StoreUnusableError } from '../errors.ts'
import { describeStore, type StoreTarget } from '../store-address.ts'

/** The row's name in the table `deployment`. */
export const MOVED_TO = 'moved_to'

export const movedError = (place: string): StoreUnusableError =>
  new StoreUnusableError(
    `this store was moved to ${place} and is no longer used: set COUNTERSIGN_STORE or COUNTERSIGN_STORE_FILE to the address of that one`,
  )

/** @throws StoreUnusableError when the store was moved away */
export const refuseMovedStore = async (statements: Statements): Promise<void> => {
  const [row] = await statements.query<{ value: string }>('SELECT value FROM deployment WHERE name = ?', [MOVED_TO])
  if (row !== undefined) throw movedError(row.value)
}

/** From now on the store can only be opened by callers that ask for a moved store. */
export const markMoved = async (store: Database, to: StoreTarget): Promise<void> => {
  await store.execute('INSERT INTO deployment (name, value) VALUES (?, ?)', [MOVED_TO, describeStore(to)])
}

/** @returns false when the store had not been moved */
export const unmarkMoved = async (store: Database): Promise<boolean> =>
  (await store.execute('DELETE FROM deployment WHERE name = ?', [MOVED_TO])) === 1

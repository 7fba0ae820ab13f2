// Values of the deployment itself: its id, when it was made, whether the first run is done. They belong to no organization.
import { randomBytes } from 'node:crypto'
import { newUuid } from '../domain/identifier.ts'
import type { TableScope } from './copy/table-scope.ts'
import type { TransactionOptions } from './database.ts'
import { USER_KEY_NAME } from './sessions/persons.ts'

export const createDeploymentTable = (scope: TableScope) => {
  const read = async (name: string): Promise<string | null> => {
    const [row] = await scope.statements.query<{ value: string }>('SELECT value FROM deployment WHERE name = ?', [name])
    return row?.value ?? null
  }

  const exchange = (name: string, from: string | null, to: string, options?: TransactionOptions): Promise<boolean> =>
    scope.write(
      async (transaction) =>
        (from === null
          ? await transaction.execute(
              'INSERT INTO deployment (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING',
              [name, to],
            )
          : await transaction.execute('UPDATE deployment SET value = ? WHERE name = ? AND value = ?', [
              to,
              name,
              from,
            ])) === 1,
      options,
    )

  /** Keeps the first value ever set for the name; false when there was one already. */
  const setOnce = (name: string, value: string): Promise<boolean> => exchange(name, null, value)

  return {
    read,
    setOnce,

    /** Overwrites the value: only for commands, because other values are set once and kept. */
    replace: (name: string, value: string, options?: TransactionOptions): Promise<void> =>
      scope.write(async (transaction) => {
        await transaction.execute(
          'INSERT INTO deployment (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
          [name, value],
        )
      }, options),

    /** Other transactions that lock the deployment's administration wait until this one ends. */
    lock: (): Promise<number> => scope.execute("UPDATE deployment SET value = value WHERE name = 'deployment_id'"),

    /** Replaces the value if it is still `from`; otherwise returns false. @param from null: no value */
    exchange,

    /** 32 random bytes under a name: made on the first call, and the same in every later one. */
    ensureSecret: async (name: string): Promise<Uint8Array> => {
      const known = await read(name)
      if (known !== null) return Uint8Array.fromHex(known)
      const fresh = randomBytes(32).toString('hex')
      const kept = (await setOnce(name, fresh)) ? fresh : ((await read(name)) ?? fresh)
      return Uint8Array.fromHex(kept)
    },

    /** Makes the id and the time of creation on the first start, and answers the id. */
    ensureIdentity: async (): Promise<string> => {
      const known = await read('deployment_id')
      if (known !== null) return known
      const fresh = newUuid()
      const first = await setOnce('deployment_id', fresh)
      if (first) await setOnce('created_at_seconds', String(scope.nowSeconds()))
      return first ? fresh : ((await read('deployment_id')) ?? fresh)
    },

    /** Makes the key of the pairwise user ids on the first start. It never changes: the ids would change with it. */
    ensureUserKey: async (): Promise<void> => {
      if ((await read(USER_KEY_NAME)) === null) await setOnce(USER_KEY_NAME, randomBytes(32).toString('hex'))
    },
  }
}

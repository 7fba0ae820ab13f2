// Values of the deployment itself: its id, when it was made, whether the first run is done. They belong to no organization.
import { randomBytes } from 'node:crypto'
import { newUuid } from '../domain/identifier.ts'
import { sql, text } from './columns.ts'
import { survivingCrashes, type TableScope } from './copy/table-scope.ts'
import type { Statements, TransactionOptions } from './database.ts'
import { defineTable } from './table.ts'

/** Name of the value that holds the key of the pairwise user ids: 32 bytes as hex. */
export const USER_KEY_NAME = 'pairwise_user_key'

export const DEPLOYMENT = defineTable('deployment', { name: text, value: text })

/** Null when there is no value of this name. */
export const readValue = async (statements: Statements, name: string): Promise<string | null> =>
  (await DEPLOYMENT.find(statements, { name }))?.value ?? null

export const createDeploymentTable = (scope: TableScope) => {
  const read = (name: string): Promise<string | null> => readValue(scope, name)

  const exchange = async (
    name: string,
    from: string | null,
    to: string,
    { survives }: TransactionOptions = {},
  ): Promise<boolean> => {
    const own = survives === 'process-crash' ? survivingCrashes(scope) : scope
    if (from === null) return DEPLOYMENT.insertNew(own, { name, value: to })
    return (await DEPLOYMENT.updateAll(own, { name, value: from }, { value: to })) === 1
  }

  /** Keeps the first value ever set for the name; false when there was one already. */
  const setOnce = (name: string, value: string): Promise<boolean> => exchange(name, null, value)

  return {
    read,
    setOnce,

    /** Overwrites the value: only for commands, because other values are set once and kept. */
    replace: (name: string, value: string): Promise<void> => DEPLOYMENT.put(scope, { name }, { value }),

    /** Other transactions that lock the deployment's administration wait until this one ends. */
    lock: (): Promise<number> => DEPLOYMENT.updateAll(scope, { name: 'deployment_id' }, { value: sql`value` }),

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

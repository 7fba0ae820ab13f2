import { randomBytes } from 'node:crypto'
import { newUuid } from '../domain/identifier.ts'
import { sql, text } from './columns.ts'
import { survivingCrashes, type TableScope } from './copy/table-scope.ts'
import type { Statements, TransactionOptions } from './database.ts'
import { defineTable } from './table.ts'

/** Key of the pairwise user ids: 32 bytes in hexadecimal. */
export const USER_KEY_NAME = 'pairwise_user_key'

export const DEPLOYMENT = defineTable('deployment', { name: text, value: text })

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

  const setOnce = (name: string, value: string): Promise<boolean> => exchange(name, null, value)

  return {
    read,
    setOnce,

    replace: (name: string, value: string): Promise<void> => DEPLOYMENT.put(scope, { name }, { value }),

    lock: (): Promise<number> => DEPLOYMENT.updateAll(scope, { name: 'deployment_id' }, { value: sql`value` }),

    exchange,

    ensureSecret: async (name: string): Promise<Uint8Array> => {
      const known = await read(name)
      if (known !== null) return Uint8Array.fromHex(known)
      const fresh = randomBytes(32).toString('hex')
      const kept = (await setOnce(name, fresh)) ? fresh : ((await read(name)) ?? fresh)
      return Uint8Array.fromHex(kept)
    },

    ensureIdentity: async (): Promise<string> => {
      const known = await read('deployment_id')
      if (known !== null) return known
      const fresh = newUuid()
      const first = await setOnce('deployment_id', fresh)
      if (first) await setOnce('created_at_seconds', String(scope.nowSeconds()))
      return first ? fresh : ((await read('deployment_id')) ?? fresh)
    },

    /** Creates the key of the pairwise user ids at first startup. It must never change. */
    ensureUserKey: async (): Promise<void> => {
      if ((await read(USER_KEY_NAME)) === null) await setOnce(USER_KEY_NAME, randomBytes(32).toString('hex'))
    },
  }
}

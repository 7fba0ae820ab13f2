// Country from which a session was last submitted, according to the geography file. IP addresses are not stored.

import { integer, text } from '../columns.ts'
import { survivingCrashes, type TableScope } from '../copy/table-scope.ts'
import type { Transaction } from '../database.ts'
import { defineTable } from '../table.ts'

const ORIGINS = defineTable('session_origins', {
  organizationId: text,
  sessionId: text,
  /** ISO 3166-1 alpha-2. */
  country: text,
  seenAtSeconds: integer,
})

export const eraseOrigin = (transaction: Transaction, organizationId: string, sessionId: string): Promise<number> =>
  ORIGINS.removeAll(transaction, { organizationId, sessionId })

export const createSessionOriginTable = (scope: TableScope) => ({
  find: async (organizationId: string, sessionId: string): Promise<string | null> =>
    (await ORIGINS.find(scope, { organizationId, sessionId }))?.country ?? null,

  note: (organizationId: string, sessionId: string, country: string | null): Promise<void> =>
    survivingCrashes(scope).write(async (own) => {
      await eraseOrigin(own, organizationId, sessionId)
      if (country === null) return
      await ORIGINS.insert(own, { organizationId, sessionId, country, seenAtSeconds: scope.nowSeconds() })
    }),
})

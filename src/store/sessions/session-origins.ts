// The country from which a session was last handed in, by the geography file. The IP address itself is not stored; the
// country is erased with the evidence.

import type { TableScope } from '../copy/table-scope.ts'
import type { Transaction } from '../database.ts'

const OF_SESSION = 'organization_id = ? AND session_id = ?'

/** Call it in the transaction that erases a session's evidence. */
export const eraseOrigin = (transaction: Transaction, organizationId: string, sessionId: string): Promise<number> =>
  transaction.execute(`DELETE FROM session_origins WHERE ${OF_SESSION}`, [organizationId, sessionId])

export const createSessionOriginTable = (scope: TableScope) => ({
  /** ISO 3166-1 alpha-2; null where it is not known. */
  find: async (organizationId: string, sessionId: string): Promise<string | null> => {
    const [row] = await scope.statements.query<{ country: string }>(
      `SELECT country FROM session_origins WHERE ${OF_SESSION}`,
      [organizationId, sessionId],
    )
    return row?.country ?? null
  },

  /** Replaces the stored country. @param country null: it is not known */
  note: (organizationId: string, sessionId: string, country: string | null): Promise<void> =>
    scope.write(
      async (transaction) => {
        await eraseOrigin(transaction, organizationId, sessionId)
        if (country === null) return
        await transaction.execute(
          'INSERT INTO session_origins (organization_id, session_id, country, seen_at_seconds) VALUES (?, ?, ?, ?)',
          [organizationId, sessionId, country, scope.nowSeconds()],
        )
      },
      { survives: 'process-crash' },
    ),
})

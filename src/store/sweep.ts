// Deletes expired rows in batches, so that no sweep delays other transactions.
import type { SqlParameter, Transaction } from './database.ts'

export const SWEEP_BATCH = 500

/** @param condition with a placeholder per parameter @returns the number of deleted rows; call again until it is 0 */
export const sweepRows = (
  transaction: Transaction,
  table: string,
  key: string,
  condition: string,
  ...parameters: readonly SqlParameter[]
): Promise<number> =>
  transaction.execute(
    // Repeats the condition, so that a concurrently renewed row is kept.
    `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${condition} LIMIT ?)
     AND (${condition})`,
    [...parameters, SWEEP_BATCH, ...parameters],
  )

/** Deletes a session's rows except the `most` that expire last. @param ofLink limits this to the rows of one link */
export const keepNewest = (
  transaction: Transaction,
  table: string,
  key: string,
  { organizationId, sessionId }: { readonly organizationId: string; readonly sessionId: string },
  most: number,
  ofLink?: Uint8Array,
): Promise<number> =>
  transaction.execute(
    `DELETE FROM ${table} WHERE ${key} IN (
       SELECT ${key} FROM ${table} WHERE organization_id = ? AND session_id = ?
         ${ofLink === undefined ? '' : 'AND link_hash = ?'}
       ORDER BY expires_at_seconds DESC LIMIT 1000 OFFSET ?)`,
    [organizationId, sessionId, ...(ofLink === undefined ? [] : [ofLink]), most],
  )

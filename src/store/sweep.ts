// Deletes rows whose time is over, a batch at a time, so that no sweep holds other transactions up.
import type { SqlParameter, Transaction } from './database.ts'

/** Rows that one statement deletes at most. */
export const SWEEP_BATCH = 500

/**
 * @param key columns that identify a row
 * @param condition of the rows to delete, with a placeholder for each parameter
 * @returns how many rows were deleted: call again until it is 0
 */
export const sweepRows = (
  transaction: Transaction,
  table: string,
  key: string,
  condition: string,
  ...parameters: readonly SqlParameter[]
): Promise<number> =>
  transaction.execute(
    // The condition stands twice: a row that another transaction renews meanwhile must stay.
    `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${condition} LIMIT ?)
     AND (${condition})`,
    [...parameters, SWEEP_BATCH, ...parameters],
  )

/**
 * Deletes a session's rows except the `most` that expire last.
 * @param key the column that identifies a row
 * @param ofLink if given, only the rows of this link count
 */
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

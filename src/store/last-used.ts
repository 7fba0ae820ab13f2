// Records the last use of each key, in batches. A crash may lose the last seconds.

import { nextTurn } from '../lib/time.ts'
import type { Database } from './database.ts'

/** Maximum rows per transaction. The event loop runs between transactions. */
const BATCH = 200

export const createLastUsedWriter = (database: Database) => {
  const unwritten = new Map<string, number>()

  const writeBatch = (batch: ReadonlyArray<readonly [string, number]>): Promise<void> =>
    database.transaction(
      async (transaction) => {
        for (const [keyId, seconds] of batch) {
          await transaction.execute(
            `UPDATE api_keys SET last_used_at_seconds = ?
             WHERE key_id = ? AND (last_used_at_seconds IS NULL OR last_used_at_seconds < ?)`,
            [seconds, keyId, seconds],
          )
        }
      },
      { survives: 'process-crash' },
    )

  return {
    /** Writes Unix seconds by key id. Rejects if the store is unavailable; the next call writes the rest. */
    write: async (uses: ReadonlyMap<string, number>): Promise<void> => {
      for (const [keyId, seconds] of uses) {
        if ((unwritten.get(keyId) ?? 0) < seconds) unwritten.set(keyId, seconds)
      }
      // A fixed order prevents deadlocks.
      const noted = [...unwritten].sort(([one], [other]) => (one < other ? -1 : 1))
      for (let start = 0; start < noted.length; start += BATCH) {
        const batch = noted.slice(start, start + BATCH)
        await writeBatch(batch)
        // Keep uses added during the write.
        for (const [keyId, seconds] of batch) if (unwritten.get(keyId) === seconds) unwritten.delete(keyId)
        await nextTurn()
      }
    },
  }
}

export type LastUsedWriter = ReturnType<typeof createLastUsedWriter>

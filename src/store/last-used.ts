// When each key was last used: collected in memory by the authenticator, written here in batches. Losing the last seconds
// to a crash is accepted; a write per request is not.
import type { Database } from './database.ts'

export interface LastUsedWriter {
  /** Writes key id → Unix seconds of the last use. Rejects when it can't; what is unwritten goes with the next call. */
  write(uses: ReadonlyMap<string, number>): Promise<void>
}

/** Rows per transaction, and between two turns of the event loop. */
const BATCH = 200

export const createLastUsedWriter = (database: Database): LastUsedWriter => {
  const unwritten = new Map<string, number>()

  const writeBatch = (batch: ReadonlyArray<readonly [string, number]>): Promise<void> =>
    database.transaction(
      async (transaction) => {
        for (const [keyId, seconds] of batch) {
          // Several processes note the same key: the latest use stays.
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
    write: async (uses) => {
      for (const [keyId, seconds] of uses) {
        if ((unwritten.get(keyId) ?? 0) < seconds) unwritten.set(keyId, seconds)
      }
      // In one order everywhere: two that write the same rows must not wait for each other.
      const noted = [...unwritten].sort(([one], [other]) => (one < other ? -1 : 1))
      for (let start = 0; start < noted.length; start += BATCH) {
        const batch = noted.slice(start, start + BATCH)
        await writeBatch(batch)
        // A use that was added meanwhile is newer than what was written, and stays.
        for (const [keyId, seconds] of batch) if (unwritten.get(keyId) === seconds) unwritten.delete(keyId)
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
  }
}

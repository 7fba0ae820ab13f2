// Claims from before a move from SQLite to PostgreSQL, because retries may still arrive (invariant 3).
import type { IdempotencyTable } from '../idempotency.ts'
import { digestOf, sameHash } from './entry.ts'
import { type ClaimLogDependencies, createClaimLog } from './log.ts'

/** Inserts a claim when its key is next used, because the log contains only hashes of keys. */
export const withMovedClaims = async (
  table: IdempotencyTable,
  dependencies: ClaimLogDependencies,
): Promise<IdempotencyTable> => {
  const log = createClaimLog(dependencies)
  if (!(await log.load())) return table
  return {
    ...table,
    claim: async (organizationId, keyId, idempotencyKey, bodyHash, ...rest) => {
      const key = { organizationId, keyId, idempotencyKey }
      const entry = await log.find(digestOf(key))
      if (entry !== null && !entry.released) {
        const isSame = sameHash(entry.bodyHash, bodyHash)
        await table.adopt({ ...entry, ...key, bodyHash: isSame ? bodyHash : entry.bodyHash, node: '' })
      }
      return table.claim(organizationId, keyId, idempotencyKey, bodyHash, ...rest)
    },
  }
}

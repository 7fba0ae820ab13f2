// The claims of a deployment that moved from SQLite to PostgreSQL: the log of them was copied, and retries of requests from
// before the move may still come (invariant 3).
import type { IdempotencyTable } from '../idempotency.ts'
import { digestOf, sameHash } from './entry.ts'
import { type ClaimLogDependencies, createClaimLog } from './log.ts'

/**
 * The table of claims, into which a claim of the log is taken as soon as its key is asked for: the log has the keys as
 * hashes alone.
 * @throws StoreUnavailableError
 */
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

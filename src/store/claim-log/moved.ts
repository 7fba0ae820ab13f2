// Claims from before a move from SQLite to PostgreSQL, because retries may still arrive (invariant 3).
import { databaseScope } from '../copy/table-scope.ts'
import type { IdempotencyTable } from '../idempotency.ts'
import { digestOf, sameHash } from './entry.ts'
import { readClaimLogOwner } from './groups.ts'
import { type ClaimLogDependencies, createClaimLog } from './log.ts'

/** Inserts a claim when its key is next used, because the log contains only hashes of keys. */
export const withMovedClaims = async (
  table: IdempotencyTable,
  dependencies: ClaimLogDependencies,
): Promise<IdempotencyTable> => {
  const log = createClaimLog(dependencies)
  if ((await log.load()) === 0) return table
  const owner = await readClaimLogOwner(databaseScope(dependencies.database, dependencies.clock))
  return {
    ...table,
    claim: async (organizationId, keyId, idempotencyKey, bodyHash, ...rest) => {
      const key = { organizationId, keyId, idempotencyKey }
      const found = await log.find(digestOf(key))
      if (found !== null && !found.entry.released) {
        const { entry, number } = found
        const isSame = sameHash(entry.bodyHash, bodyHash)
        // Only the owner's log can determine the outcome. If there is no owner, no node can.
        const node = owner !== null && number >= owner.firstNumber ? owner.node : ''
        await table.adopt({ ...entry, ...key, bodyHash: isSame ? bodyHash : entry.bodyHash, node })
      }
      return table.claim(organizationId, keyId, idempotencyKey, bodyHash, ...rest)
    },
  }
}

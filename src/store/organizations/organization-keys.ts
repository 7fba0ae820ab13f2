// Organizations' keys, wrapped with the deployment's key, which is not stored here.
import { OrganizationKeyExchangedError } from '../../domain/errors.ts'
import { bytes, hidden, integer, sql, text } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { Transaction } from '../database.ts'
import { DEPLOYMENT } from '../deployment.ts'
import { defineTable, type ItemOf } from '../table.ts'

/** Name of the deployment's value with the fingerprint of the wrapping key for new organizations. */
export const EVIDENCE_KEY_CLAIM = 'evidence_key_fingerprint'

export const ORGANIZATION_KEYS = defineTable('organization_keys', {
  organizationId: hidden(text),
  /** During a rotation, both the old and the new key. */
  wrappedKey: bytes,
  wrappedBy: text,
  createdAtSeconds: hidden(integer),
})

export interface WrappedOrganizationKey extends ItemOf<typeof ORGANIZATION_KEYS> {}

/** Call in the transaction that stores data sealed with this key. @throws OrganizationKeyExchangedError if replaced */
export const requireKeyInUse = async (
  transaction: Transaction,
  organizationId: string,
  sealedUnder: Uint8Array,
): Promise<void> => {
  // An unchanged write locks the row until the transaction ends.
  const which = { organizationId, wrappedKey: sealedUnder }
  const found = await ORGANIZATION_KEYS.updateAll(transaction, which, { wrappedBy: sql`wrapped_by` })
  if (found === 0) throw new OrganizationKeyExchangedError()
}

export const createOrganizationKeyTable = (scope: TableScope) => ({
  find: (organizationId: string): Promise<WrappedOrganizationKey | null> =>
    ORGANIZATION_KEYS.find(scope, { organizationId }),

  requireInUse: (organizationId: string, sealedUnder: Uint8Array): Promise<void> =>
    scope.write((transaction) => requireKeyInUse(transaction, organizationId, sealedUnder)),

  /** Returns the stored key; null if new keys must be wrapped with another deployment key. */
  add: (organizationId: string, key: WrappedOrganizationKey): Promise<WrappedOrganizationKey | null> =>
    scope.write(async (own) => {
      const claim = await DEPLOYMENT.lock(own, { name: EVIDENCE_KEY_CLAIM }, 'value')
      if (claim !== null && claim.value !== key.wrappedBy) return null
      const { wrappedKey, wrappedBy } = key
      const fresh = { organizationId, wrappedKey, wrappedBy, createdAtSeconds: scope.nowSeconds() }
      await ORGANIZATION_KEYS.insertNew(own, fresh)
      return ORGANIZATION_KEYS.find(own, { organizationId })
    }),

  /** Fingerprints of all wrapping keys; a service must start with one of them. Empty before the first organization. */
  wrappers: async (): Promise<readonly string[]> =>
    (
      await scope.statements.query<{ wrapped_by: string }>(
        'SELECT DISTINCT wrapped_by FROM organization_keys ORDER BY wrapped_by',
      )
    ).map((row) => row.wrapped_by),
})

// Each organization's key, wrapped by the deployment's, which is not stored here.
import { OrganizationKeyExchangedError } from '../../domain/errors.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { Transaction } from '../database.ts'
import { fieldsOf, type RowOf } from '../row-fields.ts'

/** The deployment's value with this name is the fingerprint of the key that wraps new organizations' keys. */
export const EVIDENCE_KEY_CLAIM = 'evidence_key_fingerprint'

export interface WrappedOrganizationKey {
  /** The wrapped key; while a key is exchanged, the old and the new key together. */
  readonly wrappedKey: Uint8Array
  /** Fingerprint of the key that wrapped it. */
  readonly wrappedBy: string
}

type KeyRow = RowOf<WrappedOrganizationKey>

const FIND = 'SELECT wrapped_key, wrapped_by FROM organization_keys WHERE organization_id = ?'

/**
 * Call it in the transaction that stores something sealed by the organization's key: if the key was exchanged meanwhile, the
 * sealed secret could never be opened.
 * @throws OrganizationKeyExchangedError
 */
export const requireKeyInUse = async (
  transaction: Transaction,
  organizationId: string,
  sealedUnder: Uint8Array,
): Promise<void> => {
  // The row is written unchanged, which locks it until the transaction ends.
  const found = await transaction.execute(
    'UPDATE organization_keys SET wrapped_by = wrapped_by WHERE organization_id = ? AND wrapped_key = ?',
    [organizationId, sealedUnder],
  )
  if (found === 0) throw new OrganizationKeyExchangedError()
}

export const createOrganizationKeyTable = (scope: TableScope) => ({
  find: async (organizationId: string): Promise<WrappedOrganizationKey | null> => {
    const [row] = await scope.statements.query<KeyRow>(FIND, [organizationId])
    return row === undefined ? null : fieldsOf(row)
  },

  /** See requireKeyInUse. */
  requireInUse: (organizationId: string, sealedUnder: Uint8Array): Promise<void> =>
    scope.write((transaction) => requireKeyInUse(transaction, organizationId, sealedUnder)),

  /**
   * Stores the key unless the organization has one, and returns the stored key. Null when new keys have to be wrapped by
   * another key of the deployment.
   */
  add: (organizationId: string, key: WrappedOrganizationKey): Promise<WrappedOrganizationKey | null> =>
    scope.write(async (transaction) => {
      const [claim] = await transaction.query<{ value: string }>(
        'UPDATE deployment SET value = value WHERE name = ? RETURNING value',
        [EVIDENCE_KEY_CLAIM],
      )
      if (claim !== undefined && claim.value !== key.wrappedBy) return null
      await transaction.execute(
        `INSERT INTO organization_keys (organization_id, wrapped_key, wrapped_by, created_at_seconds)
         VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
        [organizationId, key.wrappedKey, key.wrappedBy, scope.nowSeconds()],
      )
      const [row] = await transaction.query<KeyRow>(FIND, [organizationId])
      if (row === undefined) throw new Error('the organization key vanished inside its own transaction')
      return fieldsOf(row)
    }),

  /** Fingerprints of all keys in use: a service must not start with another key. Empty before the first organization. */
  wrappers: async (): Promise<readonly string[]> =>
    (
      await scope.statements.query<{ wrapped_by: string }>(
        'SELECT DISTINCT wrapped_by FROM organization_keys ORDER BY wrapped_by',
      )
    ).map((row) => row.wrapped_by),
})

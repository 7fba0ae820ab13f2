// Each organization's key, wrapped by the deployment's, which is not stored here.
import type { TableScope } from './table-scope.ts'

export interface WrappedOrganizationKey {
  readonly wrappedKey: Uint8Array
  /** Fingerprint of the key that wrapped it. */
  readonly wrappedBy: string
}

interface KeyRow {
  readonly wrapped_key: Uint8Array
  readonly wrapped_by: string
}

const toKey = (row: KeyRow): WrappedOrganizationKey => ({ wrappedKey: row.wrapped_key, wrappedBy: row.wrapped_by })

const FIND = 'SELECT wrapped_key, wrapped_by FROM organization_keys WHERE organization_id = ?'

export const createOrganizationKeyTable = (scope: TableScope) => ({
  find: async (organizationId: string): Promise<WrappedOrganizationKey | null> => {
    const [row] = await scope.statements.query<KeyRow>(FIND, [organizationId])
    return row === undefined ? null : toKey(row)
  },

  /** Keeps the one that is there, if another was faster; answers the one that counts. */
  add: (organizationId: string, key: WrappedOrganizationKey): Promise<WrappedOrganizationKey> =>
    scope.write(async (transaction) => {
      await transaction.execute(
        `INSERT INTO organization_keys (organization_id, wrapped_key, wrapped_by, created_at_seconds)
         VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
        [organizationId, key.wrappedKey, key.wrappedBy, scope.nowSeconds()],
      )
      const [row] = await transaction.query<KeyRow>(FIND, [organizationId])
      if (row === undefined) throw new Error('the organization key vanished inside its own transaction')
      return toKey(row)
    }),

  /** Of all organizations: for the start, which must not go on with another key. Empty before the first is made. */
  wrappers: async (): Promise<readonly string[]> =>
    (
      await scope.statements.query<{ wrapped_by: string }>(
        'SELECT DISTINCT wrapped_by FROM organization_keys ORDER BY wrapped_by',
      )
    ).map((row) => row.wrapped_by),
})

export type OrganizationKeyTable = ReturnType<typeof createOrganizationKeyTable>

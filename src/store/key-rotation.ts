// Exchanging an organization's key: the row of the key and every row that it wraps something in, in one transaction.
import type { Transaction } from './database.ts'
import type { WrappedOrganizationKey } from './organization-keys.ts'
import type { TableScope } from './table-scope.ts'

/** One secret that an organization's key wraps. */
export type WrappedSecret =
  | { readonly kind: 'evidence'; readonly sessionId: string; readonly evidenceId: string; readonly sealed: Uint8Array }
  | { readonly kind: 'webhook'; readonly endpointId: string; readonly sealed: Uint8Array }

type Reseal = (secret: WrappedSecret) => Uint8Array

const BATCH = 500

const exchangeEvidence = async (transaction: Transaction, organizationId: string, reseal: Reseal): Promise<number> => {
  let count = 0
  for (let after = ''; ; ) {
    const rows = await transaction.query<{ id: string; session_id: string; wrapped_key: Uint8Array }>(
      `SELECT id, session_id, wrapped_key FROM session_evidence
       WHERE id > ? AND organization_id = ? AND wrapped_key IS NOT NULL ORDER BY id LIMIT ${BATCH}`,
      [after, organizationId],
    )
    for (const { id, session_id: sessionId, wrapped_key: sealed } of rows) {
      await transaction.execute('UPDATE session_evidence SET wrapped_key = ? WHERE organization_id = ? AND id = ?', [
        reseal({ kind: 'evidence', sessionId, evidenceId: id, sealed }),
        organizationId,
        id,
      ])
      after = id
      count += 1
    }
    if (rows.length < BATCH) return count
  }
}

const exchangeWebhooks = async (transaction: Transaction, organizationId: string, reseal: Reseal): Promise<number> => {
  let count = 0
  for (const column of ['sealed_secret', 'previous_sealed_secret'] as const) {
    // A removed endpoint has an empty secret.
    const rows = await transaction.query<{ id: string; sealed: Uint8Array }>(
      `SELECT id, ${column} AS sealed FROM webhook_endpoints WHERE organization_id = ? AND length(${column}) > 0`,
      [organizationId],
    )
    for (const { id, sealed } of rows) {
      await transaction.execute(`UPDATE webhook_endpoints SET ${column} = ? WHERE organization_id = ? AND id = ?`, [
        reseal({ kind: 'webhook', endpointId: id, sealed }),
        organizationId,
        id,
      ])
      count += 1
    }
  }
  return count
}

export const createKeyRotation = (scope: TableScope) => ({
  /** Organizations whose key is wrapped by the deployment key with this fingerprint. The deployment's own administration. */
  organizationsOf: async (wrappedBy: string): Promise<readonly string[]> =>
    (
      await scope.statements.query<{ organization_id: string }>(
        'SELECT organization_id FROM organization_keys WHERE wrapped_by = ? ORDER BY organization_id',
        [wrappedBy],
      )
    ).map((row) => row.organization_id),

  /**
   * Exchanges the organization's key and all that it wraps, or nothing. Answers how many secrets were wrapped anew; null
   * when the organization's key is not wrapped by `wrappedBy` any more.
   */
  exchange: (
    organizationId: string,
    wrappedBy: string,
    begin: (old: WrappedOrganizationKey) => { readonly replacement: WrappedOrganizationKey; readonly reseal: Reseal },
  ): Promise<number | null> =>
    scope.write(async (transaction) => {
      const [row] = await transaction.query<{ wrapped_key: Uint8Array }>(
        `UPDATE organization_keys SET wrapped_by = wrapped_by WHERE organization_id = ? AND wrapped_by = ?
         RETURNING wrapped_key`,
        [organizationId, wrappedBy],
      )
      if (row === undefined) return null
      const { replacement, reseal } = begin({ wrappedKey: row.wrapped_key, wrappedBy })
      const evidence = await exchangeEvidence(transaction, organizationId, reseal)
      const webhooks = await exchangeWebhooks(transaction, organizationId, reseal)
      await transaction.execute(
        'UPDATE organization_keys SET wrapped_key = ?, wrapped_by = ? WHERE organization_id = ?',
        [replacement.wrappedKey, replacement.wrappedBy, organizationId],
      )
      return evidence + webhooks
    }),
})

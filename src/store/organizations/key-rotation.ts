// Replaces organizations' keys and the secrets wrapped with them. Each statement compares the old bytes, so that rows
// changed by others stay unchanged.

import type { TableScope } from '../copy/table-scope.ts'
import type { Transaction } from '../database.ts'
import { ORGANIZATION_KEYS, type WrappedOrganizationKey } from './organization-keys.ts'

type WrappedSecret =
  | { readonly kind: 'evidence'; readonly sessionId: string; readonly evidenceId: string; readonly sealed: Uint8Array }
  | { readonly kind: 'webhook'; readonly endpointId: string; readonly sealed: Uint8Array }
  | { readonly kind: 'traces'; readonly sealed: Uint8Array }

/** Rows per transaction; limits the wait of other transactions. */
const BATCH = 200
/** Size of a wrapped 32-byte key: nonce, ciphertext, tag. Longer values also contain the previous key. */
const ONE_KEY_BYTES = 60
const WEBHOOK_COLUMNS = [
  'sealed_secret',
  'previous_sealed_secret',
  'sealed_service_secret',
  'previous_sealed_service_secret',
] as const

const exchangeSecret = async (
  transaction: Transaction,
  organizationId: string,
  secret: WrappedSecret,
  replacement: Uint8Array,
): Promise<void> => {
  if (secret.kind === 'evidence') {
    await transaction.execute(
      'UPDATE session_evidence SET wrapped_key = ? WHERE organization_id = ? AND id = ? AND wrapped_key = ?',
      [replacement, organizationId, secret.evidenceId, secret.sealed],
    )
    return
  }
  if (secret.kind === 'traces') {
    await transaction.execute('UPDATE trace_keys SET sealed_key = ? WHERE organization_id = ? AND sealed_key = ?', [
      replacement,
      organizationId,
      secret.sealed,
    ])
    return
  }
  for (const column of WEBHOOK_COLUMNS) {
    await transaction.execute(
      `UPDATE webhook_endpoints SET ${column} = ? WHERE organization_id = ? AND id = ? AND ${column} = ?`,
      [replacement, organizationId, secret.endpointId, secret.sealed],
    )
  }
}

export const createKeyRotation = (scope: TableScope) => ({
  /**
   * Organizations whose key is wrapped with another deployment key, or that have two keys. For the administration of
   * the deployment.
   */
  organizationsToRotate: async (wrappedBy: string): Promise<readonly string[]> =>
    (
      await scope.statements.query<{ organization_id: string }>(
        `SELECT organization_id FROM organization_keys WHERE wrapped_by <> ? OR length(wrapped_key) > ${ONE_KEY_BYTES}
         ORDER BY organization_id`,
        [wrappedBy],
      )
    ).map((row) => row.organization_id),

  exchangeKey: async (organizationId: string, old: Uint8Array, { wrappedKey, wrappedBy }: WrappedOrganizationKey) =>
    (await ORGANIZATION_KEYS.updateAll(scope, { organizationId, wrappedKey: old }, { wrappedKey, wrappedBy })) === 1,

  async *secretBatches(organizationId: string): AsyncGenerator<readonly WrappedSecret[]> {
    for (const column of WEBHOOK_COLUMNS) {
      // A removed endpoint has an empty secret.
      const rows = await scope.statements.query<{ id: string; sealed: Uint8Array }>(
        `SELECT id, ${column} AS sealed FROM webhook_endpoints WHERE organization_id = ? AND length(${column}) > 0`,
        [organizationId],
      )
      yield rows.map(({ id, sealed }) => ({ kind: 'webhook', endpointId: id, sealed }))
    }
    const traceKeys = await scope.statements.query<{ sealed: Uint8Array }>(
      'SELECT sealed_key AS sealed FROM trace_keys WHERE organization_id = ?',
      [organizationId],
    )
    yield traceKeys.map(({ sealed }) => ({ kind: 'traces', sealed }))
    for (let after = ''; ; ) {
      const rows = await scope.statements.query<{ id: string; session_id: string; sealed: Uint8Array }>(
        `SELECT id, session_id, wrapped_key AS sealed FROM session_evidence
         WHERE id > ? AND organization_id = ? AND wrapped_key IS NOT NULL ORDER BY id LIMIT ${BATCH}`,
        [after, organizationId],
      )
      yield rows.map(({ id, session_id, sealed }) => ({
        kind: 'evidence',
        sessionId: session_id,
        evidenceId: id,
        sealed,
      }))
      if (rows.length < BATCH) return
      after = rows.at(-1)?.id ?? ''
    }
  },

  exchangeSecrets: (
    organizationId: string,
    exchanges: readonly { readonly secret: WrappedSecret; readonly replacement: Uint8Array }[],
  ): Promise<void> =>
    scope.write(async (transaction) => {
      for (const { secret, replacement } of exchanges) {
        await exchangeSecret(transaction, organizationId, secret, replacement)
      }
    }),
})

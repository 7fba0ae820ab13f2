// Replaces organizations' keys and the secrets wrapped with them. Statements compare the old bytes, so that they don't
// overwrite concurrent changes.

import { bytes, nullable, sql, text } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { Transaction } from '../database.ts'
import { defineTable } from '../table.ts'
import { ORGANIZATION_KEYS, type WrappedOrganizationKey } from './organization-keys.ts'

type WrappedSecret =
  | { readonly kind: 'evidence'; readonly sessionId: string; readonly evidenceId: string; readonly sealed: Uint8Array }
  | { readonly kind: 'webhook'; readonly endpointId: string; readonly sealed: Uint8Array }
  | { readonly kind: 'traces'; readonly sealed: Uint8Array }

/** Maximum rows per transaction, which limits the wait of other transactions. */
const BATCH = 200
/** Size of a wrapped 32-byte key: nonce, ciphertext, tag. Longer values also contain the previous key. */
const ONE_KEY_BYTES = 60
const SEALED_SECRETS = {
  sealedSecret: bytes,
  previousSealedSecret: nullable(bytes),
  sealedServiceSecret: nullable(bytes),
  previousSealedServiceSecret: nullable(bytes),
} as const
const WEBHOOK_FIELDS = Object.keys(SEALED_SECRETS) as (keyof typeof SEALED_SECRETS)[]

const ENDPOINTS = defineTable('webhook_endpoints', { organizationId: text, id: text, ...SEALED_SECRETS })
const TRACE_KEYS = defineTable('trace_keys', { organizationId: text, sealedKey: bytes })
const EVIDENCE_KEYS = defineTable('session_evidence', {
  organizationId: text,
  id: text,
  sessionId: text,
  wrappedKey: nullable(bytes),
})

const exchangeSecret = async (
  transaction: Transaction,
  organizationId: string,
  secret: WrappedSecret,
  replacement: Uint8Array,
): Promise<void> => {
  const { sealed } = secret
  if (secret.kind === 'evidence') {
    const row = { organizationId, id: secret.evidenceId, wrappedKey: sealed }
    await EVIDENCE_KEYS.updateAll(transaction, row, { wrappedKey: replacement })
  } else if (secret.kind === 'traces') {
    await TRACE_KEYS.updateAll(transaction, { organizationId, sealedKey: sealed }, { sealedKey: replacement })
  } else {
    for (const field of WEBHOOK_FIELDS) {
      const row = { organizationId, id: secret.endpointId, [field]: sealed }
      await ENDPOINTS.updateAll(transaction, row, { [field]: replacement })
    }
  }
}

export const createKeyRotation = (scope: TableScope) => ({
  /** Returns the organizations with two keys, or with a key wrapped by another deployment key. */
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
    const endpoints = await ENDPOINTS.list(scope, { organizationId }, ['id'])
    for (const field of WEBHOOK_FIELDS) {
      yield endpoints.flatMap(({ id: endpointId, [field]: sealed }) =>
        // A removed endpoint has an empty secret.
        sealed === null || sealed.length === 0 ? [] : [{ kind: 'webhook', endpointId, sealed }],
      )
    }
    const traceKeys = await TRACE_KEYS.list(scope, { organizationId }, ['organizationId'])
    yield traceKeys.map(({ sealedKey: sealed }) => ({ kind: 'traces', sealed }))
    for (let after = ''; ; ) {
      const later = { organizationId, id: sql`> ${after}`, wrappedKey: sql`IS NOT NULL` }
      const rows = await EVIDENCE_KEYS.list(scope, later, { by: ['id'], limit: BATCH })
      yield rows.map(({ id, sessionId, wrappedKey }) => ({
        kind: 'evidence',
        sessionId,
        evidenceId: id,
        sealed: wrappedKey as Uint8Array,
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

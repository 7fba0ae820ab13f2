// API keys as stored: id and SHA-256, never the key. Issuing and regenerating return the key itself, once. Source:
// decisions §1, "Keys".
import {
  type ApiKeyCredential,
  type ApiKeyEnvironment,
  type ApiKeyKind,
  type ApiKeyRateLimit,
  type ApiKeyRecord,
  type ApiKeyScope,
  apiKeyStatus,
  hashApiKey,
  mintApiKey,
  SCOPES_BY_KIND,
} from '../../domain/api-key.ts'
import { recordChange } from '../changes.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { Statements, Transaction } from '../database.ts'
import { addFilter, type Page, type PageRequest, queryPage } from '../paging.ts'
import { fieldsOf, insertRow, type RowOf } from '../row-fields.ts'

export interface NewApiKey {
  readonly organizationId: string
  readonly kind: ApiKeyKind
  readonly environment: ApiKeyEnvironment
  readonly name: string
  /** Null: does not expire. */
  readonly expiresAtSeconds: number | null
  /** Null: no limit. */
  readonly rateLimit: ApiKeyRateLimit | null
  /** Default: the scopes of its kind of key. */
  readonly scopes?: readonly ApiKeyScope[]
}

interface IssuedApiKey {
  readonly record: ApiKeyRecord
  /** The key itself. It is stored nowhere: show it once, to whoever requested it. */
  readonly text: string
}

type RegenerateResult =
  /** `previous` is the old key as it is now, with its new expiry. */
  | (IssuedApiKey & { readonly status: 'regenerated'; readonly previous: ApiKeyRecord })
  | { readonly status: 'unknown' | 'revoked' }
  /** The key already has a successor: regenerate that one. */
  | { readonly status: 'already-regenerated'; readonly replacedByKeyId: string }

type ApiKeyRow = RowOf<Omit<ApiKeyRecord, 'scopes' | 'rateLimit'>> & {
  readonly scopes: string
  readonly requests_per_second: number | null
  readonly burst: number | null
}

const COLUMNS = `key_id, organization_id, kind, environment, scopes, name, created_at_seconds, expires_at_seconds,
  revoked_at_seconds, last_used_at_seconds, replaced_by_key_id, requests_per_second, burst`

const toRecord = ({ scopes, requests_per_second: requestsPerSecond, burst, ...row }: ApiKeyRow): ApiKeyRecord => ({
  ...fieldsOf(row),
  scopes: scopes.split(' ') as ApiKeyScope[],
  rateLimit: requestsPerSecond === null || burst === null ? null : { requestsPerSecond, burst },
})

const findOwn = async (statements: Statements, organizationId: string, keyId: string): Promise<ApiKeyRecord | null> => {
  const [row] = await statements.query<ApiKeyRow>(
    `SELECT ${COLUMNS} FROM api_keys WHERE organization_id = ? AND key_id = ?`,
    [organizationId, keyId],
  )
  return row === undefined ? null : toRecord(row)
}

/** The same, locked: if two transactions change a key at once, the second sees the first's change. */
const lockOwn = async (
  transaction: Transaction,
  organizationId: string,
  keyId: string,
): Promise<ApiKeyRecord | null> => {
  const [row] = await transaction.query<ApiKeyRow>(
    `UPDATE api_keys SET name = name WHERE organization_id = ? AND key_id = ? RETURNING ${COLUMNS}`,
    [organizationId, keyId],
  )
  return row === undefined ? null : toRecord(row)
}

const announce = (transaction: Transaction, key: ApiKeyRecord, nowSeconds: number): Promise<void> =>
  recordChange(transaction, { topic: 'api-key', subjectId: key.keyId, organizationId: key.organizationId }, nowSeconds)

const insert = async (transaction: Transaction, input: NewApiKey, nowSeconds: number): Promise<IssuedApiKey> => {
  const minted = mintApiKey(input.kind, input.environment)
  const record: ApiKeyRecord = {
    ...input,
    keyId: minted.keyId,
    scopes: input.scopes ?? SCOPES_BY_KIND[input.kind],
    createdAtSeconds: nowSeconds,
    revokedAtSeconds: null,
    lastUsedAtSeconds: null,
    replacedByKeyId: null,
  }
  const { scopes, rateLimit, ...row } = record
  await insertRow(transaction, 'api_keys', {
    ...row,
    scopes: scopes.join(' '),
    requestsPerSecond: rateLimit?.requestsPerSecond ?? null,
    burst: rateLimit?.burst ?? null,
    hash: hashApiKey(minted.text),
  })
  await announce(transaction, record, nowSeconds)
  return { record, text: minted.text }
}

export const createApiKeyTable = (scope: TableScope) => ({
  /** @throws ConstraintViolatedError when there is no such organization. */
  issue: (input: NewApiKey): Promise<IssuedApiKey> =>
    scope.write((transaction) => insert(transaction, input, scope.nowSeconds())),

  /** One key of an organization; null for another's. */
  find: (organizationId: string, keyId: string): Promise<ApiKeyRecord | null> =>
    findOwn(scope.statements, organizationId, keyId),

  /** The same, locked: a change of the key waits until the transaction has ended. */
  lock: (organizationId: string, keyId: string): Promise<ApiKeyRecord | null> =>
    scope.write((transaction) => lockOwn(transaction, organizationId, keyId)),

  /** An organization's keys, oldest first, revoked and expired ones included. */
  page: (
    filter: {
      readonly organizationId: string
      readonly kind?: ApiKeyKind
      /** Leaves out the keys that have this scope. */
      readonly withoutScope?: ApiKeyScope | undefined
    },
    page: PageRequest,
  ): Promise<Page<ApiKeyRecord>> => {
    const where = ['organization_id = ?']
    const parameters: string[] = [filter.organizationId]
    addFilter(where, parameters, 'kind', filter.kind)
    if (filter.withoutScope !== undefined) {
      where.push("' ' || scopes || ' ' NOT LIKE ?")
      parameters.push(`% ${filter.withoutScope} %`)
    }
    return queryPage<ApiKeyRow, ApiKeyRecord>(
      scope.statements,
      { select: `SELECT ${COLUMNS} FROM api_keys`, where, parameters, order: ['created_at_seconds', 'key_id'] },
      page,
      toRecord,
    )
  },

  /**
   * Finds a key by its id alone, because its owner is not known before. For authentication and the deployment's own
   * administration. The caller must still compare the hash and check `apiKeyStatus`.
   */
  findForAuthentication: async (keyId: string): Promise<ApiKeyCredential | null> => {
    const [row] = await scope.statements.query<ApiKeyRow & { hash: Uint8Array }>(
      `SELECT ${COLUMNS}, hash FROM api_keys WHERE key_id = ?`,
      [keyId],
    )
    return row === undefined ? null : { ...toRecord(row), hash: row.hash }
  },

  /**
   * The actor that was handed the key's text, as the audit log names it; null if no entry does. Reads all entries of the
   * key's organization.
   */
  findRecipient: async (keyId: string): Promise<string | null> => {
    const [row] = await scope.statements.query<{ actor: string }>(
      `SELECT audit_log.actor FROM api_keys
       LEFT JOIN api_keys AS previous ON previous.replaced_by_key_id = api_keys.key_id
       JOIN audit_log ON audit_log.organization_id = api_keys.organization_id
         AND (audit_log.action = 'key.issue' AND audit_log.subject = api_keys.key_id
           OR audit_log.action = 'key.regenerate' AND audit_log.subject = previous.key_id)
       WHERE api_keys.key_id = ? ORDER BY audit_log.sequence LIMIT 1`,
      [keyId],
    )
    return row?.actor ?? null
  },

  /**
   * Creates a key with the old one's kind, name, limit and lifetime. The old key works for another `overlapSeconds`, or
   * until its own expiry if that comes first; 0 ends it immediately.
   */
  regenerate: (organizationId: string, keyId: string, overlapSeconds: number): Promise<RegenerateResult> =>
    scope.write(async (transaction) => {
      const nowSeconds = scope.nowSeconds()
      const old = await lockOwn(transaction, organizationId, keyId)
      if (old === null) return { status: 'unknown' }
      if (apiKeyStatus(old, nowSeconds) === 'revoked') return { status: 'revoked' }
      if (old.replacedByKeyId !== null) {
        return { status: 'already-regenerated', replacedByKeyId: old.replacedByKeyId }
      }
      const lifeSeconds = old.expiresAtSeconds === null ? null : old.expiresAtSeconds - old.createdAtSeconds
      const issued = await insert(
        transaction,
        {
          organizationId,
          kind: old.kind,
          environment: old.environment,
          name: old.name,
          expiresAtSeconds: lifeSeconds === null ? null : nowSeconds + lifeSeconds,
          rateLimit: old.rateLimit,
          scopes: old.scopes,
        },
        nowSeconds,
      )
      const expiresAtSeconds = Math.min(old.expiresAtSeconds ?? Number.MAX_SAFE_INTEGER, nowSeconds + overlapSeconds)
      const replacedByKeyId = issued.record.keyId
      await transaction.execute(
        'UPDATE api_keys SET expires_at_seconds = ?, replaced_by_key_id = ? WHERE organization_id = ? AND key_id = ?',
        [expiresAtSeconds, replacedByKeyId, organizationId, keyId],
      )
      await announce(transaction, old, nowSeconds)
      return { status: 'regenerated', ...issued, previous: { ...old, expiresAtSeconds, replacedByKeyId } }
    }),

  /** The revoked key, or null when the organization has no such key. Revoking again keeps the first time. */
  revoke: (organizationId: string, keyId: string): Promise<ApiKeyRecord | null> =>
    scope.write(async (transaction) => {
      const nowSeconds = scope.nowSeconds()
      const key = await lockOwn(transaction, organizationId, keyId)
      if (key === null || key.revokedAtSeconds !== null) return key
      await transaction.execute('UPDATE api_keys SET revoked_at_seconds = ? WHERE organization_id = ? AND key_id = ?', [
        nowSeconds,
        organizationId,
        keyId,
      ])
      await announce(transaction, key, nowSeconds)
      return { ...key, revokedAtSeconds: nowSeconds }
    }),
})

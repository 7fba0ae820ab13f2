// API keys: only ids and SHA-256 hashes are stored. Source: decisions §1, "Keys".
import {
  type ApiKeyCredential,
  type ApiKeyRateLimit,
  type ApiKeyRecord,
  type ApiKeyScope,
  apiKeyStatus,
  hashApiKey,
  mintApiKey,
  SCOPES_BY_KIND,
} from '../../domain/api-key.ts'
import { bytes, columnsOf, hidden, integer, nullable, sql, words } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { Page, PageRequest } from '../paging.ts'
import { defineTable } from '../table.ts'
import { requireRoom } from './organization-limits.ts'

export interface NewApiKey
  extends Pick<ApiKeyRecord, 'organizationId' | 'kind' | 'environment' | 'name' | 'expiresAtSeconds' | 'rateLimit'> {
  readonly scopes?: readonly ApiKeyScope[]
}

interface IssuedApiKey {
  readonly record: ApiKeyRecord
  readonly text: string
}

type RegenerateResult =
  | (IssuedApiKey & { readonly status: 'regenerated'; readonly previous: ApiKeyRecord })
  | { readonly status: 'unknown' | 'revoked' }
  /** Regenerate the successor instead. */
  | { readonly status: 'already-regenerated'; readonly replacedByKeyId: string }

const COLUMNS = {
  ...columnsOf<Omit<ApiKeyRecord, 'scopes' | 'rateLimit'>>()(
    'keyId organizationId kind environment name createdAtSeconds expiresAtSeconds revokedAtSeconds lastUsedAtSeconds',
    'replacedByKeyId',
  ),
  scopes: words<ApiKeyScope>(),
  requestsPerSecond: nullable(integer),
  burst: nullable(integer),
}

const withRateLimit = <Row extends { readonly [Part in keyof ApiKeyRateLimit]: number | null }>(row: Row) => {
  const { requestsPerSecond, burst, ...others } = row
  return { ...others, rateLimit: requestsPerSecond === null || burst === null ? null : { requestsPerSecond, burst } }
}

const CREDENTIALS = defineTable('api_keys', { ...COLUMNS, hash: bytes }, withRateLimit)
const KEYS = defineTable('api_keys', { ...COLUMNS, hash: hidden(bytes) }, withRateLimit).announcing(
  'api-key',
  ({ keyId }) => keyId,
)

/** Repeats the condition of the index of these actions, so that the index is used. */
export const SELECT_RECIPIENT = `WITH handover (action, subject) AS (
    SELECT 'key.regenerate', key_id FROM api_keys WHERE replaced_by_key_id = ? UNION ALL SELECT 'key.issue', ?)
  SELECT audit_log.actor FROM handover
  JOIN audit_log ON audit_log.action = handover.action AND audit_log.subject = handover.subject
  WHERE audit_log.action IN ('key.issue', 'key.regenerate') ORDER BY audit_log.sequence LIMIT 1`

const issue = async (scope: TableScope, { rateLimit, ...input }: NewApiKey): Promise<IssuedApiKey> => {
  const { keyId, text } = mintApiKey(input.kind, input.environment)
  const record = await KEYS.insert(scope, {
    scopes: SCOPES_BY_KIND[input.kind],
    ...input,
    ...rateLimit,
    keyId,
    createdAtSeconds: scope.nowSeconds(),
    hash: hashApiKey(text),
  })
  return { record, text }
}

export const createApiKeyTable = (scope: TableScope) => ({
  /** @throws ConstraintViolatedError if there is no such organization; OrganizationLimitError */
  issue: (input: NewApiKey): Promise<IssuedApiKey> =>
    scope.write(async (own) => {
      await requireRoom(own, input.organizationId, 'API keys')
      return issue(own, input)
    }),

  find: (organizationId: string, keyId: string): Promise<ApiKeyRecord | null> =>
    KEYS.find(scope, { organizationId, keyId }),

  lock: (organizationId: string, keyId: string): Promise<ApiKeyRecord | null> =>
    KEYS.lock(scope, { organizationId, keyId }, 'name'),

  page: (
    filter: Partial<Pick<ApiKeyRecord, 'kind'>> & {
      readonly organizationId: string
      readonly withoutScope?: ApiKeyScope | undefined
    },
    page: PageRequest,
  ): Promise<Page<ApiKeyRecord>> => {
    const { withoutScope, ...which } = filter
    const lacks = withoutScope && sql`' ' || scopes || ' ' NOT LIKE ${`% ${withoutScope} %`}`
    return KEYS.page(scope, which, ['createdAtSeconds', 'keyId'], page, lacks)
  },

  /** Searches all organizations. The caller must compare the hash and check `apiKeyStatus`. */
  findForAuthentication: (keyId: string): Promise<ApiKeyCredential | null> =>
    CREDENTIALS.everywhere.find(scope, { keyId }),

  /** Returns the recipient of the key's text, as named in the audit log. */
  findRecipient: async (keyId: string): Promise<string | null> => {
    const [row] = await scope.statements.query<{ actor: string }>(SELECT_RECIPIENT, [keyId, keyId])
    return row?.actor ?? null
  },

  /** The old key stays valid for `overlapSeconds`, but not beyond its own expiration; 0 ends it immediately. */
  regenerate: (organizationId: string, keyId: string, overlapSeconds: number): Promise<RegenerateResult> =>
    scope.write(async (own) => {
      const nowSeconds = scope.nowSeconds()
      const old = await KEYS.lock(own, { organizationId, keyId }, 'name')
      if (old === null) return { status: 'unknown' }
      const { kind, environment, name, scopes, rateLimit, createdAtSeconds, expiresAtSeconds, replacedByKeyId } = old
      if (apiKeyStatus(old, nowSeconds) === 'revoked') return { status: 'revoked' }
      if (replacedByKeyId !== null) return { status: 'already-regenerated', replacedByKeyId }
      const issued = await issue(own, {
        organizationId,
        kind,
        environment,
        name,
        scopes,
        rateLimit,
        expiresAtSeconds: expiresAtSeconds === null ? null : nowSeconds + expiresAtSeconds - createdAtSeconds,
      })
      const end = Math.min(expiresAtSeconds ?? Number.MAX_SAFE_INTEGER, nowSeconds + overlapSeconds)
      const successor = { expiresAtSeconds: end, replacedByKeyId: issued.record.keyId }
      const previous = await KEYS.update(own, { organizationId, keyId }, successor)
      return { status: 'regenerated', ...issued, previous: previous ?? old }
    }),

  /** Returns null if there is no such key. Revoking a key again keeps the original time. */
  revoke: (organizationId: string, keyId: string): Promise<ApiKeyRecord | null> =>
    scope.write(async (own) => {
      const key = await KEYS.lock(own, { organizationId, keyId }, 'name')
      if (key === null || key.revokedAtSeconds !== null) return key
      return KEYS.update(own, { organizationId, keyId }, { revokedAtSeconds: scope.nowSeconds() })
    }),
})

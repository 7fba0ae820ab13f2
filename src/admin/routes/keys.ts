// API keys of an organization. Only the response that creates a key contains it.
import {
  type ApiKeyRecord,
  type ApiKeyScope,
  apiKeyStatus,
  DEFAULT_RATE_LIMIT,
  SCOPES_BY_KIND,
} from '../../domain/api-key.ts'
import { FieldInvalidError } from '../../domain/errors.ts'
import type { FieldOverride } from '../command-override.ts'
import { pageAnswer, pageRequest } from '../cursor.ts'
import { ConflictError, requireFound, SubjectUnknownError } from '../errors.ts'
import { requireRights, rightsOfKey, scopeBeyond } from '../rights.ts'
import { declareRoutes, ORGANIZATION_ADMIN, SecretReply, VIEWER } from '../route.ts'
import { closed, label, named, nullable, oneOf, PAGE_QUERY, pageOf, Type, time } from '../schema.ts'
import { shown } from '../shown.ts'

const route = declareRoutes('Keys')

const KIND = oneOf(['attestation', 'identity', 'admin'], 'API that the key can use')
const ENVIRONMENT = oneOf(
  ['live', 'test'],
  'Test keys can access only sessions that test keys created. New admin keys must be live',
)
const RATE = Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Requests per second' })
const BURST = { minimum: 1, maximum: 10_000_000 }
const RATE_LIMIT = closed({
  requests_per_second: RATE,
  burst: Type.Integer({ ...BURST, description: 'Largest burst of requests' }),
})
const NEW_RATE_LIMIT = closed({
  requests_per_second: RATE,
  burst: Type.Optional(
    Type.Integer({ ...BURST, description: 'Largest burst of requests. Defaults to twice the rate' }),
  ),
})

const KEY = named(
  'ApiKey',
  closed({
    id: Type.String({ description: 'The 12 characters after the key’s prefix' }),
    kind: KIND,
    environment: ENVIRONMENT,
    scopes: Type.Array(Type.String()),
    name: Type.String(),
    status: oneOf(['active', 'expired', 'revoked']),
    rate_limit: nullable(RATE_LIMIT),
    created_at: time(),
    expires_at: nullable(time()),
    revoked_at: nullable(time()),
    last_used_at: nullable(time('Time of the last use, accurate to one minute')),
    replaced_by: nullable(Type.String({ description: 'ID of the replacement key' })),
  }),
  ['id', 'kind', 'environment', 'status', 'created_at', 'expires_at', 'last_used_at', 'rate_limit', 'name'],
)

/** Searches all organizations, so that a leaked key can be revoked by its id alone. */
const FIND_KEY: FieldOverride = { find: { in: 'listKeys', by: ['id'], everywhere: true } }

const SECRET = Type.Union([Type.String(), Type.Null()], {
  description: 'The key. It is not stored and is shown only once; null if the request is retried',
})

const showKey = (key: ApiKeyRecord, nowSeconds: number) =>
  shown(KEY, key, {
    id: key.keyId,
    status: apiKeyStatus(key, nowSeconds),
    rate_limit: key.rateLimit && { requests_per_second: key.rateLimit.requestsPerSecond, burst: key.rateLimit.burst },
    replaced_by: key.replacedByKeyId,
  })

const expiryOf = (text: string | null | undefined, nowSeconds: number): number | null => {
  if (text === undefined || text === null) return null
  const seconds = Math.floor(Date.parse(text) / 1000)
  if (!Number.isSafeInteger(seconds) || seconds <= nowSeconds) {
    throw new FieldInvalidError('expires_at', 'must be a time in the future, such as 2027-01-31T12:00:00Z')
  }
  return seconds
}

export const KEY_ROUTES = [
  route('listKeys', 'GET', '/organizations/{organization}/keys', {
    access: VIEWER,
    summary: 'List an organization’s keys, oldest first',
    description:
      'Returns the metadata of all keys, including revoked and expired keys. Only admins see admin keys, and only deployment admins see keys ' +
      'with the scope `deployment`.',
    query: Type.Object({ ...PAGE_QUERY, kind: Type.Optional(KIND) }),
    answer: pageOf(KEY),
    handle: async ({ services, organization, actor, query }) => {
      const nowSeconds = services.clock.unixSeconds()
      const filter = {
        organizationId: organization.id,
        withoutScope: scopeBeyond(actor, organization.id),
        ...(query.kind === undefined ? {} : { kind: query.kind }),
      }
      const page = await services.store.apiKeys.page(filter, pageRequest(query, ['number', 'string']))
      return pageAnswer(page, (key) => showKey(key, nowSeconds))
    },
  }),
  route('issueKey', 'POST', '/organizations/{organization}/keys', {
    access: ORGANIZATION_ADMIN,
    command: {
      secret: 'key',
      fields: { 'rate_limit.requests_per_second': { option: 'rate' }, 'rate_limit.burst': { option: 'burst' } },
    },
    alone: 'key',
    summary: 'Create a key',
    fresh: ({ kind }) => kind === 'admin',
    description: 'The key works immediately. Only deployment admins can set `deployment`.',
    body: closed({
      name: label('Purpose of the key'),
      kind: KIND,
      environment: Type.Optional(ENVIRONMENT),
      expires_at: Type.Optional(
        nullable(Type.String({ maxLength: 40, description: 'Expiration, ISO 8601. Defaults to never' })),
      ),
      rate_limit: Type.Optional(
        Type.Union([NEW_RATE_LIMIT, Type.Null()], {
          description: `Rate limit; null for no limit. Defaults to ${DEFAULT_RATE_LIMIT.requestsPerSecond}/s with bursts of ${DEFAULT_RATE_LIMIT.burst}`,
        }),
      ),
      deployment: Type.Optional(Type.Boolean({ description: 'Whether an admin key can manage the deployment' })),
    }),
    status: 201,
    answer: closed({ key: SECRET, record: KEY }),
    handle: async ({ services, organization, actor, body, write }) => {
      const nowSeconds = services.clock.unixSeconds()
      const deployment = body.deployment === true
      // The admin API doesn't restrict keys by environment.
      if (body.environment === 'test' && body.kind === 'admin')
        throw new FieldInvalidError('environment', 'must be live for an admin key, because it has all live rights')
      if (deployment && body.kind !== 'admin') throw new FieldInvalidError('deployment', 'requires an admin key')
      const scopes: readonly ApiKeyScope[] = deployment ? ['admin', 'deployment'] : SCOPES_BY_KIND[body.kind]
      const rateLimit =
        body.rate_limit === undefined
          ? DEFAULT_RATE_LIMIT
          : body.rate_limit === null
            ? null
            : {
                requestsPerSecond: body.rate_limit.requests_per_second,
                burst: body.rate_limit.burst ?? body.rate_limit.requests_per_second * 2,
              }
      return write(async (tables, note) => {
        await requireRights(tables, actor, services.clock, rightsOfKey(organization.id, scopes))
        const made = await tables.apiKeys.issue({
          organizationId: organization.id,
          kind: body.kind,
          environment: body.environment ?? 'live',
          name: body.name,
          expiresAtSeconds: expiryOf(body.expires_at, nowSeconds),
          rateLimit,
          scopes,
        })
        const {
          id: _id,
          created_at: _at,
          last_used_at: _used,
          status: _status,
          ...detail
        } = showKey(made.record, nowSeconds)
        note({ action: 'key.issue', subject: made.record.keyId, detail })
        const record = showKey(made.record, nowSeconds)
        return new SecretReply(201, { key: made.text, record }, { key: null, record })
      })
    },
  }),
  route('readKey', 'GET', '/organizations/{organization}/keys/{key}', {
    access: VIEWER,
    command: { fields: { key: FIND_KEY } },
    summary: 'Show the metadata of a key',
    answer: KEY,
    handle: async ({ services, organization, params }) => {
      const key = requireFound(await services.store.apiKeys.find(organization.id, params.key), 'key')
      return showKey(key, services.clock.unixSeconds())
    },
  }),
  route('regenerateKey', 'POST', '/organizations/{organization}/keys/{key}/regenerate', {
    access: ORGANIZATION_ADMIN,
    command: { secret: 'key', fields: { key: FIND_KEY } },
    alone: 'key',
    summary: 'Replace a key',
    fresh: true,
    description: 'The old key works until the overlap ends.',
    body: closed({
      overlap_seconds: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 2_592_000,
          description: 'Overlap of the two keys in seconds. Defaults to one day. 0 revokes the old key immediately',
        }),
      ),
    }),
    status: 201,
    answer: closed({ key: SECRET, record: KEY, previous: KEY }),
    errors: [409],
    handle: async ({ services, organization, params, body, write }) => {
      const nowSeconds = services.clock.unixSeconds()
      const overlapSeconds = body.overlap_seconds ?? 86_400
      return write(async (tables, note) => {
        const result = await tables.apiKeys.regenerate(organization.id, params.key, overlapSeconds)
        if (result.status === 'already-regenerated') {
          throw new ConflictError(`the key has already been regenerated: regenerate ${result.replacedByKeyId} instead`)
        }
        if (result.status !== 'regenerated') {
          if (result.status === 'unknown') throw new SubjectUnknownError('key')
          throw new ConflictError('the key is revoked: create a new key')
        }
        note({
          action: 'key.regenerate',
          subject: params.key,
          detail: { successor: result.record.keyId, overlap_seconds: overlapSeconds },
        })
        const record = showKey(result.record, nowSeconds)
        const previous = showKey(result.previous, nowSeconds)
        return new SecretReply(201, { key: result.text, record, previous }, { key: null, record, previous })
      })
    },
  }),
  route('revokeKey', 'POST', '/organizations/{organization}/keys/{key}/revoke', {
    access: ORGANIZATION_ADMIN,
    command: { irreversible: true, fields: { key: FIND_KEY } },
    alone: 'takes-access-away',
    summary: 'Revoke a key permanently',
    description: 'Takes effect everywhere within a second.',
    body: closed({}),
    answer: KEY,
    handle: ({ services, organization, params, write }) =>
      write(async (tables, note) => {
        const before = await tables.apiKeys.find(organization.id, params.key)
        const key = requireFound(await tables.apiKeys.revoke(organization.id, params.key), 'key')
        if (before?.revokedAtSeconds === null)
          note({ action: 'key.revoke', subject: params.key, detail: { name: key.name } })
        return showKey(key, services.clock.unixSeconds())
      }),
  }),
]

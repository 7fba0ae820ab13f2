// Webhooks: endpoints that receive an organization's session events, the state of each message, and resending dead messages.

import { FieldInvalidError } from '../../domain/errors.ts'
import { VERIFICATION_SERVICES } from '../../domain/webhook-message.ts'
import { IDENTITY_PATHS } from '../../identity/paths.ts'
import { counted } from '../../lib/counted.ts'
import { hasHidden } from '../../lib/hidden-characters.ts'
import { isoTime } from '../../lib/time.ts'
import { formatWebhookSecret, newWebhookSecret } from '../../server/webhook-signature.ts'
import { ConstraintViolatedError } from '../../store/errors.ts'
import type { Tables } from '../../store/store.ts'
import { newWebhookEndpointId, type WebhookEndpoint } from '../../store/webhooks/webhook-endpoints.ts'
import { WEBHOOK_MESSAGE_STATES, type WebhookMessage } from '../../store/webhooks/webhook-messages.ts'
import { pageAnswer, pageRequest } from '../cursor.ts'
import { ConflictError, SubjectUnknownError } from '../errors.ts'
import { declareRoutes, ORGANIZATION_ADMIN, SecretReply } from '../route.ts'
import { closed, named, nullable, oneOf, PAGE_QUERY, pageOf, Type, time, timeOrNull } from '../schema.ts'
import { locationText } from '../second-person/location-text.ts'
import type { Services } from '../services.ts'

const route = declareRoutes('Webhooks')

const ENVIRONMENT = oneOf(['live', 'test'], 'Whether it receives events of sessions of live keys or of test keys')
const PURPOSE = oneOf(
  ['events', 'decisions'],
  '`events`: receives every change. `decisions`: decides submitted sessions instead of reviewers',
)

const SERVICE = oneOf(VERIFICATION_SERVICES)

const ENDPOINT = named(
  'WebhookEndpoint',
  closed({
    id: Type.String(),
    url: Type.String(),
    environment: ENVIRONMENT,
    purpose: PURPOSE,
    created_at: time(),
    old_secret_until: Type.Union([time(), Type.Null()], {
      description: 'Until then messages are signed with the old secret as well',
    }),
    service: Type.Union([SERVICE, Type.Null()], {
      description: 'Verification service whose webhooks decide as well',
    }),
    service_path: Type.Union([Type.String(), Type.Null()], {
      description: 'Path on the API’s address to which the service sends its webhooks',
    }),
  }),
  ['id', 'purpose', 'service', 'environment', 'created_at', 'old_secret_until', 'url'],
)

const MESSAGE = named(
  'WebhookMessage',
  closed({
    id: Type.String({ description: 'The `webhook-id` of every attempt' }),
    endpoint_id: Type.String(),
    session_id: Type.String(),
    sequence: Type.Integer({ description: 'Sequence number of the session’s change' }),
    type: Type.String(),
    state: oneOf(WEBHOOK_MESSAGE_STATES, 'dead: no attempt succeeded; resend it'),
    attempts: Type.Integer(),
    last_status: Type.Union([Type.Integer(), Type.Null()], { description: 'HTTP status of the last attempt’s answer' }),
    last_failure: nullable(Type.String()),
    created_at: time(),
    next_attempt_at: Type.Union([time(), Type.Null()], { description: 'null once it is delivered or dead' }),
    settled_at: nullable(time()),
  }),
  ['id', 'type', 'session_id', 'state', 'attempts', 'created_at', 'next_attempt_at', 'last_status', 'last_failure'],
)

const SECRET = Type.Union([Type.String(), Type.Null()], {
  description:
    '`whsec_…`, by Standard Webhooks; shown this once and not stored in the clear. null for a repeated request',
})

const URL_MAX = 2_048
const DAY_SECONDS = 86_400

const showEndpoint = (endpoint: WebhookEndpoint) => ({
  id: endpoint.id,
  url: endpoint.url,
  environment: endpoint.environment,
  purpose: endpoint.purpose,
  created_at: isoTime(endpoint.createdAtSeconds),
  old_secret_until: timeOrNull(endpoint.previousUntilSeconds),
  service: VERIFICATION_SERVICES.find((known) => known === endpoint.service) ?? null,
  service_path:
    endpoint.service === null ? null : IDENTITY_PATHS.providerEvent.path.replace('{endpointId}', () => endpoint.id),
})

const showMessage = (message: WebhookMessage) => ({
  id: message.id,
  endpoint_id: message.endpointId,
  session_id: message.sessionId,
  sequence: message.sequence,
  type: message.type,
  state: message.state,
  attempts: message.attempts,
  last_status: message.lastStatus,
  last_failure: message.lastFailure,
  created_at: isoTime(message.createdAtSeconds),
  next_attempt_at: message.state === 'waiting' ? isoTime(message.nextAttemptAtSeconds) : null,
  settled_at: timeOrNull(message.settledAtSeconds),
})

/** A sealed secret as a waiting request keeps it. */
interface KeptSecret {
  readonly id: string
  readonly sealed: string
  readonly sealedUnder: string
}

type Sealed = Awaited<ReturnType<Services['webhooks']['sealSecret']>>

const keep = (id: string, { sealed, sealedUnder }: Sealed): KeptSecret => ({
  id,
  sealed: sealed.toBase64(),
  sealedUnder: sealedUnder.toBase64(),
})

/** The secret of an approved request; null while the request is made. */
const keptOf = (kept: unknown): (Sealed & { readonly id: string }) | null => {
  if (kept === null) return null
  const { id, sealed, sealedUnder } = kept as KeptSecret
  return { id, sealed: Uint8Array.fromBase64(sealed), sealedUnder: Uint8Array.fromBase64(sealedUnder) }
}

/** Makes a secret: the text for its receiver, and the sealed bytes for the store. */
const newSecret = async ({ webhooks }: Pick<Services, 'webhooks'>, organizationId: string, endpointId: string) => {
  const secret = newWebhookSecret()
  return { text: formatWebhookSecret(secret), ...(await webhooks.sealSecret(organizationId, endpointId, secret)) }
}

const requireEndpoint = async (
  tables: Pick<Tables, 'webhookEndpoints'>,
  organizationId: string,
  id: string,
): Promise<WebhookEndpoint> => {
  const endpoint = await tables.webhookEndpoints.find(organizationId, id)
  if (endpoint === null) throw new SubjectUnknownError('endpoint')
  return endpoint
}

export const WEBHOOK_ROUTES = [
  route('listWebhookEndpoints', 'GET', '/organizations/{organization}/webhooks', {
    access: ORGANIZATION_ADMIN,
    summary: 'List an organization’s webhook endpoints, oldest first',
    answer: closed({ data: Type.Array(ENDPOINT) }),
    handle: async ({ services, organization }) => ({
      data: (await services.store.webhookEndpoints.list(organization.id)).map(showEndpoint),
    }),
  }),
  route('addWebhookEndpoint', 'POST', '/organizations/{organization}/webhooks', {
    access: ORGANIZATION_ADMIN,
    command: { secret: 'secret' },
    summary: 'Add a webhook endpoint',
    description:
      'The URL must use https and resolve to a public address, unless the setting `webhook-reach` allows others. ' +
      'If a second person approved an endpoint for decisions, rotate its secret to obtain one.',
    body: closed({
      url: Type.String({ minLength: 1, maxLength: URL_MAX }),
      environment: Type.Optional(ENVIRONMENT),
      purpose: Type.Optional(PURPOSE),
    }),
    status: 201,
    answer: closed({ endpoint: ENDPOINT, secret: SECRET }),
    errors: [409],
    secondPerson: {
      action: 'webhook.decider',
      needs: (_tables, { body }) => (body.purpose === 'decisions' ? 'second-person' : 'nothing'),
      see: async (_tables, { organization: { id, name }, body }) => ({
        subject: id,
        name,
        changes: [
          { what: 'sessions are decided by', before: null, after: locationText(body.url) },
          { what: 'environment', before: null, after: body.environment ?? 'live' },
        ],
      }),
    },
    handle: async ({ services, organization, body, kept, write }) => {
      const { environment = 'live', purpose = 'events' } = body
      if (hasHidden(body.url)) throw new FieldInvalidError('url', 'must be printable')
      if (environment === 'test' && purpose === 'decisions') {
        throw new FieldInvalidError('purpose', 'can be decisions for sessions of live keys only')
      }
      const url = services.reachableUrl(body.url, services.webhooks.reach)
      const approved = keptOf(kept)
      const id = approved?.id ?? newWebhookEndpointId()
      const secret = approved ?? (await newSecret(services, organization.id, id))
      try {
        const endpoint = await write(
          async (tables, note) => {
            await tables.organizationKeys.requireInUse(organization.id, secret.sealedUnder)
            const added = await tables.webhookEndpoints.add({
              id,
              organizationId: organization.id,
              environment,
              purpose,
              url,
              sealedSecret: secret.sealed,
            })
            note({ action: 'webhook.add', subject: id, detail: { url, environment, purpose } })
            return showEndpoint(added)
          },
          keep(id, secret),
        )
        const text = 'text' in secret ? secret.text : null
        return new SecretReply(201, { endpoint, secret: text }, { endpoint, secret: null })
      } catch (error) {
        if (!(error instanceof ConstraintViolatedError)) throw error
        throw new ConflictError('the organization has an endpoint that decides already: remove it first')
      }
    },
  }),
  route('rotateWebhookSecret', 'POST', '/organizations/{organization}/webhooks/{endpoint}/rotate', {
    access: ORGANIZATION_ADMIN,
    command: { secret: 'secret' },
    summary: 'Give an endpoint a new secret',
    fresh: true,
    description: 'Messages are signed with both secrets until the overlap ends.',
    body: closed({
      overlap_seconds: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 30 * DAY_SECONDS, description: 'Defaults to a day' }),
      ),
    }),
    answer: closed({ endpoint: ENDPOINT, secret: SECRET }),
    secondPerson: {
      action: 'webhook.secret',
      // The answer has the secret, so it can't wait. Whoever has the secret of an endpoint that decides can decide sessions,
      // as a reviewer can; a key's holder is unknown.
      needs: async (tables, { organization, params }) =>
        (await requireEndpoint(tables, organization.id, params.endpoint)).purpose === 'decisions'
          ? 'person'
          : 'nothing',
      see: async (_tables, { params }) => ({ subject: params.endpoint, name: params.endpoint, changes: [] }),
    },
    handle: async ({ services, organization, params, body, write }) => {
      const { id } = await requireEndpoint(services.store, organization.id, params.endpoint)
      const overlapSeconds = body.overlap_seconds ?? DAY_SECONDS
      const secret = await newSecret(services, organization.id, id)
      const endpoint = await write(async (tables, note) => {
        await tables.organizationKeys.requireInUse(organization.id, secret.sealedUnder)
        await tables.webhookEndpoints.rotateSecret({
          organizationId: organization.id,
          id,
          sealedSecret: secret.sealed,
          previousUntilSeconds: services.clock.unixSeconds() + overlapSeconds,
        })
        note({ action: 'webhook.rotate', subject: id, detail: { overlap_seconds: overlapSeconds } })
        return showEndpoint(await requireEndpoint(tables, organization.id, id))
      })
      return new SecretReply(200, { endpoint, secret: secret.text }, { endpoint, secret: null })
    },
  }),
  route('setWebhookService', 'PUT', '/organizations/{organization}/webhooks/{endpoint}/service', {
    access: ORGANIZATION_ADMIN,
    command: {
      name: 'webhook set-service',
      fields: { service: { word: 'SERVICE' }, secret: { option: 'secret-file', file: 'text' } },
    },
    summary: 'Let a verification service decide through its webhooks',
    description:
      'The endpoint must be for decisions. Pass the session id to the service as its reference. The service sends its webhooks to ' +
      '`service_path`, signed with this secret. If you set another secret later, the previous one works until the overlap ends.',
    body: closed({
      service: SERVICE,
      secret: Type.String({
        minLength: 8,
        maxLength: 500,
        printable: true,
        description: 'The service’s secret; stored encrypted and never shown',
      }),
      overlap_seconds: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 30 * DAY_SECONDS, description: 'Defaults to a day' }),
      ),
    }),
    answer: ENDPOINT,
    errors: [409],
    secondPerson: {
      action: 'webhook.service',
      withoutSecrets: (body: object) => ({ ...body, secret: '' }),
      see: async (tables, { organization, params, body }) => {
        const endpoint = await requireEndpoint(tables, organization.id, params.endpoint)
        const { service, sealedServiceSecret } = endpoint
        return {
          subject: endpoint.id,
          name: locationText(endpoint.url),
          changes: [
            { what: 'service that decides as well', before: service, after: body.service },
            { what: 'its secret', before: service === null ? null : 'the present one', after: 'a new one' },
            ...(service === null
              ? []
              : [
                  {
                    what: 'the present secret still decides for',
                    before: null,
                    after: counted(body.overlap_seconds ?? DAY_SECONDS, 'second', 'seconds'),
                  },
                ]),
          ],
          basis: sealedServiceSecret?.toBase64() ?? null,
        }
      },
    },
    handle: async ({ services, organization, params, body, kept, write }) => {
      const { id } = await requireEndpoint(services.store, organization.id, params.endpoint)
      const secret =
        keptOf(kept) ?? (await services.webhooks.sealSecret(organization.id, id, new TextEncoder().encode(body.secret)))
      return write(
        async (tables, note) => {
          await tables.organizationKeys.requireInUse(organization.id, secret.sealedUnder)
          const wasSet = await tables.webhookEndpoints.setService({
            organizationId: organization.id,
            id,
            service: body.service,
            sealedSecret: secret.sealed,
            previousUntilSeconds: services.clock.unixSeconds() + (body.overlap_seconds ?? DAY_SECONDS),
          })
          if (!wasSet)
            throw new ConflictError(
              'the endpoint receives events: a verification service needs an endpoint for decisions',
            )
          note({ action: 'webhook.service', subject: id, detail: { service: body.service } })
          return showEndpoint(await requireEndpoint(tables, organization.id, id))
        },
        keep(id, secret),
      )
    },
  }),
  route('removeWebhookEndpoint', 'DELETE', '/organizations/{organization}/webhooks/{endpoint}', {
    access: ORGANIZATION_ADMIN,
    secondPerson: {
      action: 'webhook.decider',
      needs: async (tables, { organization, params }) => {
        const { purpose } = await requireEndpoint(tables, organization.id, params.endpoint)
        return purpose === 'decisions' ? 'second-person' : 'nothing'
      },
      see: async (tables, { organization: { id, name }, params }) => {
        const { url } = await requireEndpoint(tables, id, params.endpoint)
        const policyId = await tables.sessionPolicies.find(id)
        const policy = policyId === null ? null : await tables.policies.find(id, policyId)
        const after = policy === null ? 'people' : `${policy.name} (${policy.id})`
        return {
          subject: params.endpoint,
          name,
          changes: [{ what: 'sessions are decided by', before: locationText(url), after }],
        }
      },
    },
    summary: 'Remove a webhook endpoint',
    description: 'Its waiting messages become dead. Removing an endpoint for decisions can need a second person.',
    handle: async ({ organization, params, write }) => {
      await write(async (tables, note) => {
        const { id, url } = await requireEndpoint(tables, organization.id, params.endpoint)
        await tables.webhookEndpoints.remove(organization.id, id)
        note({ action: 'webhook.remove', subject: id, detail: { url } })
      })
      return undefined
    },
  }),
  route('listWebhookMessages', 'GET', '/organizations/{organization}/webhook-messages', {
    access: ORGANIZATION_ADMIN,
    command: { limit: 20 },
    summary: 'List webhook messages, newest first',
    description: 'Delivered ones are kept for a week, dead ones for a month.',
    query: Type.Object({
      ...PAGE_QUERY,
      state: Type.Optional(oneOf(WEBHOOK_MESSAGE_STATES)),
      endpoint_id: Type.Optional(Type.String({ maxLength: 100 })),
    }),
    answer: pageOf(MESSAGE),
    handle: async ({ services, organization, query }) =>
      pageAnswer(
        await services.store.webhookMessages.page(
          organization.id,
          {
            ...(query.state === undefined ? {} : { state: query.state }),
            ...(query.endpoint_id === undefined ? {} : { endpointId: query.endpoint_id }),
          },
          pageRequest(query, ['number', 'string']),
        ),
        showMessage,
      ),
  }),
  route('resendWebhookMessage', 'POST', '/organizations/{organization}/webhook-messages/{message}/resend', {
    access: ORGANIZATION_ADMIN,
    alone: 'notifies',
    summary: 'Send one message again, delivered or dead',
    body: closed({}),
    answer: MESSAGE,
    errors: [409],
    handle: ({ organization, params, write }) =>
      write(async (tables, note) => {
        const read = async (): Promise<WebhookMessage> => {
          const message = await tables.webhookMessages.find(organization.id, params.message)
          if (message === null) throw new SubjectUnknownError('message')
          return message
        }
        const { id } = await read()
        if ((await tables.webhookMessages.resend(organization.id, id)) === 0) {
          throw new ConflictError('it waits to be sent already, or its endpoint was removed')
        }
        note({ action: 'webhook.resend', subject: id })
        return showMessage(await read())
      }),
  }),
  route('resendDeadWebhookMessages', 'POST', '/organizations/{organization}/webhook-messages/resend-dead', {
    access: ORGANIZATION_ADMIN,
    alone: 'notifies',
    summary: 'Send all dead messages again',
    body: closed({}),
    answer: closed({ messages: Type.Integer() }),
    handle: ({ organization, write }) =>
      write(async (tables, note) => {
        const messages = await tables.webhookMessages.resend(organization.id, null)
        note({ action: 'webhook.resend', subject: 'dead', detail: { messages } })
        return { messages }
      }),
  }),
]

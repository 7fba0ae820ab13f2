// Endpoints that receive an organization's session events, and their messages.

import { FieldInvalidError } from '../../domain/errors.ts'
import { hasHidden } from '../../lib/hidden-characters.ts'
import { isoTime } from '../../lib/time.ts'
import { ConstraintViolatedError } from '../../store/errors.ts'
import { newWebhookEndpointId } from '../../store/webhooks/webhook-endpoints.ts'
import { MESSAGES_AT_ONCE, WEBHOOK_MESSAGE_STATES, type WebhookMessage } from '../../store/webhooks/webhook-messages.ts'
import { pageAnswer, pageRequest } from '../cursor.ts'
import { ConflictError, SubjectUnknownError } from '../errors.ts'
import { declareRoutes, ORGANIZATION_ADMIN, SecretReply } from '../route.ts'
import { closed, named, nullable, oneOf, PAGE_QUERY, pageOf, Type, time } from '../schema.ts'
import { locationText } from '../second-person/location-text.ts'
import { shown } from '../shown.ts'
import {
  DAY_SECONDS,
  ENDPOINT,
  ENVIRONMENT,
  keep,
  keptOf,
  newSecret,
  PURPOSE,
  requireEndpoint,
  showEndpoint,
} from './webhook-endpoint.ts'

const route = declareRoutes('Webhooks')

const MESSAGE = named(
  'WebhookMessage',
  closed({
    id: Type.String({ description: 'The `webhook-id` of every attempt' }),
    endpoint_id: Type.String(),
    session_id: Type.String(),
    sequence: Type.Integer({ description: 'Sequence number of the session’s change' }),
    type: Type.String(),
    state: oneOf(WEBHOOK_MESSAGE_STATES, '`dead`: no attempt succeeded; resend the message'),
    attempts: Type.Integer(),
    last_status: Type.Union([Type.Integer(), Type.Null()], { description: 'HTTP status of the last attempt' }),
    last_failure: nullable(Type.String()),
    created_at: time(),
    next_attempt_at: Type.Union([time(), Type.Null()], { description: 'Null once the message is delivered or dead' }),
    settled_at: nullable(time()),
  }),
  ['id', 'type', 'session_id', 'state', 'attempts', 'created_at', 'next_attempt_at', 'last_status', 'last_failure'],
)

const SECRET = Type.Union([Type.String(), Type.Null()], {
  description: '`whsec_…`, as specified by Standard Webhooks. Shown only once and stored encrypted. Null for retries',
})

const URL_MAX = 2_048

const showMessage = (message: WebhookMessage) =>
  shown(MESSAGE, message, {
    next_attempt_at: message.state === 'waiting' ? isoTime(message.nextAttemptAtSeconds) : null,
  })

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
      'If the endpoint required approval, rotate its secret to get a secret.',
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
        throw new FieldInvalidError('purpose', 'must be events for test sessions')
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
        throw new ConflictError('the organization already has an endpoint for decisions: remove it first')
      }
    },
  }),
  route('rotateWebhookSecret', 'POST', '/organizations/{organization}/webhooks/{endpoint}/rotate', {
    access: ORGANIZATION_ADMIN,
    command: { secret: 'secret' },
    summary: 'Rotate the secret of an endpoint',
    fresh: true,
    description: 'Messages are signed with both secrets until the overlap ends.',
    body: closed({
      overlap_seconds: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 30 * DAY_SECONDS, description: 'Defaults to one day' }),
      ),
    }),
    answer: closed({ endpoint: ENDPOINT, secret: SECRET }),
    secondPerson: {
      action: 'webhook.secret',
      // The response contains the secret, so it can't await approval. The holder of a decider's secret can decide
      // sessions, and the holder of a key is unknown.
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
    description: 'Pending messages become dead. Removing an endpoint for decisions may require a second person.',
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
    description: 'Delivered messages are kept for one week, dead messages for one month.',
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
    summary: 'Resend a delivered or dead message',
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
          throw new ConflictError('the message is already pending, or its endpoint was removed')
        }
        note({ action: 'webhook.resend', subject: id })
        return showMessage(await read())
      }),
  }),
  route('resendDeadWebhookMessages', 'POST', '/organizations/{organization}/webhook-messages/resend-dead', {
    access: ORGANIZATION_ADMIN,
    alone: 'notifies',
    summary: 'Resend dead messages, oldest first',
    description: `Resends at most ${MESSAGES_AT_ONCE} per request. Repeat the request while the response contains this number.`,
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

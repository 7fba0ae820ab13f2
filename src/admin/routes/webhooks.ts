import { FieldInvalidError } from '../../domain/errors.ts'
import { WEBHOOK_TYPES } from '../../domain/webhook-message.ts'
import { createUrlGuard } from '../../facts/reachable.ts'
import { createDeliver } from '../../identity/webhooks/deliver.ts'
import { EXAMPLE_SESSION_ID, exampleMessage } from '../../identity/webhooks/example-message.ts'
import { messageBody } from '../../identity/webhooks/message.ts'
import { createEndpointSecrets } from '../../identity/webhooks/secrets.ts'
import { hasHidden } from '../../lib/hidden-characters.ts'
import { createOutboundPost } from '../../server/outbound-post.ts'
import { ConstraintViolatedError } from '../../store/errors.ts'
import type { Tables } from '../../store/store.ts'
import { newWebhookEndpointId } from '../../store/webhooks/webhook-endpoints.ts'
import { newWebhookMessageId } from '../../store/webhooks/webhook-queue.ts'
import { ConflictError, TooManyAttemptsError } from '../errors.ts'
import { declareRoutes, ORGANIZATION_ADMIN, SecretReply } from '../route.ts'
import { closed, nullable, oneOf, Type } from '../schema.ts'
import { locationText } from '../second-person/location-text.ts'
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
import { BODY } from './webhook-messages.ts'

const route = declareRoutes('Webhooks')

const SECRET = Type.Union([Type.String(), Type.Null()], {
  description:
    '`whsec_…`, as specified by Standard Webhooks. Shown only once and stored encrypted. Null if the request is retried',
})

const URL_MAX = 2_048

const needOf = async (tables: Tables, organizationId: string, endpointId: string) => {
  const { purpose } = await requireEndpoint(tables, organizationId, endpointId)
  return purpose === 'decisions' ? 'second-person' : 'nothing'
}

/** Shows who decides sessions after the endpoint is removed. */
const seeDeciderEnd = async (
  tables: Tables,
  { id, name }: { readonly id: string; readonly name: string },
  subject: string,
) => {
  const { url } = await requireEndpoint(tables, id, subject)
  const policyId = await tables.sessionPolicies.find(id)
  const policy = policyId === null ? null : await tables.policies.find(id, policyId)
  const after = policy === null ? 'people' : `${policy.name} (${policy.id})`
  return { subject, name, changes: [{ what: 'sessions are decided by', before: locationText(url), after }] }
}

/** Maximum concurrent tests per organization. */
const TESTS_MAX = 4

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
      'The URL must use https and resolve to a public address, unless the `webhook-reach` setting allows others. ' +
      'If adding the endpoint required approval, rotate its secret to obtain a new secret.',
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
        Type.Integer({
          minimum: 0,
          maximum: 30 * DAY_SECONDS,
          description: 'Overlap of the two secrets in seconds. Defaults to one day',
        }),
      ),
    }),
    answer: closed({ endpoint: ENDPOINT, secret: SECRET }),
    secondPerson: {
      action: 'webhook.secret',
      // The response contains the secret, so it can't await approval. A decider's secret can decide sessions, and the
      // holder of a key is unknown.
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
  route('changeWebhookEndpoint', 'PATCH', '/organizations/{organization}/webhooks/{endpoint}', {
    access: ORGANIZATION_ADMIN,
    secondPerson: {
      action: 'webhook.decider',
      needs: (tables, { organization, params }) => needOf(tables, organization.id, params.endpoint),
      see: async (tables, { organization, params, body }) => {
        const { url } = await requireEndpoint(tables, organization.id, params.endpoint)
        const [decider, others] = [locationText(url), 'people, until the endpoint resumes']
        const [before, after] = body.paused ? [decider, others] : [others, decider]
        const { name } = organization
        return { subject: params.endpoint, name, changes: [{ what: 'sessions are decided by', before, after }] }
      },
    },
    summary: 'Pause or resume an endpoint',
    description:
      'Nothing is sent while the endpoint is paused, and no message is lost: messages wait, and are sent when the ' +
      'endpoint resumes. Requests in flight complete normally. Test messages are still sent. Messages from a paused ' +
      'endpoint for decisions get 409. Pausing or resuming it may require a second person.',
    body: closed({ paused: Type.Boolean() }),
    answer: ENDPOINT,
    handle: ({ organization, params, body, write }) =>
      write(async (tables, note) => {
        const { id, pausedAtSeconds } = await requireEndpoint(tables, organization.id, params.endpoint)
        if ((pausedAtSeconds !== null) !== body.paused) {
          await tables.webhookEndpoints.setPaused(organization.id, id, body.paused)
          note({ action: body.paused ? 'webhook.pause' : 'webhook.resume', subject: id })
        }
        return showEndpoint(await requireEndpoint(tables, organization.id, id))
      }),
  }),
  route('testWebhookEndpoint', 'POST', '/organizations/{organization}/webhooks/{endpoint}/test', {
    access: ORGANIZATION_ADMIN,
    alone: 'notifies',
    summary: 'Send a signed example message to an endpoint',
    description:
      `The example’s session is \`${EXAMPLE_SESSION_ID}\`, which doesn’t exist. The message is sent once, also ` +
      'to a paused endpoint, and isn’t stored.',
    body: closed({
      type: Type.Optional(
        oneOf(
          WEBHOOK_TYPES,
          'Defaults to `session.status_changed`, or to `session.decision_requested` for an endpoint for decisions',
        ),
      ),
    }),
    answer: closed({
      delivered: Type.Boolean(),
      status: Type.Union([Type.Integer(), Type.Null()], { description: 'HTTP status of the endpoint’s response' }),
      failure: nullable(Type.String()),
      body: BODY,
    }),
    errors: [429],
    handle: async ({ services: { store, clock, webhooks }, organization, params, body, write }) => {
      const endpoint = await requireEndpoint(store, organization.id, params.endpoint)
      const isDecider = endpoint.purpose === 'decisions'
      const { type = isDecider ? 'session.decision_requested' : 'session.status_changed' } = body
      if (isDecider !== (type === 'session.decision_requested')) {
        throw new FieldInvalidError('type', 'must be a message type that the endpoint receives')
      }
      const release = webhooks.testSlots.acquire([{ key: organization.id, maximum: TESTS_MAX }])
      if (release === null) throw new TooManyAttemptsError(1)
      try {
        const message = exampleMessage(newWebhookMessageId(), endpoint, type, clock.unixSeconds())
        const detail = { type, message: message.id }
        await write(async (_tables, note) => note({ action: 'webhook.test', subject: endpoint.id, detail }))
        const deliver = createDeliver({
          endpoints: { find: async () => ({ ...endpoint, pausedAtSeconds: null }) },
          secretsOf: createEndpointSecrets(await webhooks.keys(), clock),
          post: createOutboundPost({ guard: createUrlGuard(webhooks.reach) }),
          clock,
          random: Math.random,
          onError: (error) => {
            throw error
          },
        })
        const outcome = await deliver(message)
        const failure = outcome.state === 'delivered' ? null : outcome.failure
        return { delivered: failure === null, status: outcome.status, failure, body: messageBody(message) }
      } finally {
        release()
      }
    },
  }),
  route('removeWebhookEndpoint', 'DELETE', '/organizations/{organization}/webhooks/{endpoint}', {
    access: ORGANIZATION_ADMIN,
    secondPerson: {
      action: 'webhook.decider',
      needs: (tables, { organization, params }) => needOf(tables, organization.id, params.endpoint),
      see: (tables, { organization, params }) => seeDeciderEnd(tables, organization, params.endpoint),
    },
    summary: 'Remove a webhook endpoint',
    description: 'Pending messages are marked as dead. Removing an endpoint for decisions may require a second person.',
    handle: async ({ organization, params, write }) => {
      await write(async (tables, note) => {
        const { id, url } = await requireEndpoint(tables, organization.id, params.endpoint)
        await tables.webhookEndpoints.remove(organization.id, id)
        note({ action: 'webhook.remove', subject: id, detail: { url } })
      })
      return undefined
    },
  }),
]

import { messageBody } from '../../identity/webhooks/message.ts'
import { isoTime } from '../../lib/time.ts'
import type { Tables } from '../../store/store.ts'
import { MESSAGES_AT_ONCE, WEBHOOK_MESSAGE_STATES, type WebhookMessage } from '../../store/webhooks/webhook-messages.ts'
import { pageAnswer, pageRequest } from '../cursor.ts'
import { ConflictError, requireFound } from '../errors.ts'
import { declareRoutes, ORGANIZATION_ADMIN } from '../route.ts'
import { closed, named, nullable, oneOf, PAGE_QUERY, pageOf, Type, time } from '../schema.ts'
import { shown } from '../shown.ts'

const route = declareRoutes('Webhooks')

const MESSAGE = named(
  'WebhookMessage',
  closed({
    id: Type.String({ description: 'Value of the `webhook-id` header in every attempt' }),
    endpoint_id: Type.String(),
    session_id: Type.String(),
    sequence: Type.Integer({ description: 'Sequence number of the session’s change' }),
    type: Type.String(),
    state: oneOf(WEBHOOK_MESSAGE_STATES, '`dead`: no attempt succeeded; resend the message'),
    attempts: Type.Integer(),
    last_status: Type.Union([Type.Integer(), Type.Null()], { description: 'HTTP status of the last attempt' }),
    last_failure: nullable(Type.String()),
    created_at: time(),
    next_attempt_at: Type.Union([time(), Type.Null()], {
      description: 'Time of the next attempt; null once the message is delivered or dead',
    }),
    settled_at: nullable(time()),
  }),
  ['id', 'type', 'session_id', 'state', 'attempts', 'created_at', 'next_attempt_at', 'last_status', 'last_failure'],
)

/** The JSON text, whose bytes are signed. */
export const BODY = Type.String({ description: 'Content of the message as sent, in JSON' })

const showMessage = (message: WebhookMessage) =>
  shown(MESSAGE, message, {
    next_attempt_at: message.state === 'waiting' ? isoTime(message.nextAttemptAtSeconds) : null,
  })

const requireMessage = async (tables: Pick<Tables, 'webhookMessages'>, organizationId: string, id: string) =>
  requireFound(await tables.webhookMessages.find(organizationId, id), 'message')

export const WEBHOOK_MESSAGE_ROUTES = [
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
  route('readWebhookMessage', 'GET', '/organizations/{organization}/webhook-messages/{message}', {
    access: ORGANIZATION_ADMIN,
    summary: 'Show a webhook message with its content',
    answer: closed({ message: MESSAGE, body: BODY }),
    handle: async ({ services, organization, params }) => {
      const message = await requireMessage(services.store, organization.id, params.message)
      return { message: showMessage(message), body: messageBody(message) }
    },
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
        const { id } = await requireMessage(tables, organization.id, params.message)
        if ((await tables.webhookMessages.resend(organization.id, id)) === 0) {
          throw new ConflictError('the message is already pending, or its endpoint was removed')
        }
        note({ action: 'webhook.resend', subject: id })
        return showMessage(await requireMessage(tables, organization.id, id))
      }),
  }),
  route('resendDeadWebhookMessages', 'POST', '/organizations/{organization}/webhook-messages/resend-dead', {
    access: ORGANIZATION_ADMIN,
    alone: 'notifies',
    summary: 'Resend dead messages, oldest first',
    description: `Resends at most ${MESSAGES_AT_ONCE} messages per request, one endpoint after another. If the response contains this number, repeat the request.`,
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

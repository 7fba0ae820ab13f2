// A test of an endpoint: an example of an event, signed like any message, sent once.
import { afterAll, expect, test } from 'bun:test'
import { WEBHOOK_TYPES } from '../../src/domain/webhook-message.ts'
import { EXAMPLE_SESSION_ID } from '../../src/identity/webhooks/example-message.ts'
import { newWebhookSecret, verifyWebhook } from '../../src/server/webhook-signature.ts'
import { newWebhookEndpointId } from '../../src/store/webhooks/webhook-endpoints.ts'
import { type Received, startReceiver } from '../identity/webhooks/support.ts'
import { until } from '../support/until.ts'
import { startHarness } from './support/harness.ts'

const EVENTS = WEBHOOK_TYPES.filter((type) => type !== 'session.decision_requested')

const harness = await startHarness()
const { id: organizationId, key } = await harness.organization('demo')
const receiver = startReceiver()
const secret = newWebhookSecret()

afterAll(async () => {
  await receiver.stop()
  await harness.close()
})

const addEndpoint = async (purpose: 'events' | 'decisions', url = receiver.url): Promise<string> => {
  const sealedSecret = secret.map((byte) => byte ^ 0xff)
  const { id } = await harness.store.webhookEndpoints.add({
    id: newWebhookEndpointId(),
    organizationId,
    environment: 'live',
    purpose,
    url,
    sealedSecret,
  })
  return id
}

interface Tested {
  readonly delivered: boolean
  readonly status: number | null
  readonly failure: string | null
  readonly body: string
}

const send = (endpoint: string, body: object) =>
  harness.call<Tested>('POST', `/organizations/demo/webhooks/${endpoint}/test`, { key, body })

const last = (): Received => {
  const message = receiver.received.at(-1)
  if (message === undefined) throw new Error('nothing was received')
  return message
}

test('every event can be sent, and is signed with the endpoint’s secret', async () => {
  const endpoint = await addEndpoint('events')
  for (const type of EVENTS) {
    const { status, body } = await send(endpoint, { type })
    const { headers, text, body: received } = last()
    expect([status, body]).toEqual([200, { delivered: true, status: 204, failure: null, body: text }])
    expect(received).toMatchObject({ type, data: { sessionId: EXAMPLE_SESSION_ID, environment: 'live' } })
    const now = Number(headers.get('webhook-timestamp'))
    expect(verifyWebhook([secret], headers, text, now).id).toBe(headers.get('webhook-id') ?? '')
  }
  expect(receiver.received.length).toBe(EVENTS.length)
  // A test is no message of a session, so it is never sent again.
  expect((await harness.store.webhookMessages.page(organizationId, {}, { after: null, limit: 10 })).items).toEqual([])
  expect(await harness.audited({ action: 'webhook.test' })).toHaveLength(EVENTS.length)
})

test('the answer says why a message was not taken', async () => {
  const endpoint = await addEndpoint('events')
  receiver.answerWith(() => new Response('countersign-canary-answer', { status: 500 }))
  const { body } = await send(endpoint, {})
  expect(body).toMatchObject({ delivered: false, status: 500, failure: 'the endpoint returned status 500' })
  expect(JSON.stringify(body)).not.toContain('canary')
  receiver.answerWith(() => new Response(null, { status: 204 }))
  const elsewhere = await addEndpoint('events', 'https://10.0.0.1/hook')
  const refused = await send(elsewhere, {})
  expect(refused.body).toMatchObject({
    delivered: false,
    status: null,
    failure: 'the URL resolves to an address that is not allowed',
  })
})

test('a paused endpoint can be tested before it resumes', async () => {
  const endpoint = await addEndpoint('events')
  const path = `/organizations/demo/webhooks/${endpoint}`
  const { body: paused } = await harness.call<object>('PATCH', path, { key, body: { paused: true } })
  expect(paused).toMatchObject({ paused_since: expect.any(String) })
  expect((await send(endpoint, {})).body).toMatchObject({ delivered: true })
  const { body: resumed } = await harness.call<object>('PATCH', path, { key, body: { paused: false } })
  expect(resumed).toMatchObject({ paused_since: null })
  expect(await harness.audited({ action: 'webhook.resume' })).toHaveLength(1)
})

test('an endpoint for decisions gets a request for a decision, and no event', async () => {
  const events = await addEndpoint('events')
  expect((await send(events, { type: 'session.decision_requested' })).status).toBe(400)
  const endpoint = await addEndpoint('decisions')
  expect((await send(endpoint, { type: 'session.created' })).status).toBe(400)
  expect((await send(endpoint, {})).body).toMatchObject({ delivered: true })
  const { type, data } = last().body
  expect(type).toBe('session.decision_requested')
  expect(data['resultPath']).toContain(EXAMPLE_SESSION_ID)
})

test('tests that wait for an endpoint are limited per organization', async () => {
  const endpoint = await addEndpoint('events')
  const silent = Promise.withResolvers<Response>()
  receiver.answerWith(() => silent.promise)
  const before = receiver.received.length
  const waiting = Array.from({ length: 4 }, () => send(endpoint, {}))
  await until(() => receiver.received.length === before + 4)
  const audited = await harness.audited({ action: 'webhook.test' })
  expect((await send(endpoint, {})).status).toBe(429)
  // A refused test is not recorded.
  expect(await harness.audited({ action: 'webhook.test' })).toHaveLength(audited.length)
  silent.resolve(new Response(null, { status: 204 }))
  for (const { body } of await Promise.all(waiting)) expect(body).toMatchObject({ delivered: true })
  expect((await send(endpoint, {})).body).toMatchObject({ delivered: true })
})

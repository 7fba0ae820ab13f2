// Tests of webhook endpoints: a signed example of an event, sent once.
import { afterAll, expect, test } from 'bun:test'
import { WEBHOOK_TYPES } from '../../src/domain/webhook-message.ts'
import { EXAMPLE_SESSION_ID } from '../../src/identity/webhooks/example-message.ts'
import { newWebhookSecret, verifyWebhook } from '../../src/server/webhook-signature.ts'
import { newWebhookEndpointId } from '../../src/store/webhooks/webhook-endpoints.ts'
import { type Received, startReceiver } from '../identity/webhooks/support.ts'
import { until } from '../support/until.ts'
import { harnessOfFile } from './support/harness.ts'

const EVENTS = WEBHOOK_TYPES.filter((type) => type !== 'session.decision_requested')

const harness = await harnessOfFile()
const { id: organizationId, key } = await harness.organization('demo')
const receiver = startReceiver()
const secret = newWebhookSecret()

afterAll(() => receiver.stop())

const addEndpoint = async (purpose: 'events' | 'decisions', url = receiver.url): Promise<string> => {
  const id = newWebhookEndpointId()
  const sealedSecret = secret.map((byte) => byte ^ 0xff)
  await harness.store.webhookEndpoints.add({ id, organizationId, environment: 'live', purpose, url, sealedSecret })
  return id
}
const countTests = async (): Promise<number> => (await harness.audited({ action: 'webhook.test' })).length

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

test('every event can be sent, signed with the secret of the endpoint', async () => {
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
  // A test is not stored, so it is never sent again.
  expect((await harness.store.webhookMessages.page(organizationId, {}, { after: null, limit: 10 })).items).toEqual([])
  expect(await countTests()).toBe(EVENTS.length)
})

test('the response states why the endpoint did not accept the message', async () => {
  const endpoint = await addEndpoint('events')
  receiver.answerWith(() => new Response('countersign-canary-answer', { status: 500 }))
  const { body } = await send(endpoint, {})
  expect(body).toMatchObject({ delivered: false, status: 500, failure: 'the endpoint returned status 500' })
  expect(JSON.stringify(body)).not.toContain('canary')
  receiver.answerWith(() => new Response(null, { status: 204 }))
  const refused = await send(await addEndpoint('events', 'https://10.0.0.1/hook'), {})
  const failure = 'the URL resolves to an address that is not allowed'
  expect(refused.body).toMatchObject({ delivered: false, status: null, failure })
})

test('a paused endpoint can be tested before it resumes', async () => {
  const endpoint = await addEndpoint('events')
  const path = `/organizations/demo/webhooks/${endpoint}`
  const pause = async (paused: boolean) => (await harness.call<object>('PATCH', path, { key, body: { paused } })).body
  expect(await pause(true)).toMatchObject({ paused_since: expect.any(String) })
  expect((await send(endpoint, {})).body).toMatchObject({ delivered: true })
  expect(await pause(false)).toMatchObject({ paused_since: null })
  expect(await harness.audited({ action: 'webhook.resume' })).toHaveLength(1)
})

test('an endpoint for decisions accepts only requests for decisions, and an endpoint for events accepts only events', async () => {
  const events = await addEndpoint('events')
  expect((await send(events, { type: 'session.decision_requested' })).status).toBe(400)
  const endpoint = await addEndpoint('decisions')
  expect((await send(endpoint, { type: 'session.created' })).status).toBe(400)
  expect((await send(endpoint, {})).body).toMatchObject({ delivered: true })
  const { type, data } = last().body
  expect(type).toBe('session.decision_requested')
  expect(data['resultPath']).toContain(EXAMPLE_SESSION_ID)
})

test('pending tests are limited per organization, and a refused test is not recorded', async () => {
  const endpoint = await addEndpoint('events')
  const silent = Promise.withResolvers<Response>()
  receiver.answerWith(() => silent.promise)
  const before = receiver.received.length
  const waiting = Array.from({ length: 4 }, () => send(endpoint, {}))
  await until(() => receiver.received.length === before + 4)
  const recorded = await countTests()
  expect((await send(endpoint, {})).status).toBe(429)
  expect(await countTests()).toBe(recorded)
  silent.resolve(new Response(null, { status: 204 }))
  for (const { body } of await Promise.all(waiting)) expect(body).toMatchObject({ delivered: true })
  expect((await send(endpoint, {})).body).toMatchObject({ delivered: true })
})

// The external decider: requested after a submission; a signed result decides once, and only its own sessions.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { newUuid } from '../../../src/domain/identifier.ts'
import type { Session } from '../../../src/domain/session.ts'
import { DeciderEndedError } from '../../../src/domain/session-errors.ts'
import { createManualProvider, createProviders } from '../../../src/identity/sessions/providers.ts'
import { createSandboxProvider } from '../../../src/identity/sessions/sandbox.ts'
import { createDeciders, createWebhookProvider } from '../../../src/identity/webhooks/provider.ts'
import { SECURITY_HEADERS } from '../../../src/server/security-headers.ts'
import { signWebhook } from '../../../src/server/webhook-signature.ts'
import { spendAndDecide } from '../../../src/store/sessions/provider-results.ts'
import { markChecksMade } from '../../support/made-checks.ts'
import { jpeg } from '../evidence/images.ts'
import { evmWallet } from '../support.ts'
import { openWebhookService, startReceiver } from './support.ts'

let service: Awaited<ReturnType<typeof openWebhookService>>
let { parts, webhooks, demo, reported, notified } = {} as typeof service
let receiver: ReturnType<typeof startReceiver>
let decider: { readonly id: string; readonly secret: Uint8Array }

beforeEach(async () => {
  service = await openWebhookService()
  ;({ parts, webhooks, demo, reported, notified } = service)
  receiver = startReceiver()
  decider = await parts.addEndpoint(demo, receiver.url, { purpose: 'decisions' })
})
afterEach(async () => {
  expect(reported).toEqual([])
  await service.stop()
  await receiver.stop()
})

interface Sending {
  readonly endpointId?: string
  readonly sessionId?: string
  readonly secret?: Uint8Array
  readonly id?: string
  readonly ageSeconds?: number
  readonly what?: 'result' | 'evidence'
  readonly change?: (request: Request) => Request
}

const send = async (session: Pick<Session, 'id'>, message: unknown, sending: Sending = {}) => {
  const { endpointId = decider.id, sessionId = session.id, secret = decider.secret, id = newUuid() } = sending
  const { ageSeconds = 0, what = 'result', change = (request) => request } = sending
  const body = typeof message === 'string' ? message : JSON.stringify(message)
  const timestampSeconds = parts.clock.unixSeconds() - ageSeconds
  const request = new Request(`http://127.0.0.1/api/v1/provider/${endpointId}/sessions/${sessionId}/${what}`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...signWebhook([secret], { id, timestampSeconds, body }) },
  })
  const { providerResult, providerEvidence } = webhooks.endpoints
  const response = await (what === 'result' ? providerResult : providerEvidence)(change(request), null)
  const bytes = Buffer.from(await response.arrayBuffer())
  const json = (response.headers.get('content-type') ?? '').includes('json')
  return { status: response.status, headers: response.headers, bytes, body: json ? JSON.parse(bytes.toString()) : null }
}

const result = (session: Pick<Session, 'id' | 'sequence'>, data: Record<string, unknown> = {}) => ({
  type: 'session.decided',
  timestamp: '2026-01-01T00:00:00Z',
  data: { sessionId: session.id, status: 'completed', sequence: session.sequence, ...data },
})

const statusOf = async (session: Session) =>
  (await parts.store.sessions.find(session.organizationId, session.id))?.session.status
const turn = () => new Promise((resolve) => setImmediate(resolve))
/** Changes one header of a signed request; null removes it. */
const withHeader = (name: string, value: string | null) => (request: Request) => {
  const changed = new Request(request)
  if (value === null) changed.headers.delete(name)
  else changed.headers.set(name, value)
  return changed
}

describe('an organization with an external decider', () => {
  test('assigns it new sessions of live keys once the endpoint is loaded, and no other sessions', async () => {
    const { store, changes, createOrganization } = parts
    const deciders = createDeciders({ endpoints: store.webhookEndpoints, onError: (error) => reported.push(error) })
    const providers = createProviders({
      manual: createManualProvider(changes),
      sandbox: createSandboxProvider(changes),
      outside: { provider: createWebhookProvider(changes), decides: deciders.decides },
    })
    const other = await createOrganization('other')
    expect(providers.forNew('live', demo).name).toBe('manual')
    await deciders.load()
    expect(providers.forNew('live', demo).name).toBe('webhook')
    expect(providers.forNew('test', demo).name).toBe('sandbox')
    expect(providers.forNew('live', other).name).toBe('manual')
    await store.webhookEndpoints.remove(demo, decider.id)
    await deciders.load()
    expect(providers.forNew('live', demo).name).toBe('manual')
  })

  test('uses the latest read, even if the first read takes longer', async () => {
    const first = Promise.withResolvers<readonly string[]>()
    const readings = [first.promise, Promise.resolve([demo])]
    const deciders = createDeciders({
      endpoints: { organizationsWithDecider: async () => (await readings.shift()) ?? [] },
      onError: (error) => reported.push(error),
    })
    const loading = deciders.load()
    deciders.refresh()
    await turn()
    first.resolve([])
    await loading
    await turn()
    expect(deciders.decides(demo)).toBe(true)
  })

  test('requests a decision for each submission of its sessions, without the evidence', async () => {
    const { submit, run, evidence, session, store, changes } = parts
    const submitted = await submit(demo, 'webhook')
    expect(await run()).toBe(1)
    expect(receiver.received[0]?.body).toEqual({
      type: 'session.decision_requested',
      timestamp: '2026-01-01T00:00:00.000Z',
      data: {
        sessionId: submitted.id,
        status: 'submitted',
        verifiedWallets: [],
        unverifiedWallets: [{ id: expect.any(String), address: expect.any(String), chain: 'ethereum' }],
        type: 'individual',
        environment: 'live',
        sequence: 4,
        level: 'basic',
        retryCount: 0,
        resultPath: `/api/v1/provider/${decider.id}/sessions/${submitted.id}/result`,
        evidencePath: `/api/v1/provider/${decider.id}/sessions/${submitted.id}/evidence`,
      },
    })
    // Sessions of another provider are not reported.
    await submit(demo, 'manual')
    const open = await session(demo)
    await evidence.putFields(open, { fullName: 'countersign-canary-jane' })
    await changes.changeStatus({ organizationId: demo, sessionId: open.id, to: 'submitted', actor: 'person' })
    await markChecksMade(store, demo, open.id)
    expect(await run()).toBe(0)
    // The decision is requested once, after the checks.
    const { session: late } = await parts.register(demo, { provider: 'webhook' })
    await changes.changeStatus({ organizationId: demo, sessionId: late.id, to: 'submitted', actor: 'person' })
    expect(await run()).toBe(0)
    await markChecksMade(store, demo, late.id)
    await markChecksMade(store, demo, late.id)
    expect(await run()).toBe(1)
    expect((await store.webhookMessages.page(demo, {}, { after: null, limit: 10 })).items.length).toBe(2)
  })

  test('has only one decider', async () => {
    for (const [environment, message] of [
      ['live', 'unique'],
      ['test', 'constraint'],
    ] as const) {
      const second = parts.addEndpoint(demo, receiver.url, { purpose: 'decisions', environment })
      await expect(second).rejects.toThrow(message)
    }
  })
})

describe('a signed result', () => {
  test('decides the session and notifies its followers', async () => {
    const session = await parts.submit(demo, 'webhook')
    const answer = await send(session, result(session, { publicComment: 'Welcome.', privateComment: 'score 3' }))
    expect(answer).toMatchObject({ status: 200, body: { sessionId: session.id, status: 'completed', applied: true } })
    expect(notified.map((state) => state.session.status)).toEqual(['completed'])
    const events = await parts.store.sessions.listEvents(demo, session.id)
    expect(events.at(-1)).toMatchObject({
      status: 'completed',
      actor: 'provider:webhook',
      publicComment: 'Welcome.',
      privateComment: 'score 3',
    })
  })

  test('takes effect once, even if it is sent several times', async () => {
    const session = await parts.submit(demo, 'webhook')
    const id = 'msg_1'
    expect((await send(session, result(session, { status: 'retry' }), { id })).body).toMatchObject({ applied: true })
    const target = { organizationId: demo, sessionId: session.id, actor: 'person' }
    const { session: resubmitted } = await parts.changes.changeStatus({ ...target, to: 'submitted' })
    const again = await send(session, result(session, { status: 'retry' }), { id })
    expect(again).toMatchObject({ status: 200, body: { status: 'submitted', applied: false } })
    expect(await statusOf(session)).toBe('submitted')
    // While its checks are running, the message can be sent again.
    const early = await send(session, result(resubmitted), { id: 'msg_2' })
    expect(early).toMatchObject({ status: 409, body: { detail: expect.stringContaining('still running') } })
    expect(early.headers.get('retry-after')).toBe('5')
    await markChecksMade(parts.store, demo, session.id)
    const simultaneous = await Promise.all([1, 2].map(() => send(session, result(resubmitted), { id: 'msg_2' })))
    expect(simultaneous.map(({ body }) => body.applied).sort()).toEqual([false, true])
    const events = await parts.store.sessions.listEvents(demo, session.id)
    expect(events.filter(({ status }) => status === 'completed').length).toBe(1)
  })

  test('that is refused can be sent again with the same id', async () => {
    const session = await parts.submit(demo, 'webhook')
    const id = 'msg_1'
    const early = await send(session, result(session, { sequence: 1 }), { id })
    expect(early).toMatchObject({ status: 409, body: { code: 'SESSION_CONFLICT' } })
    expect((await send(session, result(session), { id })).body).toMatchObject({ applied: true })
  })

  test('is refused after the decision of an operator, and before a submission', async () => {
    const session = await parts.submit(demo, 'webhook')
    const target = { organizationId: demo, sessionId: session.id }
    await parts.changes.changeStatus({ ...target, to: 'completed', actor: 'operator:ada' })
    expect((await send(session, result(session, { status: 'rejected' }))).status).toBe(409)
    expect(await statusOf(session)).toBe('completed')
    const second = await parts.submit(demo, 'webhook')
    await send(second, result(second, { status: 'retry' }))
    expect((await send(second, result(second))).status).toBe(409)
    expect(await statusOf(second)).toBe('retry')
  })

  test('of a paused endpoint is refused, and can be sent again after it resumes', async () => {
    const session = await parts.submit(demo, 'webhook')
    await parts.store.webhookEndpoints.setPaused(demo, decider.id, true)
    const refused = await send(session, result(session), { id: 'msg_1' })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([409, '60'])
    const evidence = { type: 'session.evidence_requested', data: { sessionId: session.id } }
    expect((await send(session, evidence, { what: 'evidence' })).status).toBe(409)
    expect(await statusOf(session)).toBe('submitted')
    await parts.store.webhookEndpoints.setPaused(demo, decider.id, false)
    expect((await send(session, result(session), { id: 'msg_1' })).body).toMatchObject({ applied: true })
  })

  test('of an endpoint that is removed after the signature check is refused', async () => {
    const session = await parts.submit(demo, 'webhook')
    const message = { organizationId: demo, endpointId: decider.id, messageId: 'msg_1', sessionId: session.id }
    await parts.store.webhookEndpoints.remove(demo, decider.id)
    const { changeStatus } = spendAndDecide(parts.store, message, async () => async () => undefined)
    const change = { organizationId: demo, sessionId: session.id, to: 'completed', actor: 'provider:webhook' } as const
    await expect(changeStatus(change)).rejects.toBeInstanceOf(DeciderEndedError)
    expect(await statusOf(session)).toBe('submitted')
  })

  test('does not complete an incomplete session, and can be sent again', async () => {
    const { session } = await parts.register(demo, { provider: 'webhook' })
    await parts.connect(demo, session.id, evmWallet(1))
    const submitted = (await parts.move(demo, session.id, 'submitted')).session
    const id = 'msg_1'
    const refused = await send(session, result(submitted, { override: true }), { id })
    expect(refused).toMatchObject({ status: 409, body: { code: 'SESSION_INCOMPLETE' } })
    expect(refused.body.detail).toContain('fullName, birthDate, country')
    expect(await statusOf(session)).toBe('submitted')
    expect((await send(session, result(submitted, { status: 'retry' }), { id })).body).toMatchObject({ applied: true })
  })

  test('about an earlier submission is refused, with any status', async () => {
    const session = await parts.submit(demo, 'webhook')
    await parts.move(demo, session.id, 'retry')
    await parts.move(demo, session.id, 'submitted')
    for (const status of ['completed', 'rejected', 'retry']) {
      expect((await send(session, result(session, { status }))).status).toBe(409)
      expect((await send(session, result(session, { status, sequence: undefined }))).status).toBe(400)
    }
    expect(await statusOf(session)).toBe('submitted')
  })

  test('is refused if the signature is expired, early, foreign, invalid or missing', async () => {
    const session = await parts.submit(demo, 'webhook')
    const message = result(session)
    const other = await parts.createOrganization('other')
    const foreign = await parts.addEndpoint(other, receiver.url, { purpose: 'decisions' })
    const events = await parts.addEndpoint(demo, receiver.url)
    const answers = [
      await send(session, message, { ageSeconds: 301 }),
      await send(session, message, { ageSeconds: -301 }),
      await send(session, message, { secret: foreign.secret }),
      await send(session, message, { endpointId: 'endpoint_unknown' }),
      await send(session, message, { endpointId: events.id, secret: events.secret }),
      await send(session, message, {
        change: (request) => new Request(request, { body: JSON.stringify(result(session, { status: 'rejected' })) }),
      }),
      await send(session, message, { change: withHeader('webhook-signature', null) }),
    ]
    for (const { status, body, headers } of answers) {
      expect([status, body.detail]).toEqual([401, 'the message signature is missing or invalid'])
      expect(headers.get('www-authenticate')).toContain('StandardWebhooks')
    }
    expect(await statusOf(session)).toBe('submitted')
  })

  test('about a session of another organization or provider, or about an unknown session, returns the same 404', async () => {
    const { createOrganization, addEndpoint, submit } = parts
    const other = await createOrganization('other')
    const foreign = await addEndpoint(other, receiver.url, { purpose: 'decisions' })
    const ours = await submit(demo, 'webhook')
    const manual = await submit(demo, 'manual')
    const theirs = { endpointId: foreign.id, secret: foreign.secret }
    const request = { type: 'session.evidence_requested', data: { sessionId: ours.id } }
    const answers = [
      await send(ours, result(ours), theirs),
      await send(ours, request, { ...theirs, what: 'evidence' }),
      await send(manual, result(manual)),
      await send({ id: newUuid() }, result(ours)),
      await send({ id: 'x' }, result(ours)),
    ]
    for (const { status, body } of answers) expect([status, body.detail]).toEqual([404, 'session not found'])
    expect([await statusOf(ours), await statusOf(manual)]).toEqual(['submitted', 'submitted'])
  })

  test('applies only to the session in the signed body', async () => {
    const [one, two] = [await parts.submit(demo, 'webhook'), await parts.submit(demo, 'webhook')]
    const answer = await send(one, result(two))
    expect(answer).toMatchObject({ status: 400, body: { detail: expect.stringContaining('data.sessionId') } })
    expect([await statusOf(one), await statusOf(two)]).toEqual(['submitted', 'submitted'])
  })

  test.each<[string, (session: Session) => unknown]>([
    ['invalid JSON', () => '{'],
    ['duplicate keys', ({ id }) => `{"type":"session.decided","type":"x","data":{"sessionId":"${id}"}}`],
    ['no data', () => ({ type: 'session.decided' })],
    ['another type', (session) => ({ ...result(session), type: 'session.decision_requested' })],
    ['no status', (session) => result(session, { status: undefined })],
    ['a status that is not a decision', (session) => result(session, { status: 'submitted' })],
    ['a comment that is too long', (session) => result(session, { publicComment: 'x'.repeat(1_001) })],
    ['a comment with terminal controls', (session) => result(session, { privateComment: 'a\u001b[31mb' })],
    ['a comment that is not a string', (session) => result(session, { publicComment: 7 })],
    ['a sequence that is not a number', (session) => result(session, { sequence: '2' })],
  ])('with %s is refused, and can be sent again', async (_name, message) => {
    const session = await parts.submit(demo, 'webhook')
    const id = 'msg_1'
    expect((await send(session, message(session), { id })).status).toBe(400)
    expect((await send(session, result(session), { id })).body).toMatchObject({ applied: true })
  })

  test('over the size limit or with another content type is refused', async () => {
    const session = await parts.submit(demo, 'webhook')
    const huge = JSON.stringify(result(session, { extra: 'x'.repeat(70_000) }))
    expect((await send(session, huge)).status).toBe(413)
    const change = withHeader('content-type', 'text/plain')
    expect((await send(session, result(session), { change })).status).toBe(415)
  })
})

describe('the evidence of a session', () => {
  const requestEvidence = (session: Pick<Session, 'id'>, data: object = {}, sending: Sending = {}) =>
    send(
      session,
      { type: 'session.evidence_requested', data: { sessionId: session.id, ...data } },
      { what: 'evidence', ...sending },
    )

  const submitEvidence = async () => {
    const { register, evidence, changes, add, store } = parts
    const { session } = await register(demo)
    await evidence.putFields(session, { fullName: 'Jane Doe', country: 'DE' })
    const image = await jpeg()
    const receipt = await add(session, image, { kind: 'portrait' })
    await changes.changeStatus({ organizationId: demo, sessionId: session.id, to: 'submitted', actor: 'person' })
    await store.database.execute("UPDATE sessions SET provider = 'webhook' WHERE id = ?", [session.id])
    return { session, receipt, image }
  }

  test('is readable by its decider, with a read record for each part', async () => {
    const { session, receipt, image } = await submitEvidence()
    const overview = await requestEvidence(session)
    expect(overview).toMatchObject({ status: 200, body: { fields: { fullName: 'Jane Doe' }, documents: [receipt] } })
    const document = await requestEvidence(session, { documentId: receipt.id })
    expect(document.bytes.equals(image)).toBe(true)
    expect(Object.fromEntries(document.headers)).toMatchObject({
      'content-type': 'image/jpeg',
      'content-disposition': 'attachment',
      'x-content-type-options': 'nosniff',
      'content-security-policy': SECURITY_HEADERS['content-security-policy'],
      'cache-control': 'no-store',
    })
    const reads = await parts.store.evidence.listReads({ organizationId: demo, sessionId: session.id })
    expect(reads.map(({ kind, actor }) => [kind, actor]).sort()).toEqual([
      ['fields', 'provider:webhook'],
      ['portrait', 'provider:webhook'],
    ])
    expect((await requestEvidence(session, { documentId: 'evidence_none' })).status).toBe(404)
    expect((await requestEvidence(session, { documentId: 7 })).status).toBe(400)
  })

  test('is not returned for a repeated message', async () => {
    const { session } = await submitEvidence()
    expect((await requestEvidence(session, {}, { id: 'msg_1' })).status).toBe(200)
    const again = await requestEvidence(session, {}, { id: 'msg_1' })
    expect([again.status, again.body.code]).toEqual([409, 'SESSION_CONFLICT'])
    expect(again.bytes.includes('Jane')).toBe(false)
  })
})

// Verification services whose webhooks decide sessions: their signatures, according to the published examples and
// rules, their events, and messages that must not decide.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import type { Session } from '../../src/domain/session.ts'
import type { VerificationServiceName } from '../../src/domain/webhook-message.ts'
import { serviceNamed } from '../../src/modules/providers/service-endpoint.ts'
import { openHit } from '../admin/support/open-hit.ts'
import { openWebhookService } from '../identity/webhooks/support.ts'
import { markChecksMade } from '../support/made-checks.ts'

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text))
const SECRET = 'countersign-test-secret-of-a-service'

const verify = (
  service: VerificationServiceName,
  secrets: readonly string[],
  headers: Record<string, string>,
  body: string,
  nowSeconds = 0,
): boolean => {
  try {
    serviceNamed(service)?.verify(secrets.map(bytes), new Headers(headers), body, nowSeconds)
    return true
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'WebhookSignatureInvalidError') throw error
    return false
  }
}

const hmac = (algorithm: string, secret: string, text: string): string =>
  createHmac(algorithm, secret).update(text).digest('hex')

describe('the signature of Sumsub', () => {
  // The example of Sumsub's API reference ("Verifying webhook sender"). The other algorithms differ only in the digest.
  test('is valid for the published example', () => {
    const headers = {
      'x-payload-digest-alg': 'HMAC_SHA1_HEX',
      'x-payload-digest': 'f6e92ffe371718694d46e28436f76589312df8db',
    }
    const signed = (secret: string, text: string) => verify('sumsub', [secret], headers, text)
    expect(signed('SoMe_SeCrEt_KeY', 'someText')).toBe(true)
    expect(signed('SoMe_SeCrEt_Key', 'someText')).toBe(false)
    expect(signed('SoMe_SeCrEt_KeY', 'someText ')).toBe(false)
  })

  test.each([
    ['HMAC_SHA256_HEX', 'sha256'],
    ['HMAC_SHA512_HEX', 'sha512'],
  ])('is valid only with the documented algorithm of the header: %s', (name, algorithm) => {
    const digest = hmac(algorithm, SECRET, '{}')
    const signed = (alg: string, value = digest, secrets = ['another', SECRET]) =>
      verify('sumsub', secrets, { 'x-payload-digest-alg': alg, 'x-payload-digest': value }, '{}')
    expect(signed(name)).toBe(true)
    for (const other of ['', 'HMAC_MD5_HEX', 'toString', 'HMAC_SHA1_HEX']) expect(signed(other)).toBe(false)
    for (const value of [digest.slice(0, -1), '']) expect(signed(name, value)).toBe(false)
    expect(signed(name, '', [])).toBe(false)
  })
})

// The examples of developers.veriff.com/#generating-x-hmac-signature at two times.
test('the signature of Veriff is valid for the published examples', () => {
  const example = (vendorData: string): string =>
    `{"verification":{"callback":"https://veriff.com","person":{"firstName":"John","lastName":"Smith"},"document":{"type":"PASSPORT","country":"EE"},"vendorData":"${vendorData}","timestamp":"2016-05-19T08:30:25.597Z"}}`
  const KEY = 'abcdef12-abcd-abcd-abcd-abcdef012345'
  const [first, second] = [
    '6af6d95822e19e9cc707aec55395d8d363ba2c7bc4625bc04ebeca0c7bf8cd67',
    '0dcab73ddd20062616d104231c7439657546a5c24e4691977da93bb854c31e25',
  ]
  for (const [vendorData, signature, key, isValid] of [
    ['unique id of a user', first, KEY, true],
    ['unique id of the end-user', second, KEY, true],
    ['unique id of another', first, KEY, false],
    ['unique id of a user', first, `${KEY} `, false],
    ['unique id of a user', '', KEY, false],
  ] as const) {
    const headers = { 'x-hmac-signature': signature }
    expect(verify('veriff', ['another', key], headers, example(vendorData))).toBe(isValid)
  }
})

describe('the signature of Persona', () => {
  // No example with a secret and a digest is published: docs.withpersona.com/webhooks-best-practices has the rules.
  const BODY = '{"data":{"type":"event"}}'
  const pair = (atSeconds: number, secret = SECRET, body = BODY): string =>
    `t=${atSeconds},v1=${hmac('sha256', secret, `${atSeconds}.${body}`)}`
  const signed = (header: string, secrets = [SECRET], nowSeconds = 1_000_000) =>
    verify('persona', secrets, { 'persona-signature': header }, BODY, nowSeconds)

  test('covers the time and the body, and is valid for five minutes', () => {
    for (const time of [1_000_000, 1_000_000 - 300]) expect(signed(pair(time))).toBe(true)
    for (const header of [
      pair(1_000_000 - 301),
      pair(1_000_000 + 301),
      pair(1_000_000, 'another'),
      pair(1_000_000, SECRET, '{}'),
      pair(1_000_000).replace('t=1000000', 't=1000001'),
      '',
      't=1000000',
      'v1=00',
      `${pair(1_000_000)},`,
      pair(1_000_000).toUpperCase(),
    ]) {
      expect(signed(header)).toBe(false)
    }
  })

  test('is valid if one of two signatures matches one of two secrets during a rotation', () => {
    const both = `${pair(1_000_000, 'old')} ${pair(1_000_000, 'new')}`
    expect(signed(both, ['old'])).toBe(true)
    expect(signed(both, ['new'])).toBe(true)
    expect(signed(pair(1_000_000, 'old'), ['new', 'old'])).toBe(true)
    expect(signed(both, ['third'])).toBe(false)
    expect(signed(`${pair(1, 'old')} ${pair(1_000_000, 'new')}`, ['new'])).toBe(false)
    expect(signed(Array.from({ length: 9 }, () => pair(1_000_000)).join(' '))).toBe(false)
  })
})

const time = (atSeconds: number): string => new Date(atSeconds * 1_000).toISOString()

/** Documented messages of each service, with the changes of a test. */
const MESSAGES = {
  sumsub: (reference: string, atSeconds: number, change: object = {}) => ({
    applicantId: '5cb744200a975a67ed1798a4',
    inspectionId: '5cb744200a975a67ed1798a5',
    correlationId: 'req-fa94263f-0b23-42d7-9393-ab10b28ef42d',
    externalUserId: reference,
    levelName: 'basic-kyc-level',
    type: 'applicantReviewed',
    reviewResult: { reviewAnswer: 'GREEN' },
    reviewStatus: 'completed',
    createdAtMs: time(atSeconds).replace('T', ' ').replace('Z', ''),
    ...change,
  }),
  persona: (reference: string, atSeconds: number, change: object = {}) => ({
    data: {
      type: 'event',
      id: 'evt_XGuYWp7WuDzNxie5z16s7sGJ',
      attributes: {
        name: 'inquiry.approved',
        'created-at': time(atSeconds),
        payload: {
          data: {
            type: 'inquiry',
            id: 'inq_2CVZ4HyVg7qaboXz2PUHknAn',
            attributes: { status: 'approved', 'reference-id': reference, 'expired-at': null },
          },
          included: [],
        },
        ...change,
      },
    },
  }),
  veriff: (reference: string, atSeconds: number, change: object = {}) => ({
    status: 'success',
    verification: {
      id: '12df6045-3846-3e45-946a-14fa6136d78b',
      attemptId: '00bca969-b53a-4fad-b065-874d41a7b2b8',
      vendorData: reference,
      status: 'approved',
      code: 9001,
      reason: null,
      reasonCode: null,
      decisionTime: time(atSeconds),
      person: { firstName: 'SARAH', lastName: 'MORGAN' },
      ...change,
    },
    technicalData: { ip: '186.153.67.122' },
  }),
} as const

const SIGNATURES: Readonly<
  Record<VerificationServiceName, (body: string, atSeconds: number, secret: string) => Record<string, string>>
> = {
  sumsub: (body, _at, secret) => ({
    'x-payload-digest-alg': 'HMAC_SHA256_HEX',
    'x-payload-digest': hmac('sha256', secret, body),
  }),
  persona: (body, at, secret) => ({ 'persona-signature': `t=${at},v1=${hmac('sha256', secret, `${at}.${body}`)}` }),
  veriff: (body, _at, secret) => ({ 'x-hmac-signature': hmac('sha256', secret, body) }),
}

const SERVICES = ['sumsub', 'persona', 'veriff'] as const

describe('an event', () => {
  const read = (service: VerificationServiceName, message: object) =>
    serviceNamed(service)?.read(JSON.parse(JSON.stringify(message)))
  const statusOf = (service: VerificationServiceName, change: object) =>
    read(service, MESSAGES[service]('ref', 1_000_000, change))?.status ?? null

  test('of Sumsub completes a session, rejects it or sends it back', () => {
    const result = (reviewResult: object) => statusOf('sumsub', { reviewResult })
    expect(result({ reviewAnswer: 'GREEN' })).toBe('completed')
    expect(result({ reviewAnswer: 'RED', reviewRejectType: 'FINAL' })).toBe('rejected')
    expect(result({ reviewAnswer: 'RED', reviewRejectType: 'RETRY' })).toBe('retry')
    for (const other of [{ reviewAnswer: 'RED' }, { reviewAnswer: 'YELLOW' }, {}]) expect(result(other)).toBeNull()
    for (const change of [{ type: 'applicantPending' }, { sandboxMode: true }, { testMode: true }]) {
      expect(statusOf('sumsub', change)).toBeNull()
    }
    expect(statusOf('sumsub', { sandboxMode: false })).toBe('completed')
  })

  test('of Sumsub shows the person only the comment that is meant for the person', () => {
    const reviewResult = {
      reviewAnswer: 'RED',
      reviewRejectType: 'RETRY',
      moderationComment: 'Please upload\u001b[31m an original photo.',
      clientComment: 'Screenshots are not accepted.',
      rejectLabels: ['UNSATISFACTORY_PHOTOS', 'SCREENSHOTS', 7],
    }
    expect(read('sumsub', MESSAGES.sumsub('ref', 1_000_000, { reviewResult }))).toEqual({
      reference: 'ref',
      status: 'retry',
      decidedAtMs: 1_000_000_000,
      publicComment: 'Please upload [31m an original photo.',
      privateComment:
        'Sumsub applicant 5cb744200a975a67ed1798a4; Screenshots are not accepted.; UNSATISFACTORY_PHOTOS, SCREENSHOTS',
    })
    const long = { ...reviewResult, moderationComment: 'x'.repeat(2_000) }
    expect(read('sumsub', MESSAGES.sumsub('r', 1, { reviewResult: long }))?.publicComment?.length).toBe(1_000)
  })

  test('of Persona completes or rejects; other events of an inquiry decide nothing', () => {
    expect(statusOf('persona', {})).toBe('completed')
    expect(statusOf('persona', { name: 'inquiry.declined' })).toBe('rejected')
    for (const name of ['inquiry.completed', 'inquiry.failed', 'inquiry.marked-for-review', 'constructor', 7]) {
      expect(statusOf('persona', { name })).toBeNull()
    }
  })

  test('of Veriff completes a session, rejects it or sends it back', () => {
    expect(statusOf('veriff', {})).toBe('completed')
    expect(statusOf('veriff', { status: 'declined' })).toBe('rejected')
    expect(statusOf('veriff', { status: 'resubmission_requested' })).toBe('retry')
    for (const status of ['review', 'expired', 'abandoned', 'toString', null]) {
      expect(statusOf('veriff', { status })).toBeNull()
    }
    const reasons = { reason: 'Document not supported', reasonCode: 105 }
    expect(read('veriff', MESSAGES.veriff('ref', 1, reasons))).toMatchObject({
      publicComment: null,
      privateComment: 'Veriff session 12df6045-3846-3e45-946a-14fa6136d78b; Document not supported; code 105',
    })
  })

  test.each(SERVICES)('of %s without a valid time is refused', (service) => {
    const field = { sumsub: 'createdAtMs', persona: 'created-at', veriff: 'decisionTime' }[service]
    for (const value of [undefined, '', 'soon', 1_700_000_000, '2026-01-01 10:00:00 -0700x']) {
      expect(() => read(service, MESSAGES[service]('ref', 1, { [field]: value }))).toThrow('must be a time')
    }
  })
})

describe('a session', () => {
  let opened: Awaited<ReturnType<typeof openWebhookService>>
  let { parts, webhooks, demo, reported, warned } = {} as typeof opened
  let endpointId: string

  beforeEach(async () => {
    opened = await openWebhookService()
    ;({ parts, webhooks, demo, reported, warned } = opened)
    endpointId = (await parts.addEndpoint(demo, 'http://127.0.0.1:9/', { purpose: 'decisions' })).id
  })
  afterEach(async () => {
    expect(reported).toEqual([])
    await opened.stop()
  })

  const connect = async (service: VerificationServiceName, secret = SECRET, previousUntilSeconds = 0) => {
    const { sealed: sealedSecret } = await parts.keys.seal(demo, 'webhook secret', endpointId, bytes(secret))
    const endpoint = { organizationId: demo, id: endpointId, service, sealedSecret, previousUntilSeconds }
    expect(await parts.store.webhookEndpoints.setService(endpoint)).toBe(true)
  }
  /** Connects a service, and submits a session for it. */
  const open = async (service: VerificationServiceName): Promise<Session> => {
    await connect(service)
    return parts.submit(demo, 'webhook')
  }

  const send = async (
    service: VerificationServiceName,
    message: object,
    { secret = SECRET, endpoint = endpointId, signedAs = service } = {},
  ) => {
    const body = JSON.stringify(message)
    const { providerEvent } = webhooks.endpoints
    if (providerEvent === null) throw new Error('no service is registered')
    const response = await providerEvent(
      new Request(`http://127.0.0.1/api/v1/provider/${endpoint}/events`, {
        method: 'POST',
        body,
        headers: {
          'content-type': 'application/json;charset=UTF-8',
          ...SIGNATURES[signedAs](body, parts.clock.unixSeconds(), secret),
        },
      }),
      null,
    )
    const text = await response.text()
    const answer = JSON.parse(text) as {
      readonly applied?: boolean
      readonly ignored?: string
      readonly detail?: string
    }
    return { status: response.status, body: answer }
  }
  const resultOf = async (service: VerificationServiceName, message: object) => {
    const { status, body } = await send(service, message)
    return status === 200 ? (body.ignored ?? (body.applied === true && 'applied')) : status
  }
  const statusOf = async ({ id }: Session) => (await parts.store.sessions.find(demo, id))?.session.status
  const now = () => parts.clock.unixSeconds()
  const change = (session: Session, to: 'retry' | 'submitted', actor = 'person') =>
    parts.changes.changeStatus({ organizationId: demo, sessionId: session.id, to, actor })

  test.each(SERVICES)('is decided by %s once', async (service) => {
    const session = await open(service)
    const message = MESSAGES[service](session.id, now())
    expect(await send(service, message)).toEqual({ status: 200, body: { applied: true } })
    expect(await statusOf(session)).toBe('completed')
    const events = await parts.store.sessions.listEvents(demo, session.id)
    expect(events.at(-1)).toMatchObject({ status: 'completed', actor: `provider:${service}`, publicComment: null })
    expect(await send(service, message)).toEqual({ status: 200, body: { applied: false, ignored: 'decided-already' } })
    expect(warned).toEqual([])
  })

  test.each(SERVICES)('is not decided by a message that %s did not sign', async (service) => {
    const session = await open(service)
    const message = MESSAGES[service](session.id, now())
    const others = SERVICES.filter((other) => other !== service)
    const answers = [
      await send(service, message, { secret: 'another-secret-of-a-service' }),
      await send(service, message, { endpoint: 'endpoint_none' }),
      ...(await Promise.all(others.map((signedAs) => send(service, message, { signedAs })))),
    ]
    for (const { status, body } of answers) {
      expect([status, body.detail]).toEqual([401, 'the message signature is missing or invalid'])
    }
    expect(await statusOf(session)).toBe('submitted')
  })

  test('is not decided by an endpoint without a service, or by a removed endpoint', async () => {
    const session = await parts.submit(demo, 'webhook')
    expect(await resultOf('veriff', MESSAGES.veriff(session.id, now()))).toBe(401)
    await connect('veriff')
    await parts.store.webhookEndpoints.remove(demo, endpointId)
    expect(await resultOf('veriff', MESSAGES.veriff(session.id, now()))).toBe(401)
    expect(await statusOf(session)).toBe('submitted')
  })

  test('of another organization or provider, or an unknown session, is ignored', async () => {
    await connect('veriff')
    const other = await parts.createOrganization('other')
    const theirs = await parts.submit(other, 'webhook')
    const manual = await parts.submit(demo, 'manual')
    for (const reference of [theirs.id, manual.id, 'user-7', '']) {
      expect(await resultOf('veriff', MESSAGES.veriff(reference, now()))).toBe('other-session')
    }
    expect(await statusOf(manual)).toBe('submitted')
  })

  test('that was submitted again is not decided by an earlier decision', async () => {
    const session = await open('sumsub')
    await change(session, 'retry', 'operator:ada')
    const decidedAt = now()
    // The service retries until the person acts.
    expect(await resultOf('sumsub', MESSAGES.sumsub(session.id, decidedAt))).toBe(409)
    parts.clock.advance(60_000)
    await change(session, 'submitted')
    for (const before of [decidedAt, now()]) {
      expect(await resultOf('sumsub', MESSAGES.sumsub(session.id, before))).toBe('decided-before-submission')
    }
    expect(await statusOf(session)).toBe('submitted')
    parts.clock.advance(1_000)
    const message = MESSAGES.sumsub(session.id, now())
    // The service retries while the checks are running.
    expect(await resultOf('sumsub', message)).toBe(409)
    await markChecksMade(parts.store, demo, session.id)
    expect(await resultOf('sumsub', message)).toBe('applied')
  })

  test('is sent back only once by one message', async () => {
    const session = await open('veriff')
    const message = MESSAGES.veriff(session.id, now(), { status: 'resubmission_requested' })
    expect(await resultOf('veriff', message)).toBe('applied')
    await change(session, 'submitted')
    expect(await resultOf('veriff', message)).toBe('decided-before-submission')
    expect(await statusOf(session)).toBe('submitted')
    await markChecksMade(parts.store, demo, session.id)
    parts.clock.advance(1_000)
    const again = MESSAGES.veriff(session.id, now(), { status: 'approved' })
    const answers = await Promise.all([1, 2].map(() => send('veriff', again)))
    expect(answers.filter(({ body }) => body.applied === true).length).toBe(1)
  })

  test('is not decided by a message that is too old or from the future', async () => {
    const session = await open('sumsub')
    parts.clock.advance(27 * 3_600_000)
    for (const [seconds, result] of [
      [-26 * 3_600 - 1, 400],
      [301, 400],
      [-25 * 3_600, 'applied'],
    ] as const) {
      expect(await statusOf(session)).toBe('submitted')
      expect(await resultOf('sumsub', MESSAGES.sumsub(session.id, now() + seconds))).toBe(result)
    }
  })

  test('with an open hit is completed only after the hit is cleared', async () => {
    const session = await open('persona')
    const { id: hitId } = await openHit(parts.store, demo, session.id)
    const message = MESSAGES.persona(session.id, now())
    const refused = await send('persona', message)
    expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining('hit')])
    expect(await statusOf(session)).toBe('submitted')
    const clearance = { state: 'cleared', by: 'operator:ada', reason: 'somebody else' } as const
    const target = { organizationId: demo, sessionId: session.id, hitId }
    await parts.store.screeningChecks.decideHit(target, clearance)
    expect(await resultOf('persona', message)).toBe('applied')
  })

  test('that is incomplete is left to a reviewer', async () => {
    await connect('sumsub')
    const { session } = await parts.register(demo, { provider: 'webhook' })
    await parts.move(demo, session.id, 'submitted')
    const refused = await send('sumsub', MESSAGES.sumsub(session.id, now()))
    expect(refused).toMatchObject({ status: 409, body: { code: 'SESSION_INCOMPLETE' } })
    expect(await statusOf(session)).toBe('submitted')
  })

  test('that is decided keeps its status, and another decision is logged', async () => {
    const session = await open('sumsub')
    await send('sumsub', MESSAGES.sumsub(session.id, now()))
    const reviewResult = { reviewAnswer: 'RED', reviewRejectType: 'FINAL' }
    const later = MESSAGES.sumsub(session.id, now(), { reviewResult })
    expect(await resultOf('sumsub', later)).toBe('decided-already')
    expect(await statusOf(session)).toBe('completed')
    expect(warned).toEqual([expect.stringContaining('review it')])
  })

  test('is decided with the previous secret of the same service until it expires', async () => {
    await connect('sumsub', 'the-first-secret')
    await connect('sumsub', 'the-second-secret', now() + 60)
    const [one, two] = [await parts.submit(demo, 'webhook'), await parts.submit(demo, 'webhook')]
    const old = { secret: 'the-first-secret' }
    expect((await send('sumsub', MESSAGES.sumsub(one.id, now()), old)).body).toEqual({ applied: true })
    parts.clock.advance(61_000)
    expect((await send('sumsub', MESSAGES.sumsub(two.id, now()), old)).status).toBe(401)
    await connect('veriff', 'the-third-secret', now() + 60)
    expect((await send('veriff', MESSAGES.veriff(two.id, now()), { secret: 'the-second-secret' })).status).toBe(401)
    expect((await send('veriff', MESSAGES.veriff(two.id, now()), { secret: 'the-third-secret' })).status).toBe(200)
  })

  test('without remaining retries is left to a reviewer', async () => {
    const session = await open('veriff')
    await parts.store.database.execute('UPDATE sessions SET retry_count = 5 WHERE id = ?', [session.id])
    parts.clock.advance(1_000)
    const message = MESSAGES.veriff(session.id, now(), { status: 'resubmission_requested' })
    expect(await resultOf('veriff', message)).toBe('decides-nothing')
  })

  test('is decided by long messages up to one mebibyte', async () => {
    const session = await open('persona')
    const included = (length: number) => ({ ...MESSAGES.persona(session.id, now()), included: ['x'.repeat(length)] })
    expect(await resultOf('persona', included(1_048_576))).toBe(413)
    expect(await resultOf('persona', included(500_000))).toBe('applied')
  })
})

// Verification services whose own webhooks decide: their signatures by their published examples and rules, what their
// events mean, and every way in which a message must not decide.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import type { Session } from '../../src/domain/session.ts'
import type { VerificationServiceName } from '../../src/domain/webhook-message.ts'
import { serviceNamed } from '../../src/modules/providers/service-endpoint.ts'
import { openWebhookService } from '../identity/webhooks/support.ts'
import { markChecksMade } from '../support/made-checks.ts'
import { replaceChecks } from '../support/replace-checks.ts'

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
  // The example of Sumsub's API reference ("Verifying webhook sender"), as the tests of public clients repeat it. There is
  // none for the other algorithms: they differ in the digest alone.
  test('is the one of the published example', () => {
    const headers = {
      'x-payload-digest-alg': 'HMAC_SHA1_HEX',
      'x-payload-digest': 'f6e92ffe371718694d46e28436f76589312df8db',
    }
    expect(verify('sumsub', ['SoMe_SeCrEt_KeY'], headers, 'someText')).toBe(true)
    expect(verify('sumsub', ['SoMe_SeCrEt_Key'], headers, 'someText')).toBe(false)
    expect(verify('sumsub', ['SoMe_SeCrEt_KeY'], headers, 'someText ')).toBe(false)
  })

  test('is made by the algorithm that the header names, of those that are documented', () => {
    for (const [name, algorithm] of [
      ['HMAC_SHA256_HEX', 'sha256'],
      ['HMAC_SHA512_HEX', 'sha512'],
    ] as const) {
      const digest = hmac(algorithm, SECRET, '{}')
      const signed = (alg: string, value = digest) =>
        verify('sumsub', ['another', SECRET], { 'x-payload-digest-alg': alg, 'x-payload-digest': value }, '{}')
      expect(signed(name)).toBe(true)
      for (const other of ['', 'HMAC_MD5_HEX', 'toString', 'HMAC_SHA1_HEX']) expect(signed(other)).toBe(false)
      expect(signed(name, digest.slice(0, -1))).toBe(false)
      expect(signed(name, '')).toBe(false)
    }
    expect(verify('sumsub', [], { 'x-payload-digest-alg': 'HMAC_SHA256_HEX', 'x-payload-digest': '' }, '{}')).toBe(
      false,
    )
  })
})

describe('the signature of Veriff', () => {
  // The examples of developers.veriff.com/#generating-x-hmac-signature at two times, as the tests of two public clients
  // repeat them.
  const example = (vendorData: string): string =>
    `{"verification":{"callback":"https://veriff.com","person":{"firstName":"John","lastName":"Smith"},"document":{"type":"PASSPORT","country":"EE"},"vendorData":"${vendorData}","timestamp":"2016-05-19T08:30:25.597Z"}}`
  const KEY = 'abcdef12-abcd-abcd-abcd-abcdef012345'

  test('is the one of the published examples', () => {
    const signed = (vendorData: string, signature: string, key = KEY) =>
      verify('veriff', ['another', key], { 'x-hmac-signature': signature }, example(vendorData))
    const first = '6af6d95822e19e9cc707aec55395d8d363ba2c7bc4625bc04ebeca0c7bf8cd67'
    expect(signed('unique id of a user', first)).toBe(true)
    expect(
      signed('unique id of the end-user', '0dcab73ddd20062616d104231c7439657546a5c24e4691977da93bb854c31e25'),
    ).toBe(true)
    expect(signed('unique id of another', first)).toBe(false)
    expect(signed('unique id of a user', first, `${KEY} `)).toBe(false)
    expect(signed('unique id of a user', '')).toBe(false)
  })
})

describe('the signature of Persona', () => {
  // There is no published example with a secret and a digest: built from docs.withpersona.com/webhooks-best-practices.
  const BODY = '{"data":{"type":"event"}}'
  const pair = (atSeconds: number, secret = SECRET, body = BODY): string =>
    `t=${atSeconds},v1=${hmac('sha256', secret, `${atSeconds}.${body}`)}`
  const signed = (header: string, secrets = [SECRET], nowSeconds = 1_000_000) =>
    verify('persona', secrets, { 'persona-signature': header }, BODY, nowSeconds)

  test('covers time and body, and holds for five minutes', () => {
    expect(signed(pair(1_000_000))).toBe(true)
    expect(signed(pair(1_000_000 - 300))).toBe(true)
    expect(signed(pair(1_000_000 - 301))).toBe(false)
    expect(signed(pair(1_000_000 + 301))).toBe(false)
    expect(signed(pair(1_000_000, 'another'))).toBe(false)
    expect(signed(pair(1_000_000, SECRET, '{}'))).toBe(false)
    expect(signed(pair(1_000_000).replace('t=1000000', 't=1000001'))).toBe(false)
    for (const header of ['', 't=1000000', 'v1=00', `${pair(1_000_000)},`, pair(1_000_000).toUpperCase()]) {
      expect(signed(header)).toBe(false)
    }
  })

  test('may be one of two while its secret is rotated, on either side', () => {
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

/** A message as each service documents it, with what a test changes. */
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

  test('of Sumsub completes, refuses for good, or sends back', () => {
    const result = (reviewResult: object) => statusOf('sumsub', { reviewResult })
    expect(result({ reviewAnswer: 'GREEN' })).toBe('completed')
    expect(result({ reviewAnswer: 'RED', reviewRejectType: 'FINAL' })).toBe('rejected')
    expect(result({ reviewAnswer: 'RED', reviewRejectType: 'RETRY' })).toBe('retry')
    for (const nothing of [{ reviewAnswer: 'RED' }, { reviewAnswer: 'YELLOW' }, {}]) expect(result(nothing)).toBeNull()
    expect(statusOf('sumsub', { type: 'applicantPending' })).toBeNull()
    expect(statusOf('sumsub', { sandboxMode: true })).toBeNull()
    expect(statusOf('sumsub', { testMode: true })).toBeNull()
    expect(statusOf('sumsub', { sandboxMode: false })).toBe('completed')
  })

  test('of Sumsub tells the person only what it wrote for them', () => {
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

  test('of Persona completes or refuses; whatever else happens to an inquiry decides nothing', () => {
    expect(statusOf('persona', {})).toBe('completed')
    expect(statusOf('persona', { name: 'inquiry.declined' })).toBe('rejected')
    for (const name of ['inquiry.completed', 'inquiry.failed', 'inquiry.marked-for-review', 'constructor', 7]) {
      expect(statusOf('persona', { name })).toBeNull()
    }
  })

  test('of Veriff completes, refuses or sends back', () => {
    expect(statusOf('veriff', {})).toBe('completed')
    expect(statusOf('veriff', { status: 'declined' })).toBe('rejected')
    expect(statusOf('veriff', { status: 'resubmission_requested' })).toBe('retry')
    for (const status of ['review', 'expired', 'abandoned', 'toString', null]) {
      expect(statusOf('veriff', { status })).toBeNull()
    }
    const told = { reason: 'Document not supported', reasonCode: 105 }
    expect(read('veriff', MESSAGES.veriff('ref', 1, told))).toMatchObject({
      publicComment: null,
      privateComment: 'Veriff session 12df6045-3846-3e45-946a-14fa6136d78b; Document not supported; code 105',
    })
  })

  test('that says not when it was is refused', () => {
    for (const service of SERVICES) {
      const field = { sumsub: 'createdAtMs', persona: 'created-at', veriff: 'decisionTime' }[service]
      for (const value of [undefined, '', 'soon', 1_700_000_000, '2026-01-01 10:00:00 -0700x']) {
        expect(() => read(service, MESSAGES[service]('ref', 1, { [field]: value }))).toThrow('must be a time')
      }
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
    const { sealed } = await parts.keys.seal(demo, 'webhook secret', endpointId, bytes(secret))
    const set = await parts.store.webhookEndpoints.setService({
      organizationId: demo,
      id: endpointId,
      service,
      sealedSecret: sealed,
      previousUntilSeconds,
    })
    expect(set).toBe(true)
  }

  const send = async (
    service: VerificationServiceName,
    message: object,
    { secret = SECRET, endpoint = endpointId, signedAs = service } = {},
  ) => {
    const body = JSON.stringify(message)
    const { providerEvent } = webhooks.endpoints
    if (providerEvent === null) throw new Error('no service is known')
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
    const answer: { readonly applied?: boolean; readonly ignored?: string; readonly detail?: string } = JSON.parse(
      await response.text(),
    )
    return { status: response.status, body: answer }
  }
  const statusOf = async ({ id }: Session) => (await parts.store.sessions.find(demo, id))?.session.status
  const now = () => parts.clock.unixSeconds()

  for (const service of SERVICES) {
    test(`is decided by ${service}, once`, async () => {
      await connect(service)
      const session = await parts.submit(demo, 'webhook')
      const message = MESSAGES[service](session.id, now())
      expect(await send(service, message)).toEqual({ status: 200, body: { applied: true } })
      expect(await statusOf(session)).toBe('completed')
      const events = await parts.store.sessions.listEvents(demo, session.id)
      expect(events.at(-1)).toMatchObject({ status: 'completed', actor: `provider:${service}`, publicComment: null })
      expect(await send(service, message)).toEqual({
        status: 200,
        body: { applied: false, ignored: 'decided-already' },
      })
      expect(warned).toEqual([])
    })

    test(`is not decided by what ${service} did not sign`, async () => {
      await connect(service)
      const session = await parts.submit(demo, 'webhook')
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
  }

  test('is not decided over an endpoint without a service, nor one that was removed', async () => {
    const session = await parts.submit(demo, 'webhook')
    expect((await send('veriff', MESSAGES.veriff(session.id, now()))).status).toBe(401)
    await connect('veriff')
    await parts.store.webhookEndpoints.remove(demo, endpointId)
    expect((await send('veriff', MESSAGES.veriff(session.id, now()))).status).toBe(401)
    expect(await statusOf(session)).toBe('submitted')
  })

  test('of another organization, of other deciders, or none, is none of the service’s', async () => {
    await connect('veriff')
    const other = await parts.createOrganization('other')
    const theirs = await parts.submit(other, 'webhook')
    const manual = await parts.submit(demo, 'manual')
    for (const reference of [theirs.id, manual.id, 'user-7', '']) {
      expect((await send('veriff', MESSAGES.veriff(reference, now()))).body).toEqual({
        applied: false,
        ignored: 'other-session',
      })
    }
    expect(await statusOf(manual)).toBe('submitted')
  })

  test('that was handed in again is not decided by a decision from before', async () => {
    await connect('sumsub')
    const session = await parts.submit(demo, 'webhook')
    const target = { organizationId: demo, sessionId: session.id, actor: 'person' }
    await parts.changes.changeStatus({ ...target, to: 'retry', actor: 'operator:ada' })
    const decidedAt = now()
    // While the person has to act the service is asked to come again.
    expect((await send('sumsub', MESSAGES.sumsub(session.id, decidedAt))).status).toBe(409)
    parts.clock.advance(60_000)
    await parts.changes.changeStatus({ ...target, to: 'submitted' })
    for (const before of [decidedAt, now()]) {
      expect((await send('sumsub', MESSAGES.sumsub(session.id, before))).body).toEqual({
        applied: false,
        ignored: 'decided-before-submission',
      })
    }
    expect(await statusOf(session)).toBe('submitted')
    parts.clock.advance(1_000)
    const message = MESSAGES.sumsub(session.id, now())
    // Its checks are still to be made: the service is asked to come again.
    expect((await send('sumsub', message)).status).toBe(409)
    await markChecksMade(parts.store, demo, session.id)
    expect((await send('sumsub', message)).body).toEqual({ applied: true })
  })

  test('is sent back once by one message, however often it comes', async () => {
    await connect('veriff')
    const session = await parts.submit(demo, 'webhook')
    const message = MESSAGES.veriff(session.id, now(), { status: 'resubmission_requested' })
    expect((await send('veriff', message)).body).toEqual({ applied: true })
    const target = { organizationId: demo, sessionId: session.id, actor: 'person' }
    await parts.changes.changeStatus({ ...target, to: 'submitted' })
    expect((await send('veriff', message)).body).toEqual({ applied: false, ignored: 'decided-before-submission' })
    expect(await statusOf(session)).toBe('submitted')
    await markChecksMade(parts.store, demo, session.id)
    parts.clock.advance(1_000)
    const again = MESSAGES.veriff(session.id, now(), { status: 'approved' })
    const answers = await Promise.all([1, 2].map(() => send('veriff', again)))
    expect(answers.filter(({ body }) => body.applied === true).length).toBe(1)
  })

  test('is not decided by a message that is too old, or of a time to come', async () => {
    await connect('sumsub')
    const session = await parts.submit(demo, 'webhook')
    parts.clock.advance(27 * 3_600_000)
    expect(await send('sumsub', MESSAGES.sumsub(session.id, now() - 26 * 3_600 - 1))).toMatchObject({ status: 400 })
    expect(await send('sumsub', MESSAGES.sumsub(session.id, now() + 301))).toMatchObject({ status: 400 })
    expect(await statusOf(session)).toBe('submitted')
    expect((await send('sumsub', MESSAGES.sumsub(session.id, now() - 25 * 3_600))).body).toEqual({ applied: true })
  })

  test('with an open hit is not completed, and is once the hit is cleared and the message comes again', async () => {
    await connect('persona')
    const session = await parts.submit(demo, 'webhook')
    const { screeningChecks } = parts.store
    const hit = {
      list: 'ofac-sdn',
      entry: '36',
      versionId: 'v1',
      name: 'X',
      subject: 'person',
      basis: 'b',
      subjectBasis: 's',
      score: 90,
      why: [],
    }
    await replaceChecks(parts.store, { organizationId: demo, sessionId: session.id }, 'lists', [
      { name: 'lists.names', outcome: 'passed', detail: {}, version: 'k', hits: [hit] },
    ])
    const message = MESSAGES.persona(session.id, now())
    const refused = await send('persona', message)
    expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining('hit')])
    expect(await statusOf(session)).toBe('submitted')
    const [open] = await screeningChecks.hits(demo, session.id)
    await screeningChecks.decideHit(
      { organizationId: demo, sessionId: session.id, hitId: open?.id ?? '' },
      { state: 'cleared', by: 'operator:ada', reason: 'somebody else' },
    )
    expect((await send('persona', message)).body).toEqual({ applied: true })
  })

  test('that is incomplete is not completed, and waits for a person', async () => {
    await connect('sumsub')
    const { session } = await parts.register(demo, { provider: 'webhook' })
    await parts.move(demo, session.id, 'submitted')
    const refused = await send('sumsub', MESSAGES.sumsub(session.id, now()))
    expect(refused).toMatchObject({ status: 409, body: { code: 'SESSION_INCOMPLETE' } })
    expect(await statusOf(session)).toBe('submitted')
  })

  test('that is decided stays so, and another decision of the service is told in the log', async () => {
    await connect('sumsub')
    const session = await parts.submit(demo, 'webhook')
    await send('sumsub', MESSAGES.sumsub(session.id, now()))
    const reviewResult = { reviewAnswer: 'RED', reviewRejectType: 'FINAL' }
    const later = await send('sumsub', MESSAGES.sumsub(session.id, now(), { reviewResult }))
    expect(later.body).toEqual({ applied: false, ignored: 'decided-already' })
    expect(await statusOf(session)).toBe('completed')
    expect(warned).toEqual([expect.stringContaining('review it')])
  })

  test('is decided under the secret before until its time is over, and never under another service’s', async () => {
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

  test('that was sent back as often as it may waits for a person', async () => {
    await connect('veriff')
    const session = await parts.submit(demo, 'webhook')
    await parts.store.database.execute('UPDATE sessions SET retry_count = 5 WHERE id = ?', [session.id])
    parts.clock.advance(1_000)
    const message = MESSAGES.veriff(session.id, now(), { status: 'resubmission_requested' })
    expect((await send('veriff', message)).body).toEqual({ applied: false, ignored: 'decides-nothing' })
  })

  test('takes long messages, and none over a mebibyte', async () => {
    await connect('persona')
    const session = await parts.submit(demo, 'webhook')
    const included = (length: number) => ({ ...MESSAGES.persona(session.id, now()), included: ['x'.repeat(length)] })
    expect((await send('persona', included(1_048_576))).status).toBe(413)
    expect((await send('persona', included(500_000))).body).toEqual({ applied: true })
  })
})

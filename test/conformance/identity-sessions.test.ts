// Registration and status of the identity API (B1 and B2), line by line of the specification.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import decodeQr from 'jsqr'
import { PNG } from 'pngjs'
import { issueKey, succeed } from '../service/calls.ts'
import { freePort, type RunningService, runCommand, startService } from '../service/start-service.ts'
import {
  type Caller,
  type Creation,
  createCaller,
  createTenant,
  decide,
  expectProblem,
  walletOf,
} from './identity-caller.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const SOLANA = 'DeZVDBizsEVYvCDyLDLU8MPgE6ndYE2dDA1MXaL2neJC'
const OUTCOME = 'countersign-sandbox-outcome'

let service: RunningService
let live: Caller
let sandbox: Caller
const portal = `http://127.0.0.1:${freePort()}`

beforeAll(async () => {
  service = await startService({
    environment: { COUNTERSIGN_WORKERS: '1', COUNTERSIGN_PORTAL_URL: `${portal}/verify/` },
  })
  live = createCaller(service, service.quickstart['IDENTITY_API_KEY'] ?? '')
  sandbox = createCaller(service, service.quickstart['IDENTITY_TEST_API_KEY'] ?? '')
})
afterAll(async () => {
  await service.stop()
})

const linkOf = ({ qrCode }: Creation): { size: number; text: string | undefined } => {
  expect(qrCode).toStartWith('data:image/png;base64,')
  const { data, width, height } = PNG.sync.read(Buffer.from(qrCode.slice(22), 'base64'))
  expect(width).toBe(height)
  return { size: width, text: decodeQr(new Uint8ClampedArray(data), width, height)?.data }
}

describe('B1: a registration', () => {
  for (const type of ['individual', 'business'] as const) {
    test(`for ${type} is 201 with the session creation response`, async () => {
      const response = await live.register({ type })
      expect(response.status).toBe(201)
      expect(response.headers.get('content-type')).toBe('application/json')
      const creation = (await response.json()) as Creation
      expect(Object.keys(creation)).toEqual(['sessionId', 'redirectUrl', 'qrCode'])
      expect(creation.sessionId).toMatch(UUID)
      expect(linkOf(creation)).toEqual({ size: 300, text: creation.redirectUrl })
      expect(await live.statusOf(creation.sessionId, type)).toEqual({
        sessionId: creation.sessionId,
        status: 'pending',
        verifiedWallets: [],
        unverifiedWallets: [],
      })
    })
  }

  test('links to the public URL of the portal, with a token unrelated to the session id', async () => {
    const { redirectUrl, sessionId } = await live.registered()
    expect(redirectUrl).toMatch(new RegExp(`^${portal}/verify/v/[A-Za-z0-9_-]{24}$`))
    expect(redirectUrl).not.toContain(sessionId)
    expect(redirectUrl).not.toContain(sessionId.slice(0, 8))
  })

  test.each([80, 300, 1_234, 2_000])('with size %d has a QR code of that size in pixels', async (size) => {
    const creation = await live.registered({ query: `?size=${size}` })
    expect(linkOf(creation)).toEqual({ size, text: creation.redirectUrl })
  })

  test.each(['79', '2001', '-1', '300.5', 'large', '', '3e2', '300&size=300'])(
    'with size %p is 400 with the valid range',
    async (size) => {
      const detail = 'request validation failed: size must be a whole number from 80 to 2000'
      await expectProblem(await live.register({ query: `?size=${size}` }), 400, 'INVALID_FIELD', detail)
    },
  )

  test('accepts no body, an empty body and an empty object', async () => {
    for (const headers of [{}, { 'content-type': 'application/json' }, { 'content-type': 'text/plain' }]) {
      const response = await fetch(`${live.base}/api/v1/register/individual`, {
        method: 'POST',
        headers: { authorization: `Bearer ${live.key}`, ...headers },
      })
      expect(response.status).toBe(201)
    }
    expect((await live.register({ body: '' })).status).toBe(201)
    expect((await live.register({ body: {} })).status).toBe(201)
  })

  test('parses its body strictly', async () => {
    const send = (body: string, headers = {}) => live.register({ body, headers })
    await expectProblem(await send('{}', { 'content-type': 'text/plain' }), 415, 'UNSUPPORTED_MEDIA_TYPE')
    await expectProblem(await send('{'), 400, 'MALFORMED_JSON')
    await expectProblem(await send('[]'), 400, 'INVALID_REQUEST')
    await expectProblem(await send('{"originUrl":"https://a.b","originUrl":"https://c.d"}'), 400, 'DUPLICATE_KEY')
    await expectProblem(await send(`{"x":"${'y'.repeat(262_144)}"}`), 413, 'PAYLOAD_TOO_LARGE')
    expect((await send('{"unknown":1}')).status).toBe(201)
  })

  test.each([
    ...['0x12', 'nonsense', '', 7, [walletOf('x')], `${walletOf('x')}0`, SOLANA.toLowerCase()].map((walletAddress) => ({
      walletAddress,
    })),
    ...['http://a.b', 'javascript:alert(1)', '/x', 'https://u:secret@a.b', `https://a.b/${'x'.repeat(2_048)}`, 7].map(
      (originUrl) => ({ originUrl }),
    ),
  ])('refuses %p without repeating its value', async (body) => {
    const response = await live.register({ body })
    const text = await response.clone().text()
    expect(text).toContain(Object.keys(body)[0] ?? '')
    expect(text).not.toContain('secret')
    await expectProblem(response, 400, 'INVALID_FIELD')
  })
})

describe('B1: reuse', () => {
  test('is 200 with the same session and a new link', async () => {
    for (const walletAddress of [walletOf('reuse'), SOLANA]) {
      const first = await live.registered({ body: { walletAddress } })
      const second = await live.registered({ body: { walletAddress } })
      expect([first.httpStatus, second.httpStatus]).toEqual([201, 200])
      expect(second.sessionId).toBe(first.sessionId)
      expect(second.redirectUrl).not.toBe(first.redirectUrl)
      expect(linkOf(second).text).toBe(second.redirectUrl)
    }
  })

  test('compares the bytes of a wallet, not its spelling', async () => {
    const walletAddress = walletOf('spelling')
    const first = await live.registered({ body: { walletAddress } })
    const upper = `0x${walletAddress.slice(2).toUpperCase()}`
    expect((await live.registered({ body: { walletAddress: upper } })).sessionId).toBe(first.sessionId)
  })

  test('excludes sessions of another type', async () => {
    const body = { walletAddress: walletOf('types') }
    const individual = await live.registered({ body })
    const business = await live.registered({ type: 'business', body })
    expect(business.httpStatus).toBe(201)
    expect(business.sessionId).not.toBe(individual.sessionId)
  })

  test.each([
    ['pending', 200],
    ['retry', 200],
    ['completed', 200],
    ['submitted', 201],
    ['rejected', 201],
  ])('of a %s session is %d', async (outcome, expected) => {
    const body = { walletAddress: walletOf(`reuse ${outcome}`) }
    const first = await sandbox.registered({ body, headers: { [OUTCOME]: outcome } })
    expect((await sandbox.statusOf(first.sessionId)).status).toBe(outcome)
    expect((await sandbox.registered({ body })).httpStatus).toBe(expected)
  })

  test('replaces the stored originUrl, or keeps it if the request contains no originUrl', async () => {
    const walletAddress = walletOf('origin')
    const stored = async (sessionId: string): Promise<unknown> =>
      JSON.parse(await succeed(service, 'session', 'show', sessionId, '--json')).origin_url
    const { sessionId } = await live.registered({ body: { walletAddress, originUrl: 'https://one.example' } })
    expect(await stored(sessionId)).toBe('https://one.example/')
    await live.registered({ body: { walletAddress, originUrl: 'https://two.example' } })
    expect(await stored(sessionId)).toBe('https://two.example/')
    await live.registered({ body: { walletAddress } })
    expect(await stored(sessionId)).toBe('https://two.example/')
  })

  test('of concurrent registrations creates one session', async () => {
    const body = { walletAddress: walletOf('race') }
    const all = await Promise.all(Array.from({ length: 25 }, () => live.registered({ body })))
    expect(all.filter(({ httpStatus }) => httpStatus === 201)).toHaveLength(1)
    expect(new Set(all.map(({ sessionId }) => sessionId)).size).toBe(1)
  })
})

describe('B1: Idempotency-Key', () => {
  test('returns the same session and status with another link, which is not stored', async () => {
    const headers = { 'idempotency-key': 'register-1' }
    const first = await live.register({ headers })
    const again = await live.register({ headers })
    expect([first.status, again.status]).toEqual([201, 201])
    expect(first.headers.get('idempotency-replayed')).toBeNull()
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    const [one, two] = [(await first.json()) as Creation, (await again.json()) as Creation]
    expect(two.sessionId).toBe(one.sessionId)
    expect(linkOf(two).text).toBe(two.redirectUrl)
    const files = ['countersign.db', 'countersign.db-wal'].map((name) => Bun.file(`${service.dataDirectory}/${name}`))
    const bytes = Buffer.concat(await Promise.all(files.map(async (file) => Buffer.from(await file.bytes()))))
    expect(bytes.includes(one.sessionId)).toBe(true)
    for (const { redirectUrl } of [one, two]) expect(bytes.includes(redirectUrl.slice(-24))).toBe(false)
  })

  test('with a different body, size or type gets 422, and an invalid one gets 400', async () => {
    const headers = { 'idempotency-key': 'register-2' }
    await live.registered({ headers })
    for (const input of [{ body: {} }, { query: '?size=80' }, { type: 'business' as const }]) {
      await expectProblem(await live.register({ ...input, headers }), 422, 'IDEMPOTENCY_MISMATCH')
    }
    await expectProblem(await live.register({ headers: { 'idempotency-key': 'x'.repeat(256) } }), 400, 'INVALID_HEADER')
  })
})

describe('B2: a status', () => {
  test('contains userId and completedAt if completed, and each wallet in one of two lists', async () => {
    const address = walletOf('status')
    const body = { walletAddress: address }
    const wallet = {
      id: expect.any(String),
      address: expect.stringMatching(new RegExp(address, 'i')),
      chain: 'ethereum',
    }
    const { sessionId } = await sandbox.registered({ body, headers: { [OUTCOME]: 'retry' } })
    expect<unknown>(await sandbox.statusOf(sessionId)).toEqual({
      sessionId,
      status: 'retry',
      verifiedWallets: [],
      unverifiedWallets: [wallet],
    })
    await sandbox.registered({ body, headers: { [OUTCOME]: 'completed' } })
    const completed = await sandbox.statusOf(sessionId)
    expect<unknown>(completed).toEqual({
      sessionId,
      status: 'completed',
      userId: expect.any(String),
      completedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      verifiedWallets: [wallet],
      unverifiedWallets: [],
    })
    expect(Math.abs(Date.parse(completed.completedAt ?? '') - Date.now())).toBeLessThan(10_000)
  })

  test('follows the decisions of an operator without their notes', async () => {
    const { sessionId } = await live.registered()
    await decide(service, sessionId, 'retry', '--comment', 'Please use another photo.', '--note', 'Looks edited.')
    const raw = await (await live.status(sessionId)).text()
    expect(JSON.parse(raw)).toMatchObject({ status: 'retry' })
    expect(raw).not.toContain('edited')
    await decide(service, sessionId, 'completed', '--override')
    expect(await live.statusOf(sessionId)).toMatchObject({ status: 'completed', userId: expect.any(String) })
    await decide(service, sessionId, 'rejected', '--revoke')
    const rejected = await live.statusOf(sessionId)
    expect(rejected.status).toBe('rejected')
    expect(rejected).not.toHaveProperty('completedAt')
  })

  test.each([
    ['an unknown session', 'individual', '01a1f8ae-78a5-736f-b344-07aea9a52566'],
    ['an unknown type', 'person', '01a1f8ae-78a5-736f-b344-07aea9a52566'],
    ['an id that is not a UUID', 'individual', 'nonsense'],
    ['a UUID in brackets', 'individual', '%7B01a1f8ae-78a5-736f-b344-07aea9a52566%7D'],
    ['a UUID without dashes', 'individual', '01a1f8ae78a5736fb34407aea9a52566'],
    ['a UUID with an extra digit', 'individual', '01a1f8ae-78a5-736f-b344-07aea9a525660'],
    ['a null byte', 'individual', '%00'],
    ['a path', 'individual', '..%2f..%2fverify'],
    ['the realtime path without its id', 'realtime', 'individual'],
  ])('of %s is 404', async (_name, type, sessionId) => {
    await expectProblem(await live.status(sessionId, type), 404, 'NOT_FOUND')
    await expectProblem(await live.send('GET', `/api/v1/status/realtime/${type}/${sessionId}`), 404, 'NOT_FOUND')
  })

  test('for a session of the other type gets 404, and an id in upper case is valid', async () => {
    const { sessionId } = await live.registered()
    await expectProblem(await live.status(sessionId, 'business'), 404, 'NOT_FOUND')
    expect((await live.statusOf(sessionId.toUpperCase())).sessionId).toBe(sessionId)
  })
})

describe('the sandbox', () => {
  test('ignores its header with a live key, and validates it with a test key', async () => {
    for (const outcome of ['completed', 'nonsense']) {
      const { sessionId } = await live.registered({ headers: { [OUTCOME]: outcome } })
      expect((await live.statusOf(sessionId)).status).toBe('pending')
    }
    await expectProblem(await sandbox.register({ headers: { [OUTCOME]: 'nonsense' } }), 400, 'INVALID_HEADER')
  })

  test('refuses an invalid transition', async () => {
    const body = { walletAddress: walletOf('sandbox conflict') }
    await sandbox.registered({ body, headers: { [OUTCOME]: 'completed' } })
    const response = await sandbox.register({ body, headers: { [OUTCOME]: 'submitted' } })
    await expectProblem(response, 409, 'SESSION_CONFLICT', 'a session cannot change from completed to submitted')
  })
})

describe('authentication', () => {
  const routes = [
    ['POST', '/api/v1/register/individual'],
    ['POST', '/api/v1/register/business'],
    ['GET', '/api/v1/status/individual/01a1f8ae-78a5-736f-b344-07aea9a52566'],
    ['GET', '/api/v1/status/realtime/individual/01a1f8ae-78a5-736f-b344-07aea9a52566'],
    ['POST', '/api/v1/verify'],
  ] as const

  test.each(routes)('%s %s requires a Bearer key of the identity API', async (method, path) => {
    const key = live.key
    const wrong = key.endsWith('A') ? 'B' : 'A'
    const withHeaders = (headers: Record<string, string>) => fetch(`${live.base}${path}`, { method, headers })
    for (const headers of [
      {},
      { 'x-api-key': key },
      { authorization: key },
      { authorization: `Basic ${key}` },
      { authorization: `Bearer ${key.slice(0, -1)}${wrong}` },
      { authorization: `Bearer ${key}, Bearer ${key}` },
    ]) {
      const response = await withHeaders(headers as Record<string, string>)
      expect(response.headers.get('www-authenticate')).toBe('Bearer realm="countersign"')
      await expectProblem(response, 401, 'UNAUTHENTICATED')
    }
    const attestation = service.quickstart['ATTESTATION_API_KEY'] ?? ''
    await expectProblem(await withHeaders({ authorization: `Bearer ${attestation}` }), 403, 'FORBIDDEN_SCOPE')
  })

  test.each(routes)('%s %s refuses other methods', async (method, path) => {
    for (const other of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'].filter((name) => name !== method)) {
      const response = await live.send(other, path)
      expect(response.headers.get('allow')).toBe(method)
      await expectProblem(response, 405, 'METHOD_NOT_ALLOWED')
    }
  })

  test.each(['company', 'INDIVIDUAL', 'kyc', '%69ndividual', ''])('a registration of type %p is 404', async (type) => {
    await expectProblem(await live.send('POST', `/api/v1/register/${type}`), 404, 'NOT_FOUND')
  })

  test('a request above the rate limit gets 429 with the rate limit headers', async () => {
    const { key } = await issueKey(service, '--org demo --kind identity --rate 1 --burst 2')
    const limited = createCaller(service, key)
    const responses = await Promise.all(Array.from({ length: 5 }, () => limited.status('nonsense')))
    const refused = responses.find(({ status }) => status === 429)
    if (refused === undefined) throw new Error('never limited')
    expect(refused.headers.get('ratelimit-limit')).toBe('2')
    expect(refused.headers.get('retry-after')).toMatch(/^[1-9]/)
    await expectProblem(refused, 429, 'RATE_LIMITED')
  })
})

describe('two organizations', () => {
  test('cannot read or decide each other’s sessions, and do not share them by wallet', async () => {
    const tenant = await createTenant(service, 'tenant-b')
    const body = { walletAddress: walletOf('shared'), originUrl: 'https://ours.example' }
    const ours = await live.registered({ body })
    for (const caller of [tenant.live, tenant.test, sandbox]) {
      for (const type of ['individual', 'business']) {
        await expectProblem(await caller.status(ours.sessionId, type), 404, 'NOT_FOUND')
        const stream = await caller.send('GET', `/api/v1/status/realtime/${type}/${ours.sessionId}`)
        await expectProblem(stream, 404, 'NOT_FOUND')
      }
      const { walletAddress: address } = body
      expect(await caller.verified({ address })).toEqual({ address, verified: false })
      const theirs = await caller.registered({ body: { walletAddress: address } })
      expect(theirs.httpStatus).toBe(201)
      expect(theirs.sessionId).not.toBe(ours.sessionId)
    }
    expect((await live.registered({ body })).sessionId).toBe(ours.sessionId)
    const words = ['session', 'decide', ours.sessionId, 'completed', '--override', '--org', tenant.slug]
    expect((await runCommand(service.dataDirectory, ...words)).code).toBe(1)
    expect((await live.statusOf(ours.sessionId)).status).toBe('pending')
  })

  test('have separate idempotency keys', async () => {
    const tenant = await createTenant(service, 'tenant-c')
    const headers = { 'idempotency-key': 'the-same' }
    const [ours, theirs] = [await live.registered({ headers }), await tenant.live.registered({ headers })]
    expect(theirs.sessionId).not.toBe(ours.sessionId)
  })
})

test('the log does not contain keys, links or notes', () => {
  const { stderr } = service.output()
  for (const secret of [live.key, sandbox.key, 'Looks edited.', '/v/']) expect(stderr).not.toContain(secret)
  expect(stderr).not.toContain('"level":"error"')
})

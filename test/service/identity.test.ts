// Interface B of the real service, over HTTP, as two customers meet it: every route with the other's session, key or
// environment, everything malformed, and what levels and decisions by command do to it within a second.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { PNG } from 'pngjs'
import { until } from '../support/until.ts'
import { issueKey, succeed } from './calls.ts'
import { type RunningService, runCommand, startService } from './start-service.ts'

const TIMEOUT_MS = 60_000
const WALLET = '0x52908400098527886E0F7030069857D2E4169EE7'
const SOLANA = '4Nd1mYQ1m5XjAeFmLxxJ1dDZ8yWPT8jQ6sx2n2fdKzN9'
const ABSENT = '01890000-0000-7000-8000-000000000000'
const SANDBOX = 'countersign-sandbox-outcome'

let service: RunningService
let ours: string
let oursTest: string
let theirs: string
let attestation: string

interface Call {
  readonly method?: string
  readonly key?: string | null
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

const call = async (path: string, { method = 'GET', key = ours, body, headers = {} }: Call = {}) => {
  const response = await fetch(`${service.url}/api/v1${path}`, {
    method,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(10_000),
  })
  const type = response.headers.get('content-type') ?? ''
  if (type.startsWith('text/event-stream')) {
    await response.body?.cancel()
    return { status: response.status, type, body: {} as Record<string, unknown>, headers: response.headers }
  }
  return {
    status: response.status,
    type,
    body: (await response.json()) as Record<string, unknown>,
    headers: response.headers,
  }
}

const register = (type: string, options: Call = {}) => call(`/register/${type}`, { method: 'POST', ...options })

const registered = async (type: string, options: Call = {}): Promise<string> => {
  const { status, body } = await register(type, options)
  expect([200, 201]).toContain(status)
  return String(body['sessionId'])
}

const wallet = (number: number): string => `0x${number.toString(16).padStart(40, '0')}`

const command = (...words: string[]): Promise<string> => succeed(service, ...words)

/** Polls: a change made by command is to be seen within a second. */
const within = async (read: () => Promise<unknown>, wanted: unknown): Promise<void> => {
  await until(async () => Bun.deepEquals(await read(), wanted), { what: JSON.stringify(wanted) })
}

beforeAll(async () => {
  service = await startService({ environment: { COUNTERSIGN_WORKERS: '1' } })
  ours = service.quickstart['IDENTITY_API_KEY'] ?? ''
  oursTest = service.quickstart['IDENTITY_TEST_API_KEY'] ?? ''
  attestation = service.quickstart['ATTESTATION_API_KEY'] ?? ''
  await command('org', 'create', 'rival', '--name', 'Rival')
  theirs = (await issueKey(service, '--org rival --kind identity --no-rate-limit')).key
}, TIMEOUT_MS)
afterAll(() => service.stop())

const expectProblem = (answer: Awaited<ReturnType<typeof call>>, status: number, code: string): void => {
  const { body } = answer
  expect({ status: answer.status, code: body['code'] }).toEqual({ status, code })
  expect(answer.type).toStartWith('application/problem+json')
  expect(body['request_id']).toBe(answer.headers.get('x-request-id'))
  expect(body['message']).toBe(body['detail'])
  expect(body['error']).toBe(body['detail'])
}

describe('a registration', () => {
  test('is 201 with a link and a picture of the size asked for, then 200 for the same wallet', async () => {
    const first = await register('individual', { body: { walletAddress: WALLET } })
    expect(first.status).toBe(201)
    expect(Object.keys(first.body).sort()).toEqual(['qrCode', 'redirectUrl', 'sessionId'])
    const [prefix, picture = ''] = String(first.body['qrCode']).split(',')
    expect(prefix).toBe('data:image/png;base64')
    const { width, height } = PNG.sync.read(Buffer.from(picture, 'base64'))
    expect([width, height]).toEqual([300, 300])
    const again = await register('individual', { body: { walletAddress: WALLET.toLowerCase() } })
    expect(again.status).toBe(200)
    expect(again.body['sessionId']).toBe(first.body['sessionId'])
    expect(again.body['redirectUrl']).not.toBe(first.body['redirectUrl'])
    const business = await register('business', { body: { walletAddress: WALLET } })
    expect(business.status).toBe(201)
    for (const size of [80, 2_000]) {
      const sized = await call(`/register/individual?size=${size}`, { method: 'POST' })
      const png = PNG.sync.read(Buffer.from(String(sized.body['qrCode']).split(',')[1] ?? '', 'base64'))
      expect(png.width).toBe(size)
    }
  })

  test('under one Idempotency-Key is one session, and another body under it is refused', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const body = { originUrl: 'https://app.example/a' }
    const [one, two] = [
      await register('individual', { body, headers }),
      await register('individual', { body, headers }),
    ]
    expect([one.status, two.status]).toEqual([201, 201])
    expect(two.body['sessionId']).toBe(one.body['sessionId'])
    expect(two.headers.get('idempotency-replayed') ?? two.headers.get('idempotent-replayed')).not.toBeNull()
    const other = await register('individual', { body: { originUrl: 'https://app.example/b' }, headers })
    expect(other.status).toBe(422)
  })
})

describe('another customer’s session', () => {
  let sessionId: string
  beforeAll(async () => {
    sessionId = await registered('individual', { key: theirs, body: { walletAddress: wallet(1) } })
  })

  test.each(['/status/individual/', '/status/realtime/individual/'])('is unknown to GET %s', async (route) => {
    expect((await call(route + sessionId, { key: theirs })).status).toBe(200)
    const foreign = await call(route + sessionId)
    expectProblem(foreign, 404, 'NOT_FOUND')
    const absent = await call(route + ABSENT)
    // Word for word what a session that never was is answered.
    expect({ ...foreign.body, request_id: '' }).toEqual({ ...absent.body, request_id: '' })
  })

  test.each(['individual', 'business'])('is not reused by POST /register/%s', async (type) => {
    const own = await register(type, { body: { walletAddress: wallet(1) } })
    expect(own.status).toBe(201)
    expect(own.body['sessionId']).not.toBe(sessionId)
  })

  test('says nothing through POST /verify, nor does its idempotency key', async () => {
    const answer = await call('/verify', { method: 'POST', body: { address: wallet(2) } })
    const headers = { 'idempotency-key': 'the-same-words' }
    const foreign = await registered('individual', { key: theirs, body: { walletAddress: wallet(2) }, headers })
    expect(await registered('individual', { body: {}, headers })).not.toBe(foreign)
    const asked = await call('/verify', { method: 'POST', body: { address: wallet(2) } })
    expect(asked.body).toEqual({ address: wallet(2), verified: false })
    expect(asked.body).toEqual(answer.body)
  })

  test('is not decided, shown or read by command in one’s own name', TIMEOUT_MS, async () => {
    for (const words of [
      ['session', 'show', sessionId],
      ['session', 'decide', sessionId, 'completed'],
      ['evidence', 'show', sessionId],
      ['evidence', 'erase', sessionId],
    ]) {
      expect(await runCommand(service.dataDirectory, ...words)).toMatchObject({ code: 1 })
    }
    expect((await call(`/status/individual/${sessionId}`, { key: theirs })).body['status']).toBe('pending')
  })
})

describe('one’s own session', () => {
  test('is unknown under the other type and to a key of the other environment', async () => {
    const sessionId = await registered('individual')
    for (const route of ['/status', '/status/realtime']) {
      expectProblem(await call(`${route}/business/${sessionId}`), 404, 'NOT_FOUND')
      expectProblem(await call(`${route}/individual/${sessionId}`, { key: oursTest }), 404, 'NOT_FOUND')
      expect((await call(`${route}/individual/${sessionId.toUpperCase()}`)).status).toBe(200)
    }
  })

  test('is decided by the sandbox’s header with a test key, and never with a live one', async () => {
    const headers = { [SANDBOX]: 'completed' }
    const live = await registered('individual', { body: { walletAddress: wallet(5) }, headers })
    expect((await call(`/status/individual/${live}`)).body['status']).toBe('pending')
    const tried = await registered('individual', { key: oursTest, body: { walletAddress: wallet(5) }, headers })
    const { body } = await call(`/status/individual/${tried}`, { key: oursTest })
    expect(body).toMatchObject({ status: 'completed', unverifiedWallets: [], verifiedWallets: [{ chain: 'ethereum' }] })
    expect((await call('/verify', { method: 'POST', body: { address: wallet(5) } })).body).toMatchObject({
      verified: false,
    })
    const asked = await call('/verify', {
      method: 'POST',
      key: oursTest,
      body: { address: wallet(5), type: 'individual' },
    })
    expect(asked.body).toMatchObject({ verified: true, status: 'completed', checkType: 'kyc' })
    const other = await call('/verify', {
      method: 'POST',
      key: oursTest,
      body: { address: wallet(5), type: 'business' },
    })
    expect(other.body).toEqual({ address: wallet(5), verified: false })
  })

  test('a revocation is what verify says once it is answered', async () => {
    const { ADMIN_URL = '', ADMIN_API_KEY = '' } = service.quickstart
    const admin = async (method: string, path: string, body?: object) => {
      const response = await fetch(`${ADMIN_URL}/organizations/demo/sessions/${path}`, {
        method,
        headers: { authorization: `Bearer ${ADMIN_API_KEY}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return (await response.json()) as Record<string, unknown>
    }
    const verified = async (number: number) =>
      (await call('/verify', { method: 'POST', key: oursTest, body: { address: wallet(number) } })).body['verified']
    for (let number = 40; number < 50; number++) {
      const id = await registered('individual', {
        key: oursTest,
        body: { walletAddress: wallet(number) },
        headers: { [SANDBOX]: 'completed' },
      })
      expect(await verified(number)).toBe(true)
      const { sequence } = await admin('GET', id)
      const revoked = await admin('POST', `${id}/revoke`, { status: 'rejected', sequence, private_comment: 'fraud' })
      expect([revoked['status'], await verified(number)]).toEqual(['rejected', false])
    }
  })

  test(
    'stops verifying as soon as the level is raised, and a rejection stays whatever is registered after it',
    TIMEOUT_MS,
    async () => {
      const asTest = (outcome: string, number: number) =>
        registered('individual', {
          key: oursTest,
          body: { walletAddress: wallet(number) },
          headers: { [SANDBOX]: outcome },
        })
      const verified = async (number: number) =>
        (await call('/verify', { method: 'POST', key: oursTest, body: { address: wallet(number) } })).body['verified']
      await asTest('completed', 6)
      expect(await verified(6)).toBe(true)
      await command('org', 'level', 'demo', 'enhanced')
      try {
        await within(() => verified(6), false)
        await asTest('completed', 6)
        expect(await verified(6)).toBe(true)
      } finally {
        await command('org', 'level', 'demo', 'basic')
      }
      await asTest('rejected', 6)
      expect(await verified(6)).toBe(false)
      const again = await register('individual', { key: oursTest, body: { walletAddress: wallet(6) } })
      expect(again.status).toBe(201)
      expect(
        (await call('/verify', { method: 'POST', key: oursTest, body: { address: wallet(6) } })).body,
      ).toMatchObject({ verified: false, status: 'pending', checkType: null, verifiedAt: null, wallets: [] })
    },
  )

  test('is decided by two operators at once: one decides, the other is told', TIMEOUT_MS, async () => {
    const sessionId = await registered('individual')
    const decisions = await Promise.all(
      ['completed', 'rejected', 'completed', 'rejected'].map((status) =>
        runCommand(service.dataDirectory, 'session', 'decide', sessionId, status, '--note', 'A test.'),
      ),
    )
    expect(decisions.map(({ code }) => code).sort()).toEqual([0, 1, 1, 1])
    const decided = decisions.findIndex(({ code }) => code === 0)
    const wanted = ['completed', 'rejected', 'completed', 'rejected'][decided]
    await within(async () => (await call(`/status/individual/${sessionId}`)).body['status'], wanted)
  })
})

describe('refused', () => {
  const routes: readonly [string, string, unknown][] = [
    ['POST', '/register/individual', null],
    ['POST', '/register/business', null],
    ['GET', `/status/individual/${ABSENT}`, null],
    ['GET', `/status/realtime/individual/${ABSENT}`, null],
    ['POST', '/verify', { address: WALLET }],
  ]

  test.each(routes)('%s %s without a key that is for it', async (method, path, body) => {
    const options = { method, ...(body === null ? {} : { body }) }
    expectProblem(await call(path, { ...options, key: null }), 401, 'UNAUTHENTICATED')
    const broken = await call(path, { ...options, key: `${ours.slice(0, -1)}${ours.endsWith('0') ? '1' : '0'}` })
    expect(broken.status).toBe(401)
    expect(broken.headers.get('www-authenticate')).toStartWith('Bearer')
    expect((await call(path, { ...options, key: attestation })).status).toBe(403)
    const asHeader = await call(path, { ...options, key: null, headers: { 'x-api-key': ours } })
    expect(asHeader.status).toBe(401)
  })

  test.each(['79', '2001', '', '300.5', '-1', '1e3', '300&size=300'])('size=%s, naming the range', async (size) => {
    const answer = await call(`/register/individual?size=${size}`, { method: 'POST' })
    expect(answer.status).toBe(400)
    expect(String(answer.body['detail'])).toContain('80 to 2000')
  })

  test.each(['person', 'INDIVIDUAL', 'kyc', '%69ndividual', ''])('type %p: 404', async (type) => {
    const sessionId = await registered('individual')
    expect((await call(`/register/${type}`, { method: 'POST' })).status).toBe(404)
    expect((await call(`/status/${type}/${sessionId}`)).status).toBe(404)
    expect((await call(`/status/realtime/${type}/${sessionId}`)).status).toBe(404)
  })

  test.each(['x', '0', 'null', `${ABSENT}0`, ABSENT.replaceAll('-', ''), '%00', '..%2f..%2fverify'])(
    'session id %p: 404',
    async (id) => {
      expectProblem(await call(`/status/individual/${id}`), 404, 'NOT_FOUND')
      expectProblem(await call(`/status/realtime/individual/${id}`), 404, 'NOT_FOUND')
    },
  )

  test.each([
    { originUrl: 'http://app.example' },
    { originUrl: 'https://user:secret@app.example' },
    { originUrl: 'javascript:alert(1)' },
    { originUrl: `https://app.example/${'a'.repeat(2_048)}` },
    { originUrl: 7 },
    { walletAddress: '0x1' },
    { walletAddress: `${WALLET}0` },
    { walletAddress: SOLANA.toLowerCase() },
    { walletAddress: [WALLET] },
  ])('a registration with %p, and nothing of it is repeated', async (body) => {
    const answer = await register('individual', { body })
    expect(answer.status).toBe(400)
    expect(String(answer.body['detail'])).toContain(Object.keys(body)[0]!)
    expect(JSON.stringify(answer.body)).not.toContain('secret')
  })

  test.each([
    ['{"address":"x","address":"y"}', 400],
    ['{', 400],
    ['[]', 400],
    [`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`, 400],
    [JSON.stringify({ address: '' }), 400],
    [JSON.stringify({ address: 'nobody' }), 400],
    [JSON.stringify({ address: WALLET, type: 'kyc' }), 400],
    [JSON.stringify({ address: WALLET, padding: 'x'.repeat(300_000) }), 413],
  ])('a verification with %p', async (body, status) => {
    expect((await call('/verify', { method: 'POST', body })).status).toBe(status)
  })

  test('a body of another type: 415', async () => {
    const headers = { 'content-type': 'text/plain' }
    expect((await call('/verify', { method: 'POST', body: '{}', headers })).status).toBe(415)
    expect((await register('individual', { body: '{}', headers })).status).toBe(415)
  })

  test('a sandbox outcome that is none, with a test key', async () => {
    const answer = await register('individual', { key: oursTest, headers: { [SANDBOX]: 'verified' } })
    expectProblem(answer, 400, 'INVALID_HEADER')
  })
})

/** One request as bytes, for what no client would send; the first line of the answer. */
const raw = async (head: string): Promise<string> => {
  const { hostname, port } = new URL(service.url)
  const answer = Promise.withResolvers<string>()
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data: (_socket, chunk) => answer.resolve(chunk.toString('latin1').split('\r\n', 1)[0] ?? ''),
      close: () => answer.resolve('closed'),
    },
  })
  socket.write(`${head}\r\n\r\n`)
  const line = await answer.promise
  socket.terminate()
  return line
}

describe('a Host header of any kind', () => {
  test.each([
    'Host: [',
    'Host:',
    'Host: a b',
    'Host: evil/api/v1/status/individual/x',
    'Host: a?size=9',
    'Host: a#b',
    'X-No-Host: 1',
  ])('%p leads nowhere else', async (host) => {
    const sessionId = await registered('individual')
    const key = `Authorization: Bearer ${ours}`
    const status = await raw(`GET /api/v1/status/individual/${sessionId} HTTP/1.1\r\n${host}\r\n${key}`)
    const made = await raw(
      `POST /api/v1/register/individual?size=80 HTTP/1.1\r\n${host}\r\n${key}\r\nContent-Length: 0`,
    )
    const provider = await raw(
      `POST /api/v1/provider/x/sessions/${sessionId}/result HTTP/1.1\r\n${host}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
    )
    // Refused as a request, or answered as it is without it: never a failure of the service.
    expect([status, made, provider].map((line) => line.slice(9, 12)).join(' ')).toMatch(/^(200 201 401|400 400 400)$/)
  })
})

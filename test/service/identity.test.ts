// What two customers of one service can do to each other's sessions, what decides a session at once, and Host headers that
// lead nowhere else. The lines of interface B one by one: test/conformance/identity-sessions and identity-verify.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Caller, createCaller, createTenant, expectProblem, walletOf } from '../conformance/identity-caller.ts'
import { until } from '../support/until.ts'
import { type RunningService, runCommand, startService } from './start-service.ts'

const TIMEOUT_MS = 60_000
const ABSENT = '01890000-0000-7000-8000-000000000000'

let service: RunningService
let ours: Caller
let oursTest: Caller
let theirs: Caller

beforeAll(async () => {
  service = await startService({ environment: { COUNTERSIGN_WORKERS: '1' } })
  ours = createCaller(service, service.quickstart['IDENTITY_API_KEY'] ?? '')
  oursTest = createCaller(service, service.quickstart['IDENTITY_TEST_API_KEY'] ?? '')
  theirs = (await createTenant(service, 'rival')).live
}, TIMEOUT_MS)
afterAll(() => service.stop())

const ROUTES = ['/api/v1/status', '/api/v1/status/realtime'] as const
const get = (caller: Caller, path: string): Promise<Response> => caller.send('GET', path)
const statusOf = async (response: Response): Promise<number> => {
  await response.body?.cancel()
  return response.status
}
/** With a test key, whose sessions end as the header says. */
const ended = (outcome: string, name: string) =>
  oursTest.registered({ body: { walletAddress: walletOf(name) }, headers: { 'countersign-sandbox-outcome': outcome } })
const isVerified = async (caller: Caller, name: string): Promise<unknown> =>
  (await caller.verified({ address: walletOf(name) }))['verified']

describe('another customer’s session', () => {
  let sessionId: string
  beforeAll(async () => {
    sessionId = (await theirs.registered({ body: { walletAddress: walletOf('theirs') } })).sessionId
  })

  test.each(ROUTES)('is unknown to GET %s, word for word as one that never was', async (route) => {
    const unknown = async (id: string) => {
      const response = await get(ours, `${route}/individual/${id}`)
      const problem = (await response.clone().json()) as object
      await expectProblem(response, 404, 'NOT_FOUND')
      return { ...problem, request_id: '' }
    }
    expect(await statusOf(await get(theirs, `${route}/individual/${sessionId}`))).toBe(200)
    expect(await unknown(sessionId)).toEqual(await unknown(ABSENT))
  })

  test('is not decided, shown or read by command in one’s own name', TIMEOUT_MS, async () => {
    for (const words of [
      ['session', 'show', sessionId],
      ['session', 'decide', sessionId, 'completed', '--override'],
      ['evidence', 'show', sessionId],
      ['evidence', 'erase', sessionId],
    ]) {
      expect(await runCommand(service.dataDirectory, ...words)).toMatchObject({ code: 1 })
    }
    expect((await theirs.statusOf(sessionId)).status).toBe('pending')
  })
})

describe('one’s own session', () => {
  test.each(ROUTES)('GET %s: unknown under another type and to a key of the other environment', async (route) => {
    const { sessionId } = await ours.registered()
    for (const type of ['business', 'person', 'INDIVIDUAL', 'kyc', '%69ndividual', '']) {
      expect(await statusOf(await get(ours, `${route}/${type}/${sessionId}`))).toBe(404)
    }
    await expectProblem(await get(oursTest, `${route}/individual/${sessionId}`), 404, 'NOT_FOUND')
    expect(await statusOf(await get(ours, `${route}/individual/${sessionId.toUpperCase()}`))).toBe(200)
  })

  test('that a test key completed verifies nobody for a live key', async () => {
    await ended('completed', 'a trial')
    expect([await isVerified(oursTest, 'a trial'), await isVerified(ours, 'a trial')]).toEqual([true, false])
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
    for (let number = 0; number < 10; number++) {
      const name = `revoked ${number}`
      const { sessionId } = await ended('completed', name)
      expect(await isVerified(oursTest, name)).toBe(true)
      const { sequence } = await admin('GET', sessionId)
      const reason = { status: 'rejected', sequence, private_comment: 'fraud' }
      const revoked = await admin('POST', `${sessionId}/revoke`, reason)
      expect([revoked['status'], await isVerified(oursTest, name)]).toEqual(['rejected', false])
    }
  })

  test('a rejection stays whatever is registered after it', async () => {
    await ended('completed', 'rejected')
    await ended('rejected', 'rejected')
    expect(await isVerified(oursTest, 'rejected')).toBe(false)
    const address = walletOf('rejected')
    expect((await oursTest.registered({ body: { walletAddress: address } })).httpStatus).toBe(201)
    const nothing = { checkType: null, verifiedAt: null, wallets: [] }
    expect(await oursTest.verified({ address })).toMatchObject({ verified: false, status: 'pending', ...nothing })
  })

  test('is decided by two operators at once: one decides, the other is told', TIMEOUT_MS, async () => {
    const { sessionId } = await ours.registered()
    const statuses = ['completed', 'rejected', 'completed', 'rejected']
    const decisions = await Promise.all(
      statuses.map((status) => {
        const flags = status === 'completed' ? ['--override'] : []
        return runCommand(service.dataDirectory, 'session', 'decide', sessionId, status, '--note', 'A test.', ...flags)
      }),
    )
    expect(decisions.map(({ code }) => code).sort()).toEqual([0, 1, 1, 1])
    const wanted = statuses[decisions.findIndex(({ code }) => code === 0)]
    await until(async () => (await ours.statusOf(sessionId)).status === wanted)
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
    const { sessionId } = await ours.registered()
    const key = `Authorization: Bearer ${ours.key}`
    const status = await raw(`GET /api/v1/status/individual/${sessionId} HTTP/1.1\r\n${host}\r\n${key}`)
    const made = await raw(
      `POST /api/v1/register/individual?size=80 HTTP/1.1\r\n${host}\r\n${key}\r\nContent-Length: 0`,
    )
    const provider = await raw(
      // The line ends that follow are a part of the body.
      `POST /api/v1/provider/x/sessions/${sessionId}/result HTTP/1.1\r\n${host}\r\nContent-Type: application/json\r\nContent-Length: 6\r\n\r\n{}`,
    )
    // Refused as a request, or answered as it is without it: never a failure of the service.
    expect([status, made, provider].map((line) => line.slice(9, 12)).join(' ')).toMatch(/^(200 201 401|400 400 400)$/)
  })
})

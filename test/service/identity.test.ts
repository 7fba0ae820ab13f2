// Verifications that end at once, and Host headers that lead nowhere else. The identity API itself is in
// test/conformance/identity-sessions.test.ts and identity-verify.test.ts.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Caller, createCaller, walletOf } from '../conformance/identity-caller.ts'
import { type RunningService, startService } from './start-service.ts'

const TIMEOUT_MS = 60_000

let service: RunningService
let ours: Caller
let oursTest: Caller

beforeAll(async () => {
  service = await startService({ environment: { COUNTERSIGN_WORKERS: '1' } })
  ours = createCaller(service, service.quickstart['IDENTITY_API_KEY'] ?? '')
  oursTest = createCaller(service, service.quickstart['IDENTITY_TEST_API_KEY'] ?? '')
}, TIMEOUT_MS)
afterAll(() => service.stop())

/** With a test key, whose sessions end as the header says. */
const ended = (outcome: string, name: string) =>
  oursTest.registered({ body: { walletAddress: walletOf(name) }, headers: { 'countersign-sandbox-outcome': outcome } })
const isVerified = async (caller: Caller, name: string): Promise<unknown> =>
  (await caller.verified({ address: walletOf(name) }))['verified']

describe('one’s own session', () => {
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

// Sandbox verifications and malformed Host headers. test/conformance contains the tests of the identity API.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Caller, createCaller, walletOf } from '../conformance/identity-caller.ts'
import { exchange } from '../server/exchange.ts'
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

/** Registers a session of a test key, which ends with this outcome. */
const ended = (outcome: string, name: string) =>
  oursTest.registered({ body: { walletAddress: walletOf(name) }, headers: { 'countersign-sandbox-outcome': outcome } })
const isVerified = async (caller: Caller, name: string): Promise<unknown> =>
  (await caller.verified({ address: walletOf(name) }))['verified']

describe('a session', () => {
  test('of a test key does not verify a wallet for a live key', async () => {
    await ended('completed', 'a trial')
    expect([await isVerified(oursTest, 'a trial'), await isVerified(ours, 'a trial')]).toEqual([true, false])
  })

  test('that was revoked no longer verifies its wallet', async () => {
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

  test('after a rejection does not restore the verification', async () => {
    await ended('completed', 'rejected')
    await ended('rejected', 'rejected')
    expect(await isVerified(oursTest, 'rejected')).toBe(false)
    const address = walletOf('rejected')
    expect((await oursTest.registered({ body: { walletAddress: address } })).httpStatus).toBe(201)
    const nothing = { checkType: null, verifiedAt: null, wallets: [] }
    expect(await oursTest.verified({ address })).toMatchObject({ verified: false, status: 'pending', ...nothing })
  })
})

test.each([
  'Host: [',
  'Host:',
  'Host: a b',
  'Host: evil/api/v1/status/individual/x',
  'Host: a?size=9',
  'Host: a#b',
  'X-No-Host: 1',
])('the header %p has no effect, or is refused', async (host) => {
  const { sessionId } = await ours.registered()
  const statusOf = async (request: string, headers: string, body = ''): Promise<string> => {
    const head = `${request} HTTP/1.1\r\n${host}\r\nConnection: close\r\n${headers}\r\n\r\n`
    return (await exchange(Number(new URL(service.url).port), head + body)).slice(9, 12)
  }
  const key = `Authorization: Bearer ${ours.key}`
  const json = 'Content-Type: application/json\r\nContent-Length: 2'
  const statuses = [
    await statusOf(`GET /api/v1/status/individual/${sessionId}`, key),
    await statusOf('POST /api/v1/register/individual?size=80', `${key}\r\nContent-Length: 0`),
    await statusOf(`POST /api/v1/provider/x/sessions/${sessionId}/result`, json, '{}'),
  ]
  expect(statuses.join(' ')).toMatch(/^(200 201 401|400 400 400)$/)
})

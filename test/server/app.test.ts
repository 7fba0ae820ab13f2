// The API listener: requests without a route, and the routes for operators.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { type AppOptions, startApp } from '../../src/compose/app.ts'
import { systemClock } from '../../src/lib/time.ts'
import type { RefusalPacer } from '../../src/server/event-loop-turns.ts'
import type { Listener } from '../../src/server/listener.ts'
import {
  createMetricsAnswer,
  isFromThisMachine,
  operationsRoutes,
  type ReadinessCheck,
} from '../../src/server/operations.ts'
import { createRequestIds } from '../../src/server/request-id.ts'
import { requestPath } from '../../src/server/request-path.ts'
import { until } from '../support/until.ts'
import { words } from '../support/words.ts'
import { exchange } from './exchange.ts'

let app: Listener
let port: number
let readiness: () => Promise<readonly ReadinessCheck[]>
const refusals: [number, string][] = []
const reported: unknown[] = []
/** Delays refusals; null if refusals are sent immediately. */
let hold: Promise<void> | null = null
let arrivals = 0
const pacer: RefusalPacer = {
  arrived: () => {
    arrivals += 1
  },
  refuse: (make) => (hold === null ? make() : hold.then(make)),
}

const metricsAnswer = createMetricsAnswer({
  requestIds: createRequestIds('test'),
  contentType: 'text/plain; version=0.0.4',
  expose: async () => 'x 1\n',
  monotonicMs: systemClock.monotonicMs,
})

/** Each endpoint answers with its name. */
const endpoints = <Endpoints extends object>(): Endpoints =>
  new Proxy({} as Endpoints, { get: (_, name) => async () => new Response(String(name)) })

beforeAll(() => {
  app = startApp({
    listen: { hostname: '127.0.0.1', port: 0 },
    publicUrl: 'http://127.0.0.1',
    tls: null,
    shared: false,
    idleTimeoutSeconds: 30,
    endpoints: endpoints<NonNullable<AppOptions['endpoints']>>(),
    identity: endpoints<NonNullable<AppOptions['identity']>>(),
    operations: {
      readiness: () => readiness(),
      describe: () => ({ signer: 'test' }),
      requestIds: createRequestIds('test'),
      metrics: { answer: metricsAnswer, isOpen: false },
      document: null,
    },
    logFiles: async (path) => (path === '/checkpoint' ? { content: 'head', contentType: 'text/plain' } : null),
    requestIds: createRequestIds('test'),
    pacer,
    report: (error) => reported.push(error),
    recordRefusal: (status, code) => refusals.push([status, code]),
  })
  port = Number(new URL(app.url).port)
})
afterAll(() => app.stopNow())
beforeEach(() => {
  readiness = async () => [{ name: 'store', ok: true }]
  hold = null
  arrivals = 0
  refusals.length = 0
  reported.length = 0
})

/** Unusual request heads; each closes the connection. */
const HEADS: readonly (readonly [string, string])[] = [
  ['Host: [', 'HTTP/1.1\r\nHost: [\r\nConnection: close'],
  ['an empty Host', 'HTTP/1.1\r\nHost:\r\nConnection: close'],
  ['a Host with a path', 'HTTP/1.1\r\nHost: x/livez?y#z\r\nConnection: close'],
  ['a Host with a space', 'HTTP/1.1\r\nHost: a b\r\nConnection: close'],
  ['HTTP/1.0 without Host', 'HTTP/1.0'],
]
const request = (method: string, path: string, head: string): Promise<string> =>
  exchange(port, `${method} ${path} ${head}\r\n\r\n`)

describe.each(HEADS)('%s', (_name, head) => {
  test('gets 404 for an unknown path', async () => {
    const answer = await request('GET', '/nope?a=/livez', head)
    expect(answer).toMatch(/^HTTP\/1\.[01] 404 /)
    expect(answer).toMatch(/^content-type: application\/problem\+json\r$/im)
    expect(answer).toContain('"code":"NOT_FOUND"')
    expect(answer).not.toMatch(/<html|src\/app/i)
    expect(refusals).toEqual([[404, 'NOT_FOUND']])
  })

  test('gets 405 for another method', async () => {
    const answer = await request('DELETE', '/v2/attestation?x', head)
    expect(answer).toMatch(/^HTTP\/1\.[01] 405 /)
    expect(answer).toMatch(/^allow: POST\r$/im)
    expect(refusals).toEqual([[405, 'METHOD_NOT_ALLOWED']])
  })

  test('gets a response for a known path', async () => {
    expect(await request('GET', '/livez', head)).toMatch(/^HTTP\/1\.[01] 200 /)
    expect(refusals).toEqual([])
  })
})

test('a refusal waits for the pacer', async () => {
  const open = Promise.withResolvers<void>()
  hold = open.promise
  const answer = fetch(`${app.url}/nope`)
  await until(() => arrivals > 0)
  expect((await fetch(`${app.url}/livez`)).status).toBe(200)
  expect(refusals).toEqual([])
  open.resolve()
  expect((await answer).status).toBe(404)
  expect(arrivals).toBe(1)
})

test('a path has only one spelling', async () => {
  const plain = 'HTTP/1.1\r\nHost: x\r\nConnection: close'
  const paths = words`
    /metrics/ /nope/metrics /nope?/metrics /x/../metrics /./metrics //metrics /metrics// /%6detrics /Metrics
  `
  for (const path of [...paths, '/x/../api/v1/status/individual/1', '/api/v1/status/individual/1/']) {
    expect([path, (await request('GET', path, plain)).slice(0, 12)]).toEqual([path, 'HTTP/1.1 404'])
  }
  expect(refusals).toHaveLength(paths.length + 2)
  for (const path of ['/metrics?x', '/api/v1/status/individual/1'])
    expect(await request('GET', path, plain)).toStartWith('HTTP/1.1 200')
})

test.each(['HTTP/1.0', 'HTTP/1.1\r\nHost: x\r\nConnection: close'])(
  'text before a path is not ignored: %s',
  async (head) => {
    for (let length = 0; length < 16; length++) {
      const path = `/${'n'.repeat(length)}/livez`
      for (const method of ['GET', 'PUT']) {
        expect([path, (await request(method, path, head)).slice(8, 12)]).toEqual([path, ' 404'])
      }
    }
  },
)

test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('%s is 405 for a GET route', async (method) => {
  const refused = await fetch(`${app.url}/livez`, { method })
  expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET'])
  expect(await refused.json()).toMatchObject({ code: 'METHOD_NOT_ALLOWED' })
})

test('HEAD is answered for GET routes only', async () => {
  expect((await fetch(`${app.url}/livez`, { method: 'HEAD' })).status).toBe(200)
  expect((await fetch(`${app.url}/v2/attestation`, { method: 'HEAD' })).status).toBe(405)
  expect((await fetch(`${app.url}/v2/attestation`)).headers.get('allow')).toBe('POST')
})

test('an unexpected error of a route is reported and counted, and its text is hidden', async () => {
  readiness = async () => {
    throw new Error('canary')
  }
  const response = await fetch(`${app.url}/readyz`)
  expect(response.status).toBe(500)
  expect(await response.text()).not.toContain('canary')
  expect(refusals).toEqual([[500, 'INTERNAL']])
  expect(reported).toEqual([new Error('canary')])
})

describe('metrics', () => {
  test.each<[Record<string, string>, number]>([
    [{}, 200],
    [{ 'x-forwarded-for': '127.0.0.1' }, 404],
    [{ forwarded: 'for=10.0.0.1' }, 404],
    [{ via: '1.1 proxy' }, 404],
    [{ 'x-real-ip': '10.0.0.1' }, 404],
  ])('accept only programs on this machine without a proxy: %j', async (headers, status) => {
    expect((await fetch(`${app.url}/metrics`, { headers })).status).toBe(status)
  })

  test.each([
    ...['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'].map((peer) => [peer, true] as const),
    ...['10.0.0.1', '203.0.113.7', '::ffff:10.0.0.1', 'fe80::1', 'localhost', ''].map((peer) => [peer, false] as const),
  ])('the peer %p is this machine: %p', (peer, expected) => {
    expect(isFromThisMachine(peer, new Headers())).toBe(expected)
  })

  test.each([false, true])('accept all callers if the operator allows it: %p', async (isOpen) => {
    const routes = operationsRoutes({
      readiness: async () => [],
      describe: () => ({}),
      requestIds: createRequestIds('test'),
      metrics: { answer: metricsAnswer, isOpen },
      document: null,
    })
    // Without a connection, the caller is unknown.
    expect((await routes.handle(new Request('http://host/metrics'))).ok).toBe(isOpen)
  })
})

test('each response has the id of its request', async () => {
  const ids = async (path: string) => {
    const own = await fetch(`${app.url}${path}`, { headers: { 'x-request-id': 'mine' } })
    const made = await fetch(`${app.url}${path}`)
    return { status: own.status, own: own.headers.get('x-request-id'), made: made.headers.get('x-request-id') }
  }
  const made = expect.stringMatching(/^test-[0-9a-z]+$/)
  for (const path of ['/livez', '/readyz', '/metrics']) {
    expect(await ids(path)).toEqual({ status: 200, own: 'mine', made })
  }
  expect(await ids('/nope')).toEqual({ status: 404, own: 'mine', made })
  readiness = async () => [{ name: 'store', ok: false }]
  expect(await ids('/readyz')).toEqual({ status: 503, own: 'mine', made })
  const failing = await fetch(`${app.url}/readyz`, { headers: { 'x-request-id': 'mine' } })
  expect(await failing.json()).toMatchObject({ request_id: 'mine', ready: false, checks: { store: 'failing' } })
})

test.each([
  ['http://host/a/b?c=/d', '/a/b'],
  ['http://[/a', '/a'],
  ['https://host:1/a#b', '/a'],
  ['/a?http://x/y', '/a'],
  ['//a/b', '//a/b'],
  ['http://host', '/'],
  ['', ''],
])('the path of %p is %p', (url, path) => expect(requestPath(url)).toBe(path))

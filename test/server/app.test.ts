// The API listener itself: what no route answers, and the routes for orchestrators.
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
/** What refusals wait for; null: nothing. */
let held: Promise<void> | null = null
let arrivals = 0
const pacer: RefusalPacer = {
  arrived: () => {
    arrivals += 1
  },
  refuse: (make) => (held === null ? make() : held.then(make)),
}

const metricsAnswer = createMetricsAnswer({
  requestIds: createRequestIds('test'),
  contentType: 'text/plain; version=0.0.4',
  expose: async () => 'x 1\n',
  monotonicMs: systemClock.monotonicMs,
})

/** Every endpoint answers with its name. */
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
  held = null
  arrivals = 0
  refusals.length = 0
  reported.length = 0
})

/** The heads that a caller may send beside an ordinary one; each closes the connection. */
const HEADS: readonly (readonly [string, string])[] = [
  ['Host: [', 'HTTP/1.1\r\nHost: [\r\nConnection: close'],
  ['an empty Host', 'HTTP/1.1\r\nHost:\r\nConnection: close'],
  ['a Host with a path', 'HTTP/1.1\r\nHost: x/livez?y#z\r\nConnection: close'],
  ['a Host with a space', 'HTTP/1.1\r\nHost: a b\r\nConnection: close'],
  ['HTTP/1.0 without Host', 'HTTP/1.0'],
]
const ask = (method: string, path: string, head: string): Promise<string> =>
  exchange(port, `${method} ${path} ${head}\r\n\r\n`)

describe.each(HEADS)('%s', (_name, head) => {
  test('an unknown path is a 404 of ours', async () => {
    const answer = await ask('GET', '/nope?a=/livez', head)
    expect(answer).toMatch(/^HTTP\/1\.[01] 404 /)
    expect(answer).toMatch(/^content-type: application\/problem\+json\r$/im)
    expect(answer).toContain('"code":"NOT_FOUND"')
    expect(answer).not.toMatch(/<html|src\/app/i)
    expect(refusals).toEqual([[404, 'NOT_FOUND']])
  })

  test('a wrong method is a 405 of ours', async () => {
    const answer = await ask('DELETE', '/v2/attestation?x', head)
    expect(answer).toMatch(/^HTTP\/1\.[01] 405 /)
    expect(answer).toMatch(/^allow: POST\r$/im)
    expect(refusals).toEqual([[405, 'METHOD_NOT_ALLOWED']])
  })

  test('a known path answers', async () => {
    expect(await ask('GET', '/livez', head)).toMatch(/^HTTP\/1\.[01] 200 /)
    expect(refusals).toEqual([])
  })
})

test('what no route answers leaves when the pacer lets it', async () => {
  const open = Promise.withResolvers<void>()
  held = open.promise
  const answer = fetch(`${app.url}/nope`)
  await until(() => arrivals > 0)
  expect((await fetch(`${app.url}/livez`)).status).toBe(200)
  expect(refusals).toEqual([])
  open.resolve()
  expect((await answer).status).toBe(404)
  expect(arrivals).toBe(1)
})

test('a path has one spelling', async () => {
  const plain = 'HTTP/1.1\r\nHost: x\r\nConnection: close'
  const paths = words`
    /metrics/ /nope/metrics /nope?/metrics /x/../metrics /./metrics //metrics /metrics// /%6detrics /Metrics
  `
  for (const path of [...paths, '/x/../api/v1/status/individual/1', '/api/v1/status/individual/1/']) {
    expect({ path, answer: (await ask('GET', path, plain)).slice(0, 12) }).toEqual({ path, answer: 'HTTP/1.1 404' })
  }
  expect(refusals).toHaveLength(paths.length + 2)
  expect(await ask('GET', '/metrics?x', plain)).toStartWith('HTTP/1.1 200')
  expect(await ask('GET', '/api/v1/status/individual/1', plain)).toStartWith('HTTP/1.1 200')
})

test.each(['HTTP/1.0', 'HTTP/1.1\r\nHost: x\r\nConnection: close'])(
  'nothing before a path is cut off: %s',
  async (head) => {
    for (let length = 0; length < 16; length++) {
      const path = `/${'n'.repeat(length)}/livez`
      expect({ path, answer: (await ask('GET', path, head)).slice(8, 12) }).toEqual({ path, answer: ' 404' })
      expect({ path, answer: (await ask('PUT', path, head)).slice(8, 12) }).toEqual({ path, answer: ' 404' })
    }
  },
)

test('every other method is 405, and HEAD is answered where GET is', async () => {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const refused = await fetch(`${app.url}/livez`, { method })
    expect({ method, status: refused.status, allow: refused.headers.get('allow') }).toEqual({
      method,
      status: 405,
      allow: 'GET',
    })
    expect(await refused.json()).toMatchObject({ code: 'METHOD_NOT_ALLOWED' })
  }
  expect((await fetch(`${app.url}/livez`, { method: 'HEAD' })).status).toBe(200)
  expect((await fetch(`${app.url}/v2/attestation`, { method: 'HEAD' })).status).toBe(405)
  expect((await fetch(`${app.url}/v2/attestation`)).headers.get('allow')).toBe('POST')
})

test('what a route throws is reported and counted, and shows nothing', async () => {
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
  test('are answered to programs of this machine, and not through a proxy', async () => {
    for (const [headers, status] of [
      [{}, 200],
      [{ 'x-forwarded-for': '127.0.0.1' }, 404],
      [{ forwarded: 'for=10.0.0.1' }, 404],
      [{ via: '1.1 proxy' }, 404],
      [{ 'x-real-ip': '10.0.0.1' }, 404],
    ] as const) {
      expect([headers, (await fetch(`${app.url}/metrics`, { headers })).status]).toEqual([headers, status])
    }
    for (const peer of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']) {
      expect([peer, isFromThisMachine(peer, new Headers())]).toEqual([peer, true])
    }
    for (const peer of ['10.0.0.1', '203.0.113.7', '::ffff:10.0.0.1', 'fe80::1', 'localhost', '']) {
      expect([peer, isFromThisMachine(peer, new Headers())]).toEqual([peer, false])
    }
  })

  test('are rendered at most once per second', async () => {
    let nowMs = 0
    let renderings = 0
    const answer = createMetricsAnswer({
      requestIds: createRequestIds('test'),
      contentType: 'text/plain',
      expose: async () => `x ${++renderings}\n`,
      monotonicMs: () => nowMs,
    })
    const read = async () => (await answer(new Request('http://host/metrics'))).text()
    expect(await Promise.all([read(), read()])).toEqual(['x 1\n', 'x 1\n'])
    nowMs = 999
    expect(await read()).toBe('x 1\n')
    nowMs = 1_000
    expect(await read()).toBe('x 2\n')
  })

  test('are answered to every caller only if the operator chose so', async () => {
    for (const isOpen of [false, true]) {
      const routes = operationsRoutes({
        readiness: async () => [],
        describe: () => ({}),
        requestIds: createRequestIds('test'),
        metrics: { answer: metricsAnswer, isOpen },
        document: null,
      })
      // Without a connection, the caller is unknown.
      expect((await routes.handle(new Request('http://host/metrics'))).ok).toBe(isOpen)
    }
  })
})

test('every answer names its request', async () => {
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

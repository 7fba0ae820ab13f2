// Security headers of every kind of response of every listener (ASVS 3.4), for a service with https URLs.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createHarden, STRICT_TRANSPORT_SECURITY } from '../../src/server/security-headers.ts'
import { projectRequest } from './calls.ts'
import { freePort, type RunningService, startAlone } from './start-service.ts'

setDefaultTimeout(60_000)
const ports = { portal: freePort(), dashboard: freePort() }
let service: RunningService
const keys = (): Readonly<Record<string, string>> => service.quickstart

beforeAll(async () => {
  service = await startAlone({
    environment: {
      COUNTERSIGN_WORKERS: '1',
      COUNTERSIGN_PORTAL_LISTEN: `127.0.0.1:${ports.portal}`,
      COUNTERSIGN_DASHBOARD_LISTEN: `127.0.0.1:${ports.dashboard}`,
      COUNTERSIGN_API_URL: 'https://api.example.com',
      COUNTERSIGN_PORTAL_URL: 'https://verify.example.com',
      COUNTERSIGN_DASHBOARD_URL: 'https://admin.example.com',
    },
  })
})
afterAll(() => service?.stop())

const EXPECTED = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
  'cross-origin-resource-policy': 'same-origin',
  'strict-transport-security': STRICT_TRANSPORT_SECURITY,
}

const check = (name: string, { headers }: Response): void => {
  const found = Object.keys(EXPECTED).map((header) => [header, headers.get(header)])
  expect({ name, ...Object.fromEntries(found) }).toEqual({ name, ...EXPECTED })
  const type = headers.get('content-type') ?? ''
  if (type.startsWith('text/')) expect({ name, type }).toEqual({ name, type: expect.stringMatching(/charset=utf-8/i) })
  if (type.startsWith('text/html')) {
    expect({ name, opener: headers.get('cross-origin-opener-policy') }).toMatchObject({
      opener: expect.stringMatching(/^same-origin/),
    })
  }
}

interface Exchange {
  readonly status: number
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** Sends a request, and checks the status and the headers of the response. Returns the body, except for streams. */
const request = async (base: string, path: string, exchange: Exchange): Promise<string> => {
  const { status, method = 'GET', headers = {}, body } = exchange
  const stream = new AbortController()
  const response = await fetch(`${base}${path}`, {
    method,
    redirect: 'manual',
    signal: stream.signal,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const name = `${method} ${path}`
  expect({ name, status: response.status }).toEqual({ name, status })
  check(name, response)
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) return await response.text()
  stream.abort()
  return ''
}

describe('the API', () => {
  const api = (path: string, exchange: Exchange): Promise<string> => request(service.url, path, exchange)

  test('sends them with attestations and refusals', async () => {
    const attestation = projectRequest(service)
    const headers = { 'x-api-key': keys()['ATTESTATION_API_KEY'] ?? '' }
    const post = { method: 'POST', headers }
    const text = { ...headers, 'content-type': 'text/plain' }
    await api('/v2/attestation', { ...post, status: 200, body: attestation })
    await api('/v2/attestation', { ...post, status: 400, body: '{' })
    await api('/v2/attestation', { method: 'POST', status: 401, body: attestation })
    await api('/v2/attestation', { method: 'POST', status: 415, headers: text, body: '{}' })
    await api('/v2/attestations', { ...post, status: 200, body: { requests: [attestation] } })
    await api('/v1/task', { ...post, status: 400, body: {} })
  })

  test('sends them with responses and streams of the identity API', async () => {
    const headers = { authorization: `Bearer ${keys()['IDENTITY_API_KEY']}` }
    const registered = await api('/api/v1/register/individual', {
      method: 'POST',
      status: 201,
      headers,
      body: { walletAddress: '0x2222222222222222222222222222222222222222', walletChainId: 8453 },
    })
    const { sessionId } = JSON.parse(registered) as { sessionId: string }
    await api(`/api/v1/status/individual/${sessionId}`, { status: 200, headers })
    await api(`/api/v1/status/realtime/individual/${sessionId}`, { status: 200, headers })
    await api('/api/v1/verify', { method: 'POST', status: 401, body: {} })
    await api('/api/v1/provider/x/sessions/y/result', { method: 'POST', status: 401, body: {} })
  })

  test('sends them with health, metrics, and unknown routes', async () => {
    for (const path of ['/livez', '/readyz', '/metrics']) await api(path, { status: 200 })
    await api('/nope', { status: 404 })
    await api('/livez', { status: 405, method: 'DELETE' })
    await api('/v2/attestation', { status: 405 })
  })
})

describe('the verification page', () => {
  const portal = (path: string, exchange: Exchange): Promise<string> =>
    request(`http://127.0.0.1:${ports.portal}`, path, exchange)

  test('sends them with pages, files and its API', async () => {
    const html = await portal('/s/00000000-0000-7000-8000-000000000000', { status: 200 })
    for (const [, path = ''] of html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)) await portal(path, { status: 200 })
    await portal('/', { status: 404 })
    await portal('/v/unknown', { status: 404, headers: { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' } })
    await portal('/robots.txt', { status: 200 })
    await portal('/assets/none.js', { status: 404 })
    await portal('/api/nothing', { status: 404 })
    await portal('/api/enter', { status: 405 })
    await portal('/api/enter', { status: 403, method: 'POST', body: {} })
    await portal('/', { status: 405, method: 'POST' })
  })
})

describe('the dashboard', () => {
  const dashboard = (path: string, exchange: Exchange): Promise<string> =>
    request(`http://127.0.0.1:${ports.dashboard}`, path, exchange)

  test('sends them with pages, files and the reference', async () => {
    const html = await dashboard('/', { status: 200 })
    for (const [, path = ''] of html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)) {
      await dashboard(path, { status: 200 })
    }
    await dashboard('/docs', { status: 302 })
    const reference = await dashboard('/docs/attestation', { status: 200 })
    const files = [...reference.matchAll(/(?:src|href)="(\/docs\/[^"]+\.(?:js|css))"/g)]
    expect(files.length).toBe(2)
    for (const [, path = ''] of files) await dashboard(path, { status: 200 })
    for (const path of ['/admin/v1/openapi.json', '/admin/v1/openapi/identity.json'])
      await dashboard(path, { status: 200 })
    await dashboard('/robots.txt', { status: 200 })
    await dashboard('/favicon.ico', { status: 404 })
    await dashboard('/robots.txt', { status: 405, method: 'POST' })
  })

  test('sends them with responses, refusals, files and streams of the admin API', async () => {
    const headers = { authorization: `Bearer ${keys()['ADMIN_API_KEY']}` }
    const json = await dashboard('/admin/v1/organizations', { status: 200, headers })
    const { id } = (JSON.parse(json) as { data: { id: string }[] }).data[0] ?? { id: '' }
    await dashboard('/admin/v1/organizations', { status: 401 })
    await dashboard('/admin/v1/nothing', { status: 404, headers })
    await dashboard('/admin/v1/organizations', { status: 405, method: 'DELETE', headers })
    const list = { name: 'friends' }
    const path = `/admin/v1/organizations/${id}/lists`
    await dashboard(path, { status: 201, method: 'POST', headers, body: list })
    await dashboard(`${path}/friends/content`, { status: 200, headers })
    await dashboard(`${path}/friends/content?format=text`, { status: 200, headers })
    await dashboard(`${path}/friends`, { status: 204, method: 'DELETE', headers })
    for (const format of ['csv', 'ndjson']) {
      await dashboard(`/admin/v1/organizations/${id}/decisions/export?format=${format}`, { status: 200, headers })
    }
    await dashboard('/admin/v1/live/stream', { status: 200, headers })
  })
})

test('a response of a listener without TLS has no Strict-Transport-Security, and keeps its own policy', () => {
  const own = new Response('', { headers: { 'content-security-policy': "script-src 'self'" } })
  const { headers } = createHarden('http://127.0.0.1:8080')(own)
  expect(headers.get('strict-transport-security')).toBeNull()
  expect(headers.get('content-security-policy')).toBe("script-src 'self'")
  expect(headers.get('referrer-policy')).toBe('no-referrer')
})

// docs/examples/next: the two route handlers of a Next.js app, called as Next.js calls them, with the running service and a
// real EventSource.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { EventSource } from 'eventsource'
import { GET } from '../../docs/examples/next/app/verification/events/route.ts'
import { POST } from '../../docs/examples/next/app/verification/route.ts'
import { type RunningService, runCommand, startService } from '../service/start-service.ts'
import { until } from '../support/until.ts'

const LIMIT_MS = 60_000
const NAMES = ['IDENTITY_URL', 'IDENTITY_API_KEY', 'TICKET_SECRET'] as const
const before = NAMES.map((name) => [name, process.env[name]] as const)

let service: RunningService
let app: ReturnType<typeof Bun.serve>
beforeAll(async () => {
  service = await startService()
  for (const name of ['IDENTITY_URL', 'IDENTITY_API_KEY'] as const) process.env[name] = service.quickstart[name] ?? ''
  process.env['TICKET_SECRET'] = 'a test’s own'
  app = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request, listener) => {
      listener.timeout(request, 0)
      const { pathname } = new URL(request.url)
      if (pathname === '/verification' && request.method === 'POST') return POST(request)
      if (pathname === '/verification/events' && request.method === 'GET') return GET(request)
      return new Response(null, { status: 404 })
    },
  })
}, LIMIT_MS)
afterAll(async () => {
  for (const [name, value] of before) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
  await app?.stop(true)
  await service?.stop()
})

const begin = (site = 'same-origin') =>
  fetch(`${app.url}verification`, { method: 'POST', headers: { 'sec-fetch-site': site } })
const followWith = (cookie: string) => fetch(`${app.url}verification/events`, { headers: { cookie } })

test('a browser follows the session that it started until the session ends', LIMIT_MS, async () => {
  const begun = await begin()
  expect(((await begun.json()) as { redirectUrl: string }).redirectUrl).toStartWith(
    service.quickstart['PORTAL_URL'] ?? '-',
  )
  const [cookie = '', ...attributes] = (begun.headers.get('set-cookie') ?? '').split('; ')
  expect(attributes).toEqual(expect.arrayContaining(['HttpOnly', 'Secure', 'SameSite=Lax']))
  const sessionId = /^verification=([0-9a-f-]{36})\./.exec(cookie)?.[1] ?? ''

  const heard: string[] = []
  const source = new EventSource(`${app.url}verification/events`, {
    fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, cookie } }),
  })
  source.onmessage = ({ data }) => heard.push((JSON.parse(data) as { status: string }).status)
  await until(() => heard.length === 1)
  const decide = ['session', 'decide', sessionId, 'completed', '--override']
  expect((await runCommand(service.dataDirectory, ...decide)).code).toBe(0)
  await until(() => heard.length === 2)
  expect(heard).toEqual(['pending', 'completed'])
  source.close()
  // The service has no open stream left.
  await until(async () => (await (await fetch(`${service.url}/metrics`)).text()).includes('countersign_open_streams 0'))
})

test('a stream requires a cookie of this backend, and another site cannot start a session', LIMIT_MS, async () => {
  const [own = ''] = ((await begin()).headers.get('set-cookie') ?? '').split('; ')
  const other = `verification=${crypto.randomUUID()}.${own.split('.')[1]}`
  for (const cookie of ['', 'verification=', own.slice(0, -1), other]) {
    const refused = await followWith(cookie)
    expect([cookie, refused.status, await refused.text()]).toEqual([cookie, 403, ''])
  }
  expect((await begin('cross-site')).status).toBe(403)
})

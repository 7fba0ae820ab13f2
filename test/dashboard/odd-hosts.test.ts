// Unusual Host headers at the dashboard, the admin API and the portal: they neither select another route nor cause a
// failure.
import { beforeAll, describe, expect, test } from 'bun:test'
import { until } from '../support/until.ts'
import { sharedHost } from './support/dashboard.ts'
import type { DashboardHost } from './support/dashboard-host.ts'

let host: DashboardHost
beforeAll(async () => {
  host = await sharedHost()
})

/** Sends one request as text. @returns the status and the response */
const raw = async (url: string, head: string): Promise<{ readonly status: string; readonly text: string }> => {
  const { hostname, port } = new URL(url)
  const ended = Promise.withResolvers<void>()
  let text = ''
  await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      open: (socket) => void socket.write(`${head}\r\nConnection: close\r\n\r\n`),
      data: (_socket, chunk) => {
        text += chunk.toString('utf8')
      },
      close: () => ended.resolve(),
      error: () => ended.resolve(),
    },
  })
  await ended.promise
  return { status: text.slice(9, 12), text }
}

describe.each([
  'Host: [',
  'Host:',
  'Host: a b',
  'Host: evil/admin/v1/pool',
  'Host: a?window=24h',
  'Host: a#b',
  'X-No-Host: 1',
])('%p', (line) => {
  const expectStatuses = async (pattern: RegExp, ...requests: readonly (readonly [url: string, head: string])[]) => {
    const statuses: string[] = []
    for (const [url, head] of requests) statuses.push((await raw(url, head)).status)
    expect(statuses.join(' ')).toMatch(pattern)
  }

  // The runtime refuses the request, or the service ignores the header.
  test('at the admin API', async () => {
    const key = `Authorization: Bearer ${host.service.quickstart['ADMIN_API_KEY']}`
    await expectStatuses(
      /^(200 200 404 401|400 400 400 400)$/,
      [host.url, `GET /admin/v1/live?window=15m HTTP/1.1\r\n${line}\r\n${key}`],
      [host.url, `GET /admin/v1/me HTTP/1.1\r\n${line}\r\n${key}`],
      [host.url, `GET /admin/v1/nothing HTTP/1.1\r\n${line}\r\n${key}`],
      [host.url, `GET /admin/v1/pool HTTP/1.1\r\n${line}`],
    )
  })

  test('at the dashboard and the portal', async () => {
    const portal = host.service.quickstart['PORTAL_URL'] ?? ''
    await expectStatuses(
      /^(200 404 404 404|400 400 400 400)$/,
      [host.url, `GET /live HTTP/1.1\r\n${line}`],
      [host.url, `GET /no.php HTTP/1.1\r\n${line}`],
      [portal, `GET /somewhere HTTP/1.1\r\n${line}`],
      [portal, `GET /api/nothing HTTP/1.1\r\n${line}`],
    )
  })
})

test('a malformed path returns 404', async () => {
  const organizations = '/admin/v1/organizations'
  const paths = ['%ff', '%zz', 'a'.repeat(201)].map((slug) => `${organizations}/${slug}`)
  for (const path of ['/admin/v1//pool', ...paths]) {
    const { status } = await raw(host.url, `GET ${path} HTTP/1.1\r\nHost: x`)
    expect(`${path} ${status}`).toBe(`${path} 404`)
  }
})

test('an unknown path counts as an error, at the dashboard and at the portal', async () => {
  const counted = async (): Promise<number> => {
    const text = await (await fetch(`${host.service.url}/metrics`)).text()
    return Number(/^countersign_errors_total\{code="NOT_FOUND"[^}]*\} (\d+)$/m.exec(text)?.[1])
  }
  const before = await counted()
  await fetch(`${host.url}/admin/v1/nothing`)
  await fetch(`${host.service.quickstart['PORTAL_URL']}/api/nothing`)
  // The metrics are up to one second old.
  await until(async () => (await counted()) === before + 2)
})

// The dashboard, the admin API and the portal under Host headers that no browser sends: none leads elsewhere, and none is a
// failure of the service.
import { beforeAll, describe, expect, test } from 'bun:test'
import { until } from '../support/until.ts'
import { sharedHost } from './support/dashboard.ts'
import type { DashboardHost } from './support/dashboard-host.ts'

let host: DashboardHost
beforeAll(async () => {
  host = await sharedHost()
})

/** One request as bytes; the status of the answer, and what follows its head. */
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
  const key = (): string => `Authorization: Bearer ${host.service.quickstart['ADMIN_API_KEY']}`

  test('at the admin API', async () => {
    const read = await raw(host.url, `GET /admin/v1/live?window=15m HTTP/1.1\r\n${line}\r\n${key()}`)
    const account = await raw(host.url, `GET /admin/v1/me HTTP/1.1\r\n${line}\r\n${key()}`)
    const none = await raw(host.url, `GET /admin/v1/nothing HTTP/1.1\r\n${line}\r\n${key()}`)
    const unsigned = await raw(host.url, `GET /admin/v1/pool HTTP/1.1\r\n${line}`)
    // Refused as a request by the runtime, or answered as it is without it.
    expect([read, account, none, unsigned].map(({ status }) => status).join(' ')).toMatch(
      /^(200 200 404 401|400 400 400 400)$/,
    )
  })

  test('at the dashboard and the portal', async () => {
    const page = await raw(host.url, `GET /live HTTP/1.1\r\n${line}`)
    const file = await raw(host.url, `GET /no.php HTTP/1.1\r\n${line}`)
    const portal = host.service.quickstart['PORTAL_URL'] ?? ''
    const visit = await raw(portal, `GET /somewhere HTTP/1.1\r\n${line}`)
    const call = await raw(portal, `GET /api/nothing HTTP/1.1\r\n${line}`)
    expect([page, file, visit, call].map(({ status }) => status).join(' ')).toMatch(
      /^(200 404 404 404|400 400 400 400)$/,
    )
  })
})

test('a path that is written oddly is not found, whoever asks', async () => {
  const organizations = '/admin/v1/organizations'
  for (const path of [
    '/admin/v1//pool',
    `${organizations}/%ff`,
    `${organizations}/%zz`,
    `${organizations}/${'a'.repeat(201)}`,
  ]) {
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
  // The metrics are up to a second old.
  await until(async () => (await counted()) === before + 2)
})

// Screening in the real service: an external screener flags the wallet of a submitted session; later, a changed list
// revokes the completed session, because the organization configured it.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startReceiver } from '../identity/webhooks/support.ts'
import { evmAccount } from '../portal/support/wallets.ts'
import { type RunningService, runCommand } from '../service/start-service.ts'
import { newFolder } from '../support/folder.ts'
import { until } from '../support/until.ts'
import { type DashboardHost, startDashboardHost } from './support/dashboard-host.ts'
import { createPeople } from './support/people.ts'

const SLOW = { limitMs: 60_000 }
const LISTED = 'id,kind,name,birth_dates,countries,wallets\n'

let folder: string
let configPath: string
let host: DashboardHost
let service: RunningService
let receiver: ReturnType<typeof startReceiver>
let screener: ReturnType<typeof Bun.serve>
const flagged = new Set<string>()

const command = async (...words: string[]): Promise<string> => {
  const { code, stdout } = await runCommand(folder, ...words, '--config', configPath)
  expect(code).toBe(0)
  return stdout
}
const admin = async (method: string, path: string, body?: unknown) =>
  (await host.admin(method, `/organizations/demo${path}`, body)) as Record<string, unknown>
const isVerified = async (address: string): Promise<unknown> => {
  const response = await fetch(`${service.url}/api/v1/verify`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.quickstart['IDENTITY_API_KEY']}`, 'content-type': 'application/json' },
    body: JSON.stringify({ address }),
  })
  return ((await response.json()) as { verified?: unknown }).verified
}
const receivedOf = (sessionId: string, type: string) =>
  receiver.received.map(({ body }) => body).filter((body) => body.type === type && body.data['sessionId'] === sessionId)

beforeAll(async () => {
  folder = newFolder()
  receiver = startReceiver()
  screener = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      const address = new URL(request.url).pathname.slice(1).toLowerCase()
      return Response.json({ address, flagged: flagged.has(address) })
    },
  })
  configPath = join(folder, 'config.yaml')
  const lines = [
    'webhook-reach: loopback',
    'screeners:',
    '  stub:',
    `    url: http://127.0.0.1:${screener.port}/\${address}`,
    '    reach: loopback',
    '    answer: { address: /address, flagged: /flagged }',
  ]
  writeFileSync(configPath, lines.join('\n'))
  host = await startDashboardHost({ dataDirectory: folder, arguments: ['--config', configPath] })
  service = host.service
  await command('webhook', 'add', '--url', receiver.url)
})
afterAll(async () => {
  await service.stop()
  await screener.stop(true)
  await receiver.stop()
})

test('a flagged wallet is a hit; after it is cleared and the session completed, a changed list revokes the session', async () => {
  const people = createPeople(service)
  const wallet = evmAccount('nina').address
  flagged.add(wallet.toLowerCase())
  const fields = { fullName: 'Nina Obraztsova', birthDate: '1970-05-03', country: 'DE' }
  const id = await people.submit({ name: 'nina', fields, documents: [] })
  await until(() => receivedOf(id, 'session.checked').length > 0, SLOW)
  const [hit] = receivedOf(id, 'screening.hit')
  expect(hit?.data).toMatchObject({
    status: 'submitted',
    hits: [{ check: 'wallets.screeners.stub', list: 'stub', subject: 'wallet' }],
  })
  const outcome = { check: 'wallets.screeners.stub', outcome: 'look' }
  expect(receivedOf(id, 'session.checked')[0]?.data['checks']).toContainEqual(outcome)
  const { hits } = (await admin('GET', `/sessions/${id}/checks/lists`)) as { hits: { id: string; entry: string }[] }
  expect(hits.map(({ entry }) => entry)).toEqual([wallet])
  const sequence = async () => (await admin('GET', `/sessions/${id}`))['sequence']
  const complete = async () =>
    admin('POST', `/sessions/${id}/decide`, { status: 'completed', sequence: await sequence() })
  await expect(complete()).rejects.toThrow(/409/)
  await admin('POST', `/sessions/${id}/checks/lists/${hits[0]?.id}`, { state: 'cleared', reason: 'their own exchange' })
  await complete()
  expect(await isVerified(wallet)).toBe(true)

  // The cleared hit remains cleared; a new hit revokes the session.
  await command('screening', 'update', '--on-new-hit', 'revoke')
  const file = join(folder, 'own.csv')
  writeFileSync(file, `${LISTED}p1,person,Nina Obraztsova,1970-05-03,DE,\n`)
  await command('screening-list', 'import', 'own', file, '--format', 'csv')
  await until(() => receivedOf(id, 'session.status_changed').some(({ data }) => data['status'] === 'rejected'), SLOW)
  expect(await isVerified(wallet)).toBe(false)
  expect(receivedOf(id, 'screening.hit').at(-1)?.data['hits']).toMatchObject([{ check: 'lists.names', list: 'own' }])
  expect(await admin('GET', `/sessions/${id}`)).toMatchObject({ status: 'rejected' })
  expect(service.output().stdout).not.toContain('Obraztsova')
})

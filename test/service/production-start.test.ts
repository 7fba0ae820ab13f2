// A start for production: without demo and API reference, and with separate metrics (no-demo, metrics-listen, docs).
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { newFolder } from '../support/folder.ts'
import { words } from '../support/words.ts'
import {
  freePort,
  type RunningService,
  runCommand,
  type ServiceOptions,
  startAlone,
  withoutUrls,
} from './start-service.ts'

setDefaultTimeout(60_000)
const folder = newFolder()
const ports = { dashboard: freePort(), metrics: freePort() }
const metrics = `http://127.0.0.1:${ports.metrics}`
const dashboard = `http://127.0.0.1:${ports.dashboard}`
const options: ServiceOptions = {
  // From the source, like `bun start`, even if the test run has a single-file executable.
  root: join(import.meta.dir, '..', '..'),
  dataDirectory: folder,
  arguments: ['--no-demo'],
  environment: {
    COUNTERSIGN_WORKERS: '1',
    COUNTERSIGN_DASHBOARD_LISTEN: `127.0.0.1:${ports.dashboard}`,
    COUNTERSIGN_METRICS_LISTEN: `127.0.0.1:${ports.metrics}`,
    COUNTERSIGN_DOCS: 'false',
  },
}
let service: RunningService
beforeAll(async () => {
  service = await startAlone(options)
})
afterAll(async () => {
  await service?.stop()
})

test('the first start creates only two attesters and the key of the log, and prints the next steps', async () => {
  const { stdout } = service.output()
  expect(stdout).not.toMatch(/(attestation|identity|admin) key|Try it/)
  expect(stdout).toContain('no organization or key')
  expect(stdout).toContain('organization create SLUG')
  const link = new RegExp(`${dashboard}/\\S+`).exec(stdout)?.[0] ?? ''
  expect(link).not.toBe('')
  expect(Object.keys(service.quickstart).filter((name) => /KEY|POLICY|DEMO|HASH/.test(name))).toEqual([])
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
  expect((await service.attest({ from: '0x', chain: 'base' })).status).toBe(401)
  expect(readdirSync(join(folder, 'keystores')).length).toBe(3)
})

test('a command creates an organization without keys', async () => {
  const listed = await runCommand(folder, 'org', 'list', '--json')
  expect(listed.stdout.trim().split('\n').filter(Boolean).join('')).not.toContain('slug')
  expect((await runCommand(folder, 'org', 'create', 'acme', '--name', 'Acme')).code).toBe(0)
  expect((await runCommand(folder, 'keys', 'list', '--org', 'acme')).stdout).not.toContain('quick start')
})

test('metrics are served only on their listener', async () => {
  const answer = await fetch(`${metrics}/metrics`)
  expect([answer.status, answer.headers.get('referrer-policy')]).toEqual([200, 'no-referrer'])
  expect(answer.headers.get('content-type')).toContain('charset=utf-8')
  expect(await answer.text()).toContain('countersign_')
  for (const path of ['/', '/livez', '/readyz', '/v2/attestation']) {
    const other = await fetch(`${metrics}${path}`)
    const policy = expect.stringContaining("frame-ancestors 'none'")
    expect([path, other.status, other.headers.get('content-security-policy')]).toEqual([path, 404, policy])
  }
  expect((await fetch(`${metrics}/metrics`, { method: 'POST' })).headers.get('allow')).toBe('GET')
  for (const method of ['GET', 'POST']) {
    expect([method, (await fetch(`${service.url}/metrics`, { method })).status]).toEqual([method, 404])
  }
})

test('the reference and its documents are not served', async () => {
  const paths = words`/docs /docs/ /docs/attestation /admin/v1/openapi.json /admin/v1/openapi/identity.json`
  for (const path of paths) {
    expect([path, (await fetch(`${dashboard}${path}`)).status]).toEqual([path, 404])
  }
  expect((await fetch(`${service.url}/openapi.json`)).status).toBe(404)
  expect((await fetch(`${service.url}/openapi.json`, { method: 'POST' })).status).toBe(404)
  expect((await fetch(`${dashboard}/`)).status).toBe(200)
})

test('a second start changes nothing', async () => {
  const before = readFileSync(join(folder, 'quickstart.env'), 'utf8')
  await service.stop()
  service = await startAlone(options)
  expect(service.output().stdout).not.toContain('The first start')
  // The URLs follow the ports of the second start.
  expect(withoutUrls(readFileSync(join(folder, 'quickstart.env'), 'utf8'))).toBe(withoutUrls(before))
  expect(readdirSync(join(folder, 'keystores')).length).toBe(3)
})

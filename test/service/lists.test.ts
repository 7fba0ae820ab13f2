// Lists in the running service: changes by commands take effect in every worker, and missing facts produce no verdict.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeMmdb } from '../facts/mmdb-writer.ts'
import { newFolder } from '../support/folder.ts'
import { until } from '../support/until.ts'
import { projectRequest, succeed } from './calls.ts'
import { type RunningService, startService } from './start-service.ts'

const ALICE = `0x${'a1'.repeat(20)}`
const BOB = `0x${'b2'.repeat(20)}`
const OFAC = join(import.meta.dir, '..', 'data', 'ofac', 'sanctioned_addresses_ETH.txt')
const SANCTIONED = '0x01e2919679362dFBC9ee1644Ba9C6da6D6245BB1'

/** Sanctions that are at most a day old, then a country. */
const POLICY = `name: Lists and places
default: allow
rules:
  - id: sanctioned
    deny: in_list(wallet.address, "ofac", days(1))
    code: SANCTIONED
  - id: elsewhere
    deny: client.country != "DE"
    code: ELSEWHERE
`

let folder: string
let service: RunningService

beforeAll(async () => {
  folder = newFolder()
  const file = join(folder, 'city.mmdb')
  const networks: Parameters<typeof writeMmdb>[0]['networks'] = [
    ['203.0.113.0/24', { country: { iso_code: 'DE' } }],
    ['198.51.100.0/24', { country: { iso_code: 'FR' } }],
  ]
  writeFileSync(file, writeMmdb({ databaseType: 'Test-City', ipVersion: 6, buildEpoch: 1_700_000_000, networks }))
  service = await startService({ environment: { COUNTERSIGN_WORKERS: '2', COUNTERSIGN_GEOIP_FILE: file } })
})
afterAll(async () => {
  await service.stop()
})

const command = (...words: string[]): Promise<string> => succeed(service, ...words)

interface Answer {
  readonly status: number
  readonly compliant: boolean | undefined
  readonly code: string | undefined
}

const attest = async (from: string, extra: Readonly<Record<string, unknown>> = {}): Promise<Answer> => {
  const response = await service.attest({ ...projectRequest(service), from, ...extra })
  const body = (await response.json()) as { is_compliant?: boolean; reason?: { code: string }; code?: string }
  return { status: response.status, compliant: body.is_compliant, code: body.reason?.code ?? body.code }
}

/** Waits until both workers answer as expected, ten times in a row. */
const untilCompliant = (from: string, compliant: boolean) => {
  let inARow = 0
  return until(async () => {
    while (inARow < 10 && (await attest(from)).compliant === compliant) inARow += 1
    if (inARow < 10) inARow = 0
    return inARow === 10
  })
}

test('a deny entry and its removal take effect in a running service', async () => {
  expect(await attest(ALICE)).toEqual({ status: 200, compliant: true, code: undefined })
  await command('lists', 'add', 'deny', ALICE.toUpperCase().replace('0X', '0x'), '--memo', 'test')
  await untilCompliant(ALICE, false)
  // A deny list gives the caller no reason.
  expect(await attest(ALICE)).toEqual({ status: 200, compliant: false, code: undefined })
  expect((await attest(BOB)).compliant).toBe(true)
  const log = await command('decisions', 'tail', '--lines', '5', '--json')
  expect(log).toContain('list:deny')
  await command('lists', 'remove', 'deny', ALICE)
  await untilCompliant(ALICE, true)
})

test('a denied user behind an allowed relayer gets no signature in v2, batches or v1; the log contains both', async () => {
  const represented = async (): Promise<boolean | undefined> => (await attest(BOB, { on_behalf: ALICE })).compliant
  expect(await represented()).toBe(true)
  await command('lists', 'add', 'deny', ALICE)
  await untilCompliant(ALICE, false)
  expect((await attest(BOB)).compliant).toBe(true)
  expect(await represented()).toBe(false)
  const url = service.quickstart['ATTESTATION_URL']
  const post = async (path: string, body: unknown): Promise<string> => {
    const headers = { 'content-type': 'application/json', 'x-api-key': service.quickstart['ATTESTATION_API_KEY'] ?? '' }
    return (await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).text()
  }
  const project = { ...projectRequest(service), from: BOB }
  const batch = await post('/v2/attestations', { requests: [{ ...project, on_behalf: ALICE }, project] })
  expect(batch.match(/"is_compliant":(?:true|false)/g)).toEqual(['"is_compliant":false', '"is_compliant":true'])
  const task = { from: BOB, to: service.quickstart['DEMO_CONTRACT'], data: '0x', msg_value: '0' }
  expect(await post('/v1/task', task)).toContain('"is_compliant":true')
  expect(await post('/v1/task', { ...task, on_behalf: ALICE })).toContain('"is_compliant":false')
  const records = (await command('decisions', 'tail', '--lines', '2', '--json')).trim().split('\n')
  expect(records.at(-1)).toContain(`"from":"${BOB}","on_behalf":"${ALICE}"`)
  await command('lists', 'remove', 'deny', ALICE)
  await untilCompliant(ALICE, true)
})

test('a policy reads lists and countries; an unknown country produces no verdict', async () => {
  await command('lists', 'create', 'ofac', '--shared')
  await command('list-source', 'update', 'ofac', '--shared', '--from', OFAC)
  const path = join(folder, 'policy.yaml')
  writeFileSync(path, POLICY)
  const policyId = (await command('policy', 'list', '--quiet')).trim()
  await command('policy', 'apply', path, '--policy', policyId)
  const inGermany = { user_ip: '203.0.113.9' }
  await until(async () => (await attest(SANCTIONED, inGermany)).code === 'SANCTIONED')
  expect(await attest(SANCTIONED, inGermany)).toEqual({ status: 200, compliant: false, code: 'SANCTIONED' })
  expect((await attest(BOB, inGermany)).compliant).toBe(true)
  expect((await attest(BOB, { user_ip: '::ffff:198.51.100.9' })).code).toBe('ELSEWHERE')
  expect(await attest(BOB)).toMatchObject({ status: 400, code: 'MISSING_REQUIRED_FIELD' })
  const body = { ...projectRequest(service), from: BOB }
  const missing = (await (await service.attest(body)).json()) as { message?: string }
  expect(missing.message).toBe('Missing required field: user_ip')
  expect(await attest(BOB, { user_ip: '192.0.2.1' })).toMatchObject({ status: 422, code: 'POLICY_FAILED' })
  // Nothing was signed, so the idempotency key is free for a retry.
  const keyed = async (user_ip: string) =>
    (await service.attest({ ...body, user_ip }, { 'idempotency-key': 'a-source-fails' })).status
  expect([await keyed('192.0.2.1'), await keyed('192.0.2.1'), await keyed('203.0.113.9')]).toEqual([422, 422, 200])
  const metrics = await (await fetch(`${service.quickstart['ATTESTATION_URL']}/metrics`)).text()
  expect(metrics).toContain('countersign_list_entries{list="ofac"} 152')
  expect(metrics).toMatch(/countersign_list_age_seconds\{list="ofac"\} \d+/)
})

// Lists in the running service: what the command line changes takes effect in every worker without a
// restart; and what facts can't be had is no verdict.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import bs58 from 'bs58'
import { writeMmdb } from '../facts/mmdb-writer.ts'
import { newFolder } from '../support/folder.ts'
import { until } from '../support/until.ts'
import { succeed } from './calls.ts'
import { type RunningService, startService } from './start-service.ts'

const ALICE = `0x${'a1'.repeat(20)}`
const BOB = `0x${'b2'.repeat(20)}`
const OFAC = join(import.meta.dir, '..', 'data', 'ofac', 'sanctioned_addresses_ETH.txt')
const SANCTIONED = '0x01e2919679362dFBC9ee1644Ba9C6da6D6245BB1'

/** Sanctions no older than a day, then a place. */
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
  writeFileSync(
    join(folder, 'city.mmdb'),
    writeMmdb({
      databaseType: 'Test-City',
      ipVersion: 6,
      buildEpoch: 1_700_000_000,
      networks: [
        ['203.0.113.0/24', { country: { iso_code: 'DE' } }],
        ['198.51.100.0/24', { country: { iso_code: 'FR' } }],
      ],
    }),
  )
  service = await startService({
    environment: { COUNTERSIGN_WORKERS: '2', COUNTERSIGN_GEOIP_FILE: join(folder, 'city.mmdb') },
  })
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
  const verificationHash = service.quickstart['VERIFICATION_HASH']
  const response = await service.attest({ from, chain: 'base', verification_hash: verificationHash, ...extra })
  const body = (await response.json()) as { is_compliant?: boolean; reason?: { code: string }; code?: string }
  return { status: response.status, compliant: body.is_compliant, code: body.reason?.code ?? body.code }
}

/** Waits until both workers answer as expected, ten times in a row. */
const untilCompliant = (from: string, compliant: boolean, extra: Readonly<Record<string, unknown>> = {}) => {
  let inARow = 0
  return until(async () => {
    while (inARow < 10 && (await attest(from, extra)).compliant === compliant) inARow += 1
    if (inARow < 10) inARow = 0
    return inARow === 10
  })
}

test('a deny entry takes effect in a running service, and so does its removal', async () => {
  expect(await attest(ALICE)).toEqual({ status: 200, compliant: true, code: undefined })
  await command('lists', 'add', 'deny', ALICE.toUpperCase().replace('0X', '0x'), '--memo', 'test')
  await untilCompliant(ALICE, false)
  // The caller learns no reason: nobody wrote one for them.
  expect(await attest(ALICE)).toEqual({ status: 200, compliant: false, code: undefined })
  expect((await attest(BOB)).compliant).toBe(true)
  const log = await command('decisions', 'tail', '--lines', '5', '--json')
  expect(log).toContain('list:deny')
  await command('lists', 'remove', 'deny', ALICE)
  await untilCompliant(ALICE, true)
})

test('a denied user behind a clean relayer gets no signature, alone, in a batch or by v1, and the log names both', async () => {
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
  const project = { from: BOB, chain: 'base', verification_hash: service.quickstart['VERIFICATION_HASH'] }
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

test('a represented user in 32 bytes is looked up and recorded by the address that the bytes stand for', async () => {
  const solanaUser = 'So11111111111111111111111111111111111111112'
  const key = `0x${Buffer.from(bs58.decode(solanaUser)).toString('hex')}`
  const padded = `0x${'00'.repeat(12)}${ALICE.slice(2)}`
  for (const [address, sent] of [
    [ALICE, padded],
    [solanaUser, key],
  ] as const) {
    expect((await attest(BOB, { on_behalf: sent })).compliant).toBe(true)
    await command('lists', 'add', 'deny', address)
    await untilCompliant(BOB, false, { on_behalf: sent })
    const [record] = (await command('decisions', 'tail', '--lines', '1', '--json')).trim().split('\n')
    expect(record).toContain(`"from":"${BOB}","on_behalf":"${address}"`)
    await command('lists', 'remove', 'deny', address)
    await untilCompliant(BOB, true, { on_behalf: sent })
  }
})

test('a deny entry beats an allow entry, an allow entry beats the policy', async () => {
  const deniedByPolicy = '0x000000000000000000000000000000000000dEaD'
  expect((await attest(deniedByPolicy)).compliant).toBe(false)
  await command('lists', 'add', 'allow', deniedByPolicy)
  await untilCompliant(deniedByPolicy, true)
  await command('lists', 'add', 'deny', deniedByPolicy)
  await untilCompliant(deniedByPolicy, false)
})

test('a policy reads lists and places; what it can’t know is no verdict', async () => {
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
  const without = { from: BOB, chain: 'base', verification_hash: service.quickstart['VERIFICATION_HASH'] }
  const missing = (await (await service.attest(without)).json()) as { message?: string }
  expect(missing.message).toBe('Missing required field: user_ip')
  expect(await attest(BOB, { user_ip: '192.0.2.1' })).toMatchObject({ status: 422, code: 'POLICY_FAILED' })
  // Nothing was signed, so a key is not held: the retry is decided, not told to wait.
  const body = { from: BOB, chain: 'base', verification_hash: service.quickstart['VERIFICATION_HASH'] }
  const keyed = async (user_ip: string) =>
    (await service.attest({ ...body, user_ip }, { 'idempotency-key': 'a-source-fails' })).status
  expect([await keyed('192.0.2.1'), await keyed('192.0.2.1'), await keyed('203.0.113.9')]).toEqual([422, 422, 200])
  const metrics = await (await fetch(`${service.quickstart['ATTESTATION_URL']}/metrics`)).text()
  expect(metrics).toContain('countersign_list_entries{list="ofac"} 152')
  expect(metrics).toMatch(/countersign_list_age_seconds\{list="ofac"\} \d+/)
})

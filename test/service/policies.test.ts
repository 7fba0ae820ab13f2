// Policies in the running service: velocity limits, shadow revisions, personal facts, failing rules and chain reads.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newFolder } from '../support/folder.ts'
import { until } from '../support/until.ts'
import { projectRequest, succeed } from './calls.ts'
import { runCountersign } from './run-to-end.ts'
import { type RunningService, startService } from './start-service.ts'

const LIMIT = `name: Limits
rules:
  - { id: often, require: velocity.count(hours(1)) < 5, code: TOO_OFTEN }
  - { id: much, require: velocity.value(hours(1)) + tx.value <= ether(10), code: TOO_MUCH }
  - { id: fine, allow: "true" }
`
const IDENTITY = `name: Identity
rules:
  - { id: verified, allow: 'identity.verified && client.ip != ""' }
`
const TRANSFERS = `name: Transfers
abi: ["function transfer(address to, uint256 amount)"]
rules:
  - { id: transfer, allow: 'call.function == "transfer" && call.args.amount < 100' }
`
const UNGUARDED = `name: Unguarded
abi: ["function transfer(address to, uint256 amount)", "function approve(address spender, uint256 amount)"]
rules:
  - { id: other, allow: '!call.decoded' }
  - { id: listed, deny: call.args.to == wallet.address }
`

const EXPENSIVE = `name: Not while gas is expensive
default: allow
rules:
  - { id: expensive, deny: chain.base_fee > gwei(50), code: GAS_IS_EXPENSIVE }
`

/** Each command is a separate process, and the machine may be busy. */
const PATIENCE_MS = 60_000

/** The RPC of the chain base. */
const node = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: async (request) => {
    const { id, method } = (await request.json()) as { id: number; method: string }
    const result = method === 'eth_chainId' ? '0x2105' : { baseFeePerGas: `0x${baseFeeWei.toString(16)}` }
    return Response.json({ jsonrpc: '2.0', id, result })
  },
})
let baseFeeWei = 60_000_000_000n

let folder: string
let service: RunningService
let policyId: string

const command = (...words: string[]): Promise<string> => succeed(service, ...words)

const attest = async (wallet: number, extra: Readonly<Record<string, unknown>> = {}) => {
  const from = `0x${wallet.toString(16).padStart(40, '0')}`
  const response = await service.attest({ ...projectRequest(service), from, ...extra })
  type Body = { policy_name?: string; is_compliant?: boolean; reason?: { code: string }; code?: string }
  const { policy_name: name, is_compliant: compliant, reason, code } = (await response.json()) as Body
  const retryAfter = response.headers.get('retry-after')
  return { status: response.status, name, compliant, code: reason?.code ?? code, retryAfter }
}

/** Saves a document as the next revision of the policy, and waits until it is active. */
const apply = async (text: string, extra: Readonly<Record<string, unknown>>): Promise<void> => {
  const path = join(folder, 'policy.yaml')
  writeFileSync(path, text)
  await command('policy', 'apply', path, '--policy', policyId)
  const name = /^name: (.*)$/m.exec(text)?.[1]
  await until(async () => (await attest(0xffff, extra)).name === name)
}

const records = async (): Promise<Record<string, unknown>[]> =>
  (await command('decisions', 'tail', '--lines', '10', '--json'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

beforeAll(async () => {
  folder = newFolder()
  service = await startService({ environment: { COUNTERSIGN_WORKERS: '2', COUNTERSIGN_RPC_BASE: node.url.href } })
  policyId = (await command('policy', 'list', '--quiet')).trim()
})
afterAll(async () => {
  await service.stop()
  await node.stop(true)
}, PATIENCE_MS)

test('velocity limits hold for simultaneous requests', PATIENCE_MS, async () => {
  await apply(LIMIT, { msg_value: '0' })
  const ether = '000000000000000000'
  const one = await Promise.all(Array.from({ length: 30 }, () => attest(1, { msg_value: '1' })))
  expect(one.filter(({ compliant }) => compliant)).toHaveLength(5)
  expect(one.filter(({ code }) => code === 'TOO_OFTEN')).toHaveLength(25)
  const other = await Promise.all(Array.from({ length: 8 }, () => attest(2, { msg_value: `4${ether}` })))
  expect(other.filter(({ compliant }) => compliant)).toHaveLength(2)
  // Denied requests do not count.
  expect((await attest(2, { msg_value: `2${ether}` })).compliant).toBe(true)
  expect((await attest(2, { msg_value: '1' })).code).toBe('TOO_MUCH')
  expect((await attest(3, { msg_value: `10${ether}` })).compliant).toBe(true)
  expect(await attest(4)).toMatchObject({ status: 400, code: 'MISSING_REQUIRED_FIELD' })
})

test('a shadow is recorded without effect on responses, and can be reported and replayed', PATIENCE_MS, async () => {
  const path = join(folder, 'shadow.yaml')
  writeFileSync(path, TRANSFERS)
  const applied = await command('policy', 'apply', path, '--policy', policyId, '--draft', '--json')
  const { revision: saved } = JSON.parse(applied)
  await command('policy', 'shadow', policyId, '--revision', String(saved.number))
  const transfer = (amount: number): string => `0xa9059cbb${'0'.repeat(64)}${amount.toString(16).padStart(64, '0')}`
  const lastShadow = async (wallet: number, extra: object): Promise<unknown> => {
    for (let tries = 0; tries < 900; tries++) {
      expect(await attest(wallet * 1_000 + tries, { msg_value: '0', ...extra })).toMatchObject({ compliant: true })
      const shadow = (await records()).at(-1)?.['shadow']
      if (shadow !== undefined) return shadow
    }
    throw new Error('no shadow was recorded')
  }
  const revision = saved.id
  expect(await lastShadow(5, { data: transfer(5) })).toEqual({ revision, compliant: true, rule: 'transfer' })
  expect(await lastShadow(6, { data: transfer(500) })).toEqual({ revision, compliant: false, rule: null })
  // Without data, only the active revision has a verdict.
  const failure = 'data is missing (400)'
  expect(await lastShadow(7, {})).toEqual({ revision, compliant: null, rule: null, failure })
  const replayed = JSON.parse(await command('policy', 'replay', String(saved.number), '--policy', policyId, '--json'))
  const change = { from: { compliant: true, rule: 'fine' }, to: { compliant: true, rule: 'transfer' } }
  expect(replayed.changes).toContainEqual(expect.objectContaining(change))

  const { ATTESTATION_URL = '', DASHBOARD_URL = '' } = service.quickstart
  const metrics = await (await fetch(`${ATTESTATION_URL}/metrics`)).text()
  for (const outcome of ['different', 'failed'])
    expect(metrics).toMatch(new RegExp(`^countersign_shadow_decisions_total\\{outcome="${outcome}"\\} [1-9]`, 'm'))
  const key = (await command('key', 'create', '--kind', 'admin', '--name', 'trials')).split('\n')[0] ?? ''
  const remotely = async (...words: string[]) => {
    const result = await runCountersign({ COUNTERSIGN_ADMIN_KEY: key }, ...words, '--url', DASHBOARD_URL, '--json')
    expect(result).toMatchObject({ code: 0, stderr: '' })
    return JSON.parse(result.stdout)
  }
  await until(async () => (await remotely('policy', 'show-shadow', policyId)).failed > 0)
  const report = await remotely('policy', 'show-shadow', policyId)
  expect(report.changes).toContainEqual({
    verdict: 'compliant',
    rule: 'fine',
    shadow_verdict: 'denied',
    shadow_rule: null,
    count: expect.any(Number),
    examples: expect.arrayContaining([expect.any(String)]),
  })
  expect(report.failures).toContainEqual(expect.objectContaining({ failure, rule: null }))
  expect(report.other_verdict).toBeGreaterThan(0)
  const remoteReplay = await remotely('policy', 'replay', path, '--policy', policyId)
  expect(remoteReplay).toMatchObject({ policy: policyId, since: expect.stringMatching(/^20/) })
  expect(remoteReplay.changes).toEqual(replayed.changes)
  const uuid = report.changes[0].examples[0]
  const tried = { verdict: expect.any(String), rules: [{ id: 'transfer', reached: true }] }
  expect(await remotely('policy', 'try', '--file', path, '--decision', uuid)).toMatchObject(tried)
  await command('policy', 'shadow', policyId, '--revision', 'none')
  const words = ['policy', 'show-shadow', policyId, '--url', DASHBOARD_URL]
  const without = await runCountersign({ COUNTERSIGN_ADMIN_KEY: key }, ...words)
  expect(without.stderr).toBe('The policy has no shadow revision: set one with policy shadow\n')
})

test('personal facts are evaluated, and recorded as hashes', PATIENCE_MS, async () => {
  await apply(IDENTITY, { user_ip: '192.0.2.77' })
  expect(await attest(8, { user_ip: '192.0.2.77' })).toMatchObject({ status: 200, compliant: false })
  const lines = await command('decisions', 'tail', '--lines', '1', '--json')
  const facts = (JSON.parse(lines) as { facts: Record<string, unknown> }).facts
  expect(Object.keys(facts).sort()).toEqual(['client_ip_hash', 'identity_hash'])
  expect(lines).not.toContain('192.0.2.77')
  expect(await command('decisions', 'verify')).toContain('ok')
})

test('a request whose rule fails gets 422, and the rule is logged and counted', PATIENCE_MS, async () => {
  await apply(UNGUARDED, { data: '0x' })
  const approve = `0x095ea7b3${'0'.repeat(24)}${'c3'.repeat(20)}${'0'.repeat(64)}`
  const logged = service.logLine(({ message }) => message === 'a rule could not be evaluated')
  const answer = await attest(10, { data: approve })
  expect(answer).toMatchObject({ status: 422, code: 'POLICY_FAILED', retryAfter: null })
  const line = await logged
  expect(line).toMatchObject({ policy: policyId, rule: 'listed', reason: 'absent', subject: 'call.args.to' })
  expect(line['revision']).toStartWith('revision_')
  expect(JSON.stringify(line)).not.toContain('c3c3')
  const metrics = await (await fetch(`${service.quickstart['ATTESTATION_URL']}/metrics`)).text()
  expect(metrics).toContain('countersign_rule_failures_total{reason="absent"} 1\n')
})

test('a rule about the state of a chain reads its RPC endpoint', PATIENCE_MS, async () => {
  await apply(EXPENSIVE, {})
  expect(await attest(9)).toMatchObject({ status: 200, compliant: false, code: 'GAS_IS_EXPENSIVE' })
  expect((await records()).at(-1)?.['facts']).toEqual({ baseFee: { wei: '60000000000' } })
  baseFeeWei = 40_000_000_000n
  await until(async () => (await attest(9)).compliant === true)
  const metrics = await (await fetch(`${service.quickstart['ATTESTATION_URL']}/metrics`)).text()
  const name = 'countersign_fact_questions_total'
  expect(metrics).toMatch(new RegExp(`^${name}{kind="base-fee",source="base",outcome="answered"} [1-9]`, 'm'))
})

// Automatic decisions of a running service with the template of the documentation, from submission to webhook, and only once if
// the process is killed.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createPeople, picture } from '../../dashboard/support/people.ts'
import { startReceiver } from '../../identity/webhooks/support.ts'
import { freePort, type RunningService, runCommand, startService } from '../../service/start-service.ts'
import { newFolder } from '../../support/folder.ts'
import { until } from '../../support/until.ts'

const SLOW = { limitMs: 60_000 }
const TEMPLATE = join(import.meta.dir, '../../../docs/policies/people-automatically.yaml')
/** An identity card of a fictitious person (test/documents). */
const CARD = readFileSync(join(import.meta.dir, '../../data/zones/card.jpg'))
const ERIKA = { fullName: 'Erika Mustermann', birthDate: '1974-08-12', country: 'DE' }
const documents = (portrait: number) => [
  { kind: 'identity-document', content: CARD, mediaType: 'image/jpeg', fileName: 'card.jpg' },
  { kind: 'portrait', content: picture(portrait, 400, 500), mediaType: 'image/png', fileName: 'portrait.png' },
]

let folder: string
let configPath: string
let service: RunningService
let receiver: ReturnType<typeof startReceiver>
let policyId: string

/** Fixed ports, which stay the same after a restart. */
const listen = ['api-listen', 'portal-listen', 'dashboard-listen'].map((name) => ({ name, port: freePort() }))
const start = () =>
  startService({
    dataDirectory: folder,
    arguments: ['--config', configPath, ...listen.flatMap(({ name, port }) => [`--${name}`, `127.0.0.1:${port}`])],
  })
const command = async (...words: string[]): Promise<string> => {
  const { code, stdout, stderr } = await runCommand(folder, ...words, '--config', configPath)
  if (code !== 0) throw new Error(`${words.join(' ')}: ${stderr}`)
  return stdout
}
type Json = Record<string, unknown>
const admin = async (method: string, path: string, body?: unknown): Promise<Json> => {
  const response = await fetch(`${service.quickstart['DASHBOARD_URL']}/admin/v1/organizations/demo${path}`, {
    method,
    headers: { authorization: `Bearer ${service.quickstart['ADMIN_API_KEY']}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Json
}
const statusOf = async (sessionId: string): Promise<unknown> => {
  const response = await fetch(`${service.url}/api/v1/status/individual/${sessionId}`, {
    headers: { authorization: `Bearer ${service.quickstart['IDENTITY_API_KEY']}` },
  })
  return ((await response.json()) as Json)['status']
}
const submit = (name: string, fields: Json = ERIKA, given = documents(2)) =>
  createPeople(service).submit({ name, fields, documents: given })
const decided = async (sessionId: string) =>
  ((await admin('GET', `/sessions/${sessionId}/policy-decisions`)) as { items: Json[] }).items
const eventsOf = async (sessionId: string) =>
  ((await admin('GET', `/sessions/${sessionId}`)) as { events: Json[] }).events.filter(({ kind }) => kind === 'status')

beforeAll(async () => {
  folder = newFolder()
  receiver = startReceiver()
  configPath = join(folder, 'config.yaml')
  writeFileSync(configPath, 'webhook-reach: loopback\n')
  service = await start()
  await command('webhook', 'add', '--url', receiver.url)
  await command('organization', 'update', 'demo', '--level', 'standard')
  const file = join(folder, 'own.csv')
  writeFileSync(file, 'id,kind,name\np1,person,Ivan Primerov\n')
  await command('screening-list', 'import', 'own', file, '--format', 'csv')
  // Without a list or a screener, wallets are unknown, and the decision is left to a reviewer.
  await command('lists', 'create', 'deny')
  policyId = JSON.parse(await command('policy', 'apply', TEMPLATE, '--json')).policy
})
afterAll(async () => {
  await service.stop()
  await receiver.stop()
})

test('decides only after it is turned on, and then completes the session of a person whose checks passed', async () => {
  const unread = { kind: 'identity-document', content: picture(9), mediaType: 'image/png', fileName: 'other.png' }
  const otto = { fullName: 'Otto Beispiel', birthDate: '1980-01-01', country: 'DE' }
  const before = await submit('before', otto, [unread, ...documents(5).slice(1)])
  const queued = async () => (await admin('GET', `/sessions/${before}/checks/documents`))['waiting']
  await until(async () => (await queued()) === false, SLOW)
  expect(await statusOf(before)).toBe('submitted')
  expect(await decided(before)).toEqual([])
  const early = await runCommand(folder, 'session-policy', 'update', '--policy', policyId, '--config', configPath)
  const reason = 'revision 1 was not replayed on past sessions in the last 30 days'
  expect([early.code, early.stderr]).toEqual([1, expect.stringContaining(reason)])
  expect(await command('policy', 'replay', TEMPLATE)).toStartWith('0 sessions: ')
  await command('session-policy', 'update', '--policy', policyId)
  await command('session', 'decide', before, 'rejected', '--note', 'somebody has to go first')

  const id = await submit('erika')
  await until(async () => (await statusOf(id)) === 'completed', SLOW)

  const [decision] = await decided(id)
  expect(decision).toMatchObject({
    policy_id: policyId,
    policy_name: 'Automatic identity decisions',
    decided: { revision: 1, outcome: 'completed', rule: 'document', problem: null },
  })
  const { items } = (await admin('POST', `/sessions/${id}/policy-decisions/facts`, {})) as { items: Json[] }
  expect(items[0]).toMatchObject({
    sequence: decision?.['sequence'],
    facts: { 'person.country': 'DE', 'checks.document.matches': true, 'checks.sanctions.score': 0 },
  })
  const trial = ['policy', 'simulate', TEMPLATE, '--session', id] as const
  expect(await command(...trial)).toStartWith('completed: rule document\n')
  const simulated = JSON.parse(await command(...trial, '--json'))
  expect(simulated).toMatchObject({ outcome: 'completed', facts: items[0]?.['facts'] })
  const last = { actor: `policy:${policyId}:1`, policy_name: 'Automatic identity decisions' }
  expect((await eventsOf(id)).at(-1)).toMatchObject(last)
  const events = () => receiver.received.map(({ body }) => body).filter(({ data }) => data['sessionId'] === id)
  await until(() => events().some(({ data }) => data['status'] === 'completed'), SLOW)
  expect(events().find(({ data }) => data['status'] === 'completed')).toMatchObject({
    type: 'session.status_changed',
    data: { decidedBy: { policyId, revision: 1 } },
  })
}, 120_000)

test('rejects a minor with the message of the rule, and leaves a hit to a reviewer', async () => {
  const child = await submit('child', { ...ERIKA, birthDate: '2020-08-12' })
  await until(async () => (await statusOf(child)) === 'rejected', SLOW)
  const public_comment = 'You must be at least 18 years old.'
  expect(await admin('GET', `/sessions/${child}`)).toMatchObject({ public_comment })
  const listed = await submit('ivan', { ...ERIKA, fullName: 'Ivan Primerov' }, documents(7))
  await until(async () => (await decided(listed)).length > 0, SLOW)
  expect(await decided(listed)).toMatchObject([{ decided: { outcome: 'review', rule: 'listed' } }])
  expect(await statusOf(listed)).toBe('submitted')
}, 120_000)

test('decides once after the process is killed during the checks', async () => {
  const id = await submit('killed', { ...ERIKA, birthDate: '2019-01-01' })
  const checks = async () => ((await admin('GET', `/sessions/${id}/checks/documents`)) as { checks: Json[] }).checks
  await until(async () => (await checks()).length > 0, SLOW)
  service.process.kill('SIGKILL')
  await service.process.exited
  service = await start()
  await until(async () => (await statusOf(id)) === 'rejected', SLOW)
  expect((await eventsOf(id)).filter(({ status }) => status === 'rejected')).toHaveLength(1)
  expect(await decided(id)).toHaveLength(1)
}, 120_000)

test('a replay compares the policy with the decisions of reviewers', async () => {
  const revisions = (await admin('GET', `/policies/${policyId}/revisions`)) as { data: { id: string }[] }
  const { id } = await admin('POST', `/policies/${policyId}/replay`, { revision_id: revisions.data[0]?.id })
  await until(async () => (await admin('GET', `/jobs/${id}`))['state'] === 'done', SLOW)
  // Only the session that a reviewer rejected.
  expect((await admin('GET', `/jobs/${id}`))['result']).toMatchObject({ sessions: 1, policy_id: policyId })
  expect(await command('policy', 'replay', '1', '--policy', policyId)).toStartWith('1 sessions: ')
  expect(JSON.parse(await command('policy', 'replay', TEMPLATE, '--json'))).toMatchObject({ sessions: 1, left: 1 })
}, 120_000)

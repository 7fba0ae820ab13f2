// Approvals: decisions, expiration and display. second-person/operations.test.ts tests each operation.
import { beforeEach, describe, expect, test } from 'bun:test'
import { harnessOfTest, type Organization, organizationOfTest, personOfTest } from './support/harness.ts'
import type { CallOptions } from './support/request.ts'

const SOURCE = 'name: Second person\nrules: []\n'
const WEEK_SECONDS = 604_800

const harness = harnessOfTest()
const alpha = organizationOfTest(harness, 'alpha')
const ada = personOfTest(() => harness.member(alpha, 'ada'))
const bob = personOfTest(() => harness.member(alpha, 'bob'))
let policyId: string
let revisionId: string

const call = (method: string, path: string, options: CallOptions) =>
  harness.call<{ id: string; state: string; detail: string }>(method, path, options)
const createPolicy = async ({
  id: organizationId,
}: Organization): Promise<readonly [policy: string, revision: string]> => {
  const { policies } = harness.store
  const { id: policy } = await policies.create({ organizationId, name: 'P' })
  const revision = await policies.saveRevision({ organizationId, policyId: policy, source: SOURCE, quorum: 1 })
  return [policy, revision?.id ?? '']
}
const activate = (options: CallOptions) =>
  call('POST', `/organizations/alpha/policies/${policyId}/activate`, { ...options, body: { revision_id: revisionId } })
const decide = (id: string, approve: boolean, options: CallOptions) =>
  call('POST', `/organizations/alpha/approvals/${id}/decide`, { ...options, body: { approve } })
const activeRevision = async (): Promise<string | null> =>
  (await harness.store.policies.find(alpha.id, policyId))?.activeRevisionId ?? null

beforeEach(async () => {
  harness.clock.advance(1)
  ;[policyId, revisionId] = await createPolicy(alpha)
  const options = { cookie: ada.cookie, body: { second_person: true } }
  expect((await call('PATCH', '/organizations/alpha/settings', options)).status).toBe(200)
})

test('the request, the approval and the change are in the audit log', async () => {
  const { body } = await activate(ada)
  expect(await activeRevision()).toBeNull()
  const approved = await decide(body.id, true, bob)
  expect([approved.status, approved.body.state, await activeRevision()]).toEqual([200, 'approved', revisionId])
  const items = await harness.audited({ organizationId: alpha.id })
  expect(items.map(({ action, actor }) => [action, actor])).toEqual([
    ['policy.activate', `user:${bob.id}`],
    ['approval.approve', `user:${bob.id}`],
    ['approval.request', `user:${ada.id}`],
    ['settings.second-person', `user:${ada.id}`],
  ])
})

test('the name and email address of the requester are those at the time of the request', async () => {
  const { body } = await activate(ada)
  expect(await harness.status('PATCH', '/me', { ...ada, body: { name: 'Bob, compliance' } })).toBe(204)
  const requester = { requested_by_name: 'ada@example.com', requested_by_email: 'ada@example.com' }
  const list = await harness.call('GET', '/organizations/alpha/approvals', bob)
  expect(list.body['data']).toMatchObject([requester])
  const decided = { ...requester, decided_by_name: 'bob@example.com', decided_by_email: 'bob@example.com' }
  expect((await decide(body.id, true, bob)).body).toMatchObject(decided)
})

test('lists show the requester, the approver and the number of pending requests', async () => {
  // Deployment admins are not members of organizations.
  const root = await harness.person({ email: 'root@example.com', deploymentAdmin: true })
  harness.clock.advance(1)
  const waiting = async () => (await call('GET', '/organizations/alpha/waiting', bob)).body
  expect(await waiting()).toMatchObject({ approvals: 0, deployment_approvals: null })
  const { body } = await activate(ada)
  harness.clock.advance(1)
  const second = await activate(ada)
  const requested = { id: body.id, requested_by_name: 'ada@example.com' }
  expect(body).toMatchObject({ ...requested, decided_by: null, decided_by_name: null })
  expect(await waiting()).toMatchObject({ approvals: 2 })
  const decided = { ...requested, decided_by: root.id, decided_by_name: 'root@example.com' }
  expect((await decide(body.id, true, root)).body).toMatchObject(decided)
  expect(await waiting()).toMatchObject({ approvals: 1 })
  const list = await harness.call('GET', '/organizations/alpha/approvals', bob)
  expect(list.body['data']).toMatchObject([{ id: second.body.id, decided_by_name: null }, decided])
  expect(await harness.store.approvals.countPending(null)).toBe(0)
  harness.clock.advance(WEEK_SECONDS + 1)
  expect(await harness.store.approvals.countPending(alpha.id)).toBe(0)
})

test('a requester can withdraw the request, and a key cannot approve it', async () => {
  const { body } = await activate(ada)
  expect((await decide(body.id, true, { key: alpha.key })).status).toBe(403)
  expect((await decide(body.id, false, ada)).body.state).toBe('rejected')
  expect((await decide(body.id, true, bob)).status).toBe(409)
  expect(await activeRevision()).toBeNull()
})

test('an approval and a rejection at the same time have one outcome', async () => {
  const carol = await harness.member(alpha, 'carol')
  const { body } = await activate(ada)
  const both = await Promise.all([decide(body.id, true, bob), decide(body.id, false, carol)])
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
  const activations = await harness.audited({ organizationId: alpha.id, action: 'policy.activate' })
  expect(activations).toHaveLength((await activeRevision()) === null ? 0 : 1)
})

test('a request expires after a week', async () => {
  const { body } = await activate(ada)
  harness.clock.advance(WEEK_SECONDS + 1)
  const cookie = await harness.signIn(bob.id)
  expect((await decide(body.id, true, { cookie })).status).toBe(409)
  const expired = await harness.call('GET', '/organizations/alpha/approvals?state=expired', { cookie })
  expect(expired.body['data']).toMatchObject([{ id: body.id }])
})

test('a request stays pending if its change fails', async () => {
  const { body } = await activate(ada)
  const { database, approvals } = harness.store
  await database.execute('UPDATE policy_revisions SET content_hash = ? WHERE id = ?', ['0'.repeat(64), revisionId])
  expect((await decide(body.id, true, bob)).status).toBe(503)
  expect((await approvals.find(alpha.id, body.id))?.state).toBe('pending')
  expect(await activeRevision()).toBeNull()
})

describe('without the second-person rule', () => {
  test('another organization makes changes immediately', async () => {
    const beta = await harness.organization('beta')
    const [policy, revision_id] = await createPolicy(beta)
    const path = `/organizations/beta/policies/${policy}/activate`
    expect(await harness.status('POST', path, { key: beta.key, body: { revision_id } })).toBe(200)
  })

  test('the last active attester cannot be retired before it has a successor', async () => {
    const { cookie } = await harness.person({ email: 'root@example.com', deploymentAdmin: true })
    const create = () => call('POST', '/attesters', { cookie, body: { kind: 'ed25519' } })
    const first = await create()
    const retire = () => harness.status('POST', `/attesters/${first.body.id}/retire`, { cookie, body: {} })
    expect(await retire()).toBe(409)
    await create()
    expect(await retire()).toBe(200)
    expect((await harness.store.attesters.list()).map(({ status }) => status)).toEqual(['retiring', 'active'])
  })
})

// Approvals of a second person: who decides them, once, and within a week. Each operation is in second-person/operations.test.ts.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { type Harness, type Organization, type Person, startHarness } from './support/harness.ts'
import type { CallOptions } from './support/request.ts'

let harness: Harness
let alpha: Organization
let ada: Person
let bob: Person
let policyId: string
let revisionId: string

const SOURCE = 'name: Second person\nrules: []\n'

beforeEach(async () => {
  harness = await startHarness()
  alpha = await harness.organization('alpha')
  ada = await harness.person({ email: 'ada@example.com', roles: { [alpha.id]: 'organization-admin' } })
  bob = await harness.person({ email: 'bob@example.com', roles: { [alpha.id]: 'organization-admin' } })
  harness.clock.advance(1)
  const { store } = harness
  policyId = (await store.policies.create({ organizationId: alpha.id, name: 'P' })).id
  revisionId =
    (await store.policies.saveRevision({ organizationId: alpha.id, policyId, source: SOURCE, quorum: 1 }))?.id ?? ''
})
afterEach(() => harness.close())

const call = (method: string, path: string, options: CallOptions) =>
  harness.call<{ id: string; state: string; detail: string }>(method, path, options)
const settings = (second_person: boolean, options: CallOptions) =>
  call('PATCH', '/organizations/alpha/settings', { ...options, body: { second_person } })
const activate = (options: CallOptions) =>
  call('POST', `/organizations/alpha/policies/${policyId}/activate`, { ...options, body: { revision_id: revisionId } })
const decide = (id: string, approve: boolean, options: CallOptions) =>
  call('POST', `/organizations/alpha/approvals/${id}/decide`, { ...options, body: { approve } })
const active = async (): Promise<string | null> =>
  (await harness.store.policies.find(alpha.id, policyId))?.activeRevisionId ?? null

describe('with the rule', () => {
  beforeEach(async () => {
    expect((await settings(true, ada)).status).toBe(200)
  })

  test('a revision waits, and is live when someone else approves', async () => {
    const asked = await activate(ada)
    expect([asked.status, asked.body.state, await active()]).toEqual([202, 'pending', null])
    const approved = await decide(asked.body.id, true, bob)
    expect([approved.status, approved.body.state, await active()]).toEqual([200, 'approved', revisionId])
    const items = await harness.audited({ organizationId: alpha.id })
    expect(items.map(({ action, actor }) => [action, actor])).toEqual([
      ['policy.activate', `user:${bob.id}`],
      ['approval.approve', `user:${bob.id}`],
      ['approval.request', `user:${ada.id}`],
      ['settings.second-person', `user:${ada.id}`],
    ])
  })

  test('the requester’s name and email address are those of the time of the request', async () => {
    const { body } = await activate(ada)
    const renamed = await harness.request('PATCH', '/me', { cookie: ada.cookie, body: { name: 'Bob, compliance' } })
    expect(renamed.status).toBe(204)
    const requester = { requested_by_name: 'ada@example.com', requested_by_email: 'ada@example.com' }
    const list = await harness.call('GET', '/organizations/alpha/approvals', bob)
    expect(list.body['data']).toMatchObject([requester])
    const decided = { ...requester, decided_by_name: 'bob@example.com', decided_by_email: 'bob@example.com' }
    expect((await decide(body.id, true, bob)).body).toMatchObject(decided)
  })

  test('it is told who asked and who decided, and how many wait', async () => {
    // One of the deployment's admins, who are members of nothing.
    const root = await harness.person({ email: 'root@example.com', deploymentAdmin: true })
    harness.clock.advance(1)
    const waiting = async () => (await call('GET', '/organizations/alpha/waiting', bob)).body
    expect(await waiting()).toMatchObject({ approvals: 0, deployment_approvals: null })
    const { body } = await activate(ada)
    // Newest first, by the second.
    harness.clock.advance(1)
    const lapses = await activate(ada)
    expect(body).toMatchObject({ requested_by_name: 'ada@example.com', decided_by: null, decided_by_name: null })
    expect(await waiting()).toMatchObject({ approvals: 2 })
    expect((await decide(body.id, true, root)).body).toMatchObject({
      requested_by_name: 'ada@example.com',
      decided_by: root.id,
      decided_by_name: 'root@example.com',
    })
    expect(await waiting()).toMatchObject({ approvals: 1 })
    const list = await harness.call('GET', '/organizations/alpha/approvals', bob)
    expect(list.body['data']).toMatchObject([
      { id: lapses.body.id, requested_by_name: 'ada@example.com', decided_by_name: null },
      { id: body.id, decided_by_name: 'root@example.com' },
    ])
    expect(await harness.store.approvals.countPending(null)).toBe(0)
    harness.clock.advance(604_801)
    expect(await harness.store.approvals.countPending(alpha.id)).toBe(0)
  })

  test('who asked can’t approve, only take it back', async () => {
    const { body } = await activate(ada)
    expect((await decide(body.id, true, ada)).status).toBe(409)
    expect(await active()).toBeNull()
    expect((await decide(body.id, false, ada)).body.state).toBe('rejected')
    expect((await decide(body.id, true, bob)).status).toBe(409)
    expect(await active()).toBeNull()
  })

  test('a key neither asks nor approves: nobody knows who holds it', async () => {
    expect((await activate({ key: alpha.key })).status).toBe(403)
    const { body } = await activate(ada)
    expect((await decide(body.id, true, { key: alpha.key })).status).toBe(403)
    expect(await active()).toBeNull()
  })

  test.each([
    ['decide otherwise', false],
    ['approve', true],
  ])('of two that %s at once, one does, once', async (_, approves) => {
    const carol = await harness.person({ email: 'carol@example.com', roles: { [alpha.id]: 'organization-admin' } })
    const { body } = await activate(ada)
    const both = await Promise.all([decide(body.id, true, bob), decide(body.id, approves, carol)])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
    const live = await harness.audited({ organizationId: alpha.id, action: 'policy.activate' })
    expect(live).toHaveLength((await active()) === null ? 0 : 1)
    if (approves) expect(live).toHaveLength(1)
  })

  test('what was not approved in a week is not done', async () => {
    const { body } = await activate(ada)
    harness.clock.advance(604_801)
    const cookie = await harness.signIn(bob.id)
    expect((await decide(body.id, true, { cookie })).status).toBe(409)
    const expired = await harness.call('GET', '/organizations/alpha/approvals?state=expired', { cookie })
    expect(expired.body['data']).toMatchObject([{ id: body.id }])
  })

  test('an approval whose change can’t be made any more is not spent', async () => {
    const { body } = await activate(ada)
    const database = harness.store.database
    await database.execute('UPDATE policy_revisions SET content_hash = ? WHERE id = ?', ['0'.repeat(64), revisionId])
    expect((await decide(body.id, true, bob)).status).toBe(503)
    expect((await harness.store.approvals.find(alpha.id, body.id))?.state).toBe('pending')
    expect(await active()).toBeNull()
  })

  test('another organization goes on alone', async () => {
    const beta = await harness.organization('beta')
    const { store } = harness
    const other = await store.policies.create({ organizationId: beta.id, name: 'P' })
    const revision = await store.policies.saveRevision({
      organizationId: beta.id,
      policyId: other.id,
      source: SOURCE,
      quorum: 1,
    })
    const response = await harness.request('POST', `/organizations/beta/policies/${other.id}/activate`, {
      key: beta.key,
      body: { revision_id: revision?.id },
    })
    expect(response.status).toBe(200)
  })
})

describe('attester keys', () => {
  let root: Person
  beforeEach(async () => {
    root = await harness.person({ email: 'root@example.com', deploymentAdmin: true })
  })
  const listed = async (): Promise<string[]> => (await harness.store.attesters.list()).map(({ status }) => status)

  test('the last active one can’t retire, and its successor takes over', async () => {
    const first = await call('POST', '/attesters', { cookie: root.cookie, body: { kind: 'ed25519' } })
    const retire = () => call('POST', `/attesters/${first.body.id}/retire`, { cookie: root.cookie, body: {} })
    expect((await retire()).status).toBe(409)
    await call('POST', '/attesters', { cookie: root.cookie, body: { kind: 'ed25519' } })
    expect((await retire()).status).toBe(200)
    expect(await listed()).toEqual(['retiring', 'active'])
  })
})

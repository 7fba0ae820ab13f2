// Policies that decide sessions, through the admin API: what each may be used for, who may let one decide, and what it says.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { type Harness, startHarness } from './support/harness.ts'

const PEOPLE = 'name: People\ndecides: sessions\nrules: [{ id: grown, allow: person.age > 17 }]\n'
const REQUESTS = 'name: Requests\nrules: [{ id: all, allow: "true" }]\n'

let harness: Harness
let alpha: Awaited<ReturnType<Harness['organization']>>

beforeEach(async () => {
  harness = await startHarness()
  alpha = await harness.organization('alpha')
})
afterEach(() => harness.close())

type Json = Record<string, unknown>
const call = async (method: string, path: string, body?: object, options: object = { key: alpha.key }) => {
  const response = await harness.request(method, `/organizations/alpha${path}`, {
    ...options,
    ...(body === undefined ? {} : { body }),
  })
  return { status: response.status, body: (await response.json()) as Json }
}
const make = async (source: string) => {
  const { body } = await call('POST', '/policies', { source })
  const { policy, revision } = body as { policy: { id: string }; revision: { id: string } }
  return { policyId: policy.id, revisionId: revision.id, policy: body['policy'] as Json }
}

test('a policy decides one thing for good: no project takes one of sessions, and no revision changes what it decides', async () => {
  const people = await make(PEOPLE)
  const requests = await make(REQUESTS)
  expect([people.policy['decides'], requests.policy['decides']]).toEqual(['sessions', 'requests'])
  const refused = await call('POST', '/projects', { name: 'Vault', policy_id: people.policyId })
  expect([refused.status, refused.body['detail']]).toEqual([
    400,
    'request validation failed: policy_id must name a policy that decides requests',
  ])
  const project = await call('POST', '/projects', { name: 'Vault', policy_id: requests.policyId })
  const moved = await call('PATCH', `/projects/${project.body['id']}`, { policy_id: people.policyId })
  expect(moved.status).toBe(400)
  const saved = await call('POST', `/policies/${people.policyId}/revisions`, { source: REQUESTS })
  expect([saved.status, saved.body['detail']]).toEqual([
    400,
    'request validation failed: source decides requests, and the policy decides sessions',
  ])
  expect((await call('POST', `/policies/${people.policyId}/replay`, { source: REQUESTS })).status).toBe(400)
  expect((await call('POST', '/policies/simulate', { source: PEOPLE, request: {} })).status).toBe(409)
  expect(await harness.store.policySource.loadProjectTarget(alpha.id, 'x-none')).toBeNull()
})

test('people decide until an organization admin lets a policy of sessions, and again afterwards', async () => {
  const path = '/session-policy'
  const nobody = { policy_id: null, name: null, revision: null }
  expect((await call('GET', path)).body).toEqual(nobody)
  const { policyId, revisionId } = await make(PEOPLE)
  const requests = await make(REQUESTS)
  expect((await call('PUT', path, { policy_id: requests.policyId })).status).toBe(400)
  expect((await call('PUT', path, { policy_id: 'policy_none' })).status).toBe(404)
  const reviewer = await harness.person({ email: 'r@alpha.example', roles: { [alpha.id]: 'reviewer' } })
  expect((await call('PUT', path, { policy_id: policyId }, { cookie: reviewer.cookie })).status).toBe(403)
  expect((await call('PUT', path, { policy_id: policyId })).body).toEqual({
    policy_id: policyId,
    name: 'People',
    revision: null,
  })
  await call('POST', `/policies/${policyId}/activate`, { revision_id: revisionId })
  expect((await call('GET', path)).body).toMatchObject({ revision: 1 })
  expect((await call('PUT', path, { policy_id: null })).body).toEqual(nobody)
  const log = (await call('GET', '/audit')).body as { data: { action: string; detail: Json }[] }
  const notes = log.data.filter(({ action }) => action === 'organization.session-policy')
  expect(notes.map(({ detail }) => detail['policy'])).toEqual([
    [policyId, null],
    [null, policyId],
  ])
})

test('the shadow of a policy of sessions is counted by what it would have made of them', async () => {
  const { policyId, revisionId } = await make(PEOPLE)
  await call('PUT', `/policies/${policyId}/shadow`, { revision_id: revisionId })
  expect((await call('GET', `/policies/${policyId}/shadow-results`)).body).toEqual({
    revision_id: revisionId,
    same: 0,
    different: 0,
    failed: 0,
    exact: true,
    sessions: { completed: 0, rejected: 0, left: 0 },
  })
})

// Policies that decide sessions, through the admin API: what each may be used for, who may let one decide, and what it says.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { isoTime } from '../../src/lib/time.ts'
import { contentHashOf } from '../../src/policy/revision.ts'
import { PROGRAM } from '../../src/program/labels.ts'
import { openOver } from '../cli/admin-client-over.ts'
import { type Harness, type Organization, startHarness } from './support/harness.ts'
import type { CallOptions } from './support/request.ts'

const PEOPLE = 'name: People\ndecides: sessions\nrules: [{ id: grown, allow: person.age > 17 }]\n'
const REQUESTS = 'name: Requests\nrules: [{ id: all, allow: "true" }]\n'

let harness: Harness
let alpha: Organization

beforeEach(async () => {
  harness = await startHarness()
  alpha = await harness.organization('alpha')
})
afterEach(() => harness.close())

type Json = Record<string, unknown>
const call = (method: string, path: string, body?: object, options: CallOptions = { key: alpha.key }) =>
  harness.call<Json>(method, `/organizations/alpha${path}`, { ...options, body })
const make = async (source: string) => {
  const { body } = await call('POST', '/policies', { source })
  const { policy, revision } = body as { policy: { id: string }; revision: { id: string } }
  return { policyId: policy.id, revisionId: revision.id, policy: body['policy'] as Json }
}

/** As the command line tries a document, at once. */
const tried = async (source: string): Promise<void> => {
  const { admin, close } = await openOver(harness)()
  const { until } = await admin.call('POST /organizations/{organization}/session-policy/trial-here', {
    params: { organization: alpha.id },
    body: { source, since: '2020-01-01T00:00:00Z' },
  })
  // Covers the current second.
  expect(until).toBe(isoTime(harness.clock.unixSeconds() + 1))
  await close()
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
    'request validation failed: source decides requests, but the policy decides sessions',
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
  await tried(PEOPLE)
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

test('no policy decides by a revision that was not tried lately, whichever of the two comes last: choosing it or making it live', async () => {
  const path = '/session-policy'
  const { policyId, revisionId } = await make(PEOPLE)
  const activate = (id: string) => call('POST', `/policies/${policyId}/activate`, { revision_id: id })
  const nobody = { policy_id: null, name: null, revision: null }
  expect((await activate(revisionId)).status).toBe(200)
  const refused = await call('PUT', path, { policy_id: policyId })
  expect([refused.status, refused.body['detail']]).toEqual([
    409,
    'revision 1 was not replayed on past sessions in the last 30 days: replay it in the dashboard, ' +
      `with replayPolicy in the admin API, or with "${PROGRAM} policy replay ${revisionId}"`,
  ])
  expect((await call('GET', path)).body).toEqual(nobody)
  // Neither one that only waits, nor that of another document, nor an old one.
  expect((await call('POST', `/policies/${policyId}/replay`, { revision_id: revisionId })).status).toBe(202)
  await tried(`${PEOPLE}# another`)
  expect((await call('PUT', path, { policy_id: policyId })).status).toBe(409)
  await tried(PEOPLE)
  harness.clock.advance(30 * 86_400 + 1)
  expect((await call('PUT', path, { policy_id: policyId })).status).toBe(409)
  await tried(PEOPLE)
  expect((await call('PUT', path, { policy_id: policyId })).body).toMatchObject({ revision: 1 })

  const next = await call('POST', `/policies/${policyId}/revisions`, { source: PEOPLE.replace('17', '20') })
  const second = next.body['id'] as string
  expect((await activate(second)).status).toBe(409)
  expect((await call('GET', path)).body).toMatchObject({ revision: 1 })
  await tried(PEOPLE.replace('17', '20'))
  expect((await activate(second)).status).toBe(200)
  expect((await call('GET', path)).body).toMatchObject({ revision: 2 })
  // Of a policy that decides nothing, any revision may be live.
  const other = await make(PEOPLE.replace('People', 'Others'))
  const live = await call('POST', `/policies/${other.policyId}/activate`, { revision_id: other.revisionId })
  expect(live.status).toBe(200)
})

test('a trial on no session does not count once people have decided one', async () => {
  const { policyId, revisionId } = await make(PEOPLE)
  await call('POST', `/policies/${policyId}/activate`, { revision_id: revisionId })
  await tried(PEOPLE)
  const sessionId = await harness.session(alpha.id, ['submitted'])
  const rejection = { organizationId: alpha.id, sessionId, to: 'rejected', actor: 'operator:ada' } as const
  await harness.store.sessions.changeStatus(rejection)
  const choose = () => call('PUT', '/session-policy', { policy_id: policyId })
  const refused = await choose()
  expect([refused.status, refused.body['detail']]).toEqual([
    409,
    'the newest replay of revision 1 covered no sessions: replay it on a period in which reviewers decided sessions',
  ])
  harness.clock.advance(1)
  const input = { contentHash: contentHashOf(PEOPLE) }
  const trial = { organizationId: alpha.id, kind: 'policy.replay', input, actor: 'test' }
  await harness.store.tasks.create(trial, { sessions: 1 })
  expect((await choose()).status).toBe(200)
})

test('nobody is asked to approve what would be refused then: a revision that was not tried', async () => {
  const { policyId, revisionId } = await make(PEOPLE)
  await call('POST', `/policies/${policyId}/activate`, { revision_id: revisionId })
  const ada = await harness.person({ email: 'ada@alpha.example', roles: { [alpha.id]: 'organization-admin' } })
  await harness.person({ email: 'bob@alpha.example', roles: { [alpha.id]: 'organization-admin' } })
  expect((await call('PATCH', '/settings', { second_person: true }, { cookie: ada.cookie })).status).toBe(200)
  const choose = () => call('PUT', '/session-policy', { policy_id: policyId }, { cookie: ada.cookie })
  expect((await choose()).status).toBe(409)
  await tried(PEOPLE)
  const asked = await choose()
  expect(asked.status).toBe(202)
  expect(JSON.stringify(asked.body)).toContain('Replayed on 0 sessions: 0 completed')
})

test('a revision is tried on one session: what each rule says, on which facts, and that they were read', async () => {
  const id = await harness.session(alpha.id)
  const path = `/sessions/${id}/simulate`
  const source = `${PEOPLE.replace('17', '40').trimEnd().slice(0, -1)}, { id: seen, allow: checks.document.matches }, { id: rest, review: "true" }]\n`
  const { status, body } = await call('POST', path, { source })
  expect([status, body]).toEqual([
    200,
    {
      outcome: 'review',
      rule: 'seen',
      code: null,
      message: null,
      problem: 'checks.document.matches is not available',
      rules: [
        { id: 'grown', kind: 'allow', value: false, decisive: false, reached: true, failure: null },
        {
          id: 'seen',
          kind: 'allow',
          value: null,
          decisive: false,
          reached: true,
          failure: 'checks.document.matches is not available',
        },
        { id: 'rest', kind: 'review', value: true, decisive: false, reached: false, failure: null },
      ],
      facts: { 'person.age': 34, 'checks.document.matches': null },
    },
  ])
  const log = (await call('GET', '/audit')).body as { data: { action: string; subject: string }[] }
  expect(log.data[0]).toMatchObject({ action: 'session.evidence-read', subject: id })
  expect((await call('POST', path, { source: PEOPLE })).body).toMatchObject({ outcome: 'completed', rule: 'grown' })
  expect((await call('POST', path, { source: REQUESTS })).status).toBe(409)
  expect((await call('POST', '/sessions/ses_none/simulate', { source: PEOPLE })).status).toBe(404)
  const viewer = await harness.person({ email: 'v@alpha.example', roles: { [alpha.id]: 'viewer' } })
  expect((await call('POST', path, { source: PEOPLE }, { cookie: viewer.cookie })).status).toBe(403)
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
    sessions: { completed: 0, rejected: 0, left: 0, otherwise: [] },
  })
})

test('which sessions disagree is for those who may read sessions', async () => {
  const { store } = harness
  const sessionId = await harness.session(alpha.id)
  const { policyId, revisionId } = await make(PEOPLE)
  await call('PUT', `/policies/${policyId}/shadow`, { revision_id: revisionId })
  await store.sessionPolicies.record({
    organizationId: alpha.id,
    sessionId,
    sequence: 1,
    policyId,
    decided: null,
    shadow: { revisionId, outcome: 'completed', rule: 'grown', problem: null },
  })
  const disagreement = { decided: 'rejected', outcome: 'completed', rule: 'grown', count: 1, sessions: [sessionId] }
  const result = { sessions: 1, completed: 1, rejected: 0, left: 0, agreed: 0, disagreements: [disagreement] }
  const kind = 'policy.replay'
  const job = await store.tasks.create({ organizationId: alpha.id, kind, input: {}, actor: 'test' }, result)
  for (const path of ['/jobs', `/jobs/${job.id}`, `/policies/${policyId}/shadow-results`]) {
    for (const role of ['viewer', 'reviewer'] as const) {
      const { cookie } = await harness.person({ email: `${role}${path.length}@x.example`, roles: { [alpha.id]: role } })
      const { status, body } = await call('GET', path, undefined, { cookie })
      const isNamed = JSON.stringify(body).includes(sessionId)
      expect([path, role, status, isNamed]).toEqual([path, role, 200, role === 'reviewer'])
    }
  }
})

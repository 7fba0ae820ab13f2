// Policies that decide sessions, in the admin API: their use, selection, simulations and shadows.
import { expect, test } from 'bun:test'
import { isoTime } from '../../src/lib/time.ts'
import { contentHashOf } from '../../src/policy/revision.ts'
import { PROGRAM } from '../../src/program/labels.ts'
import { openOver } from '../cli/admin-client-over.ts'
import { harnessOfTest, organizationOfTest } from './support/harness.ts'
import type { CallOptions } from './support/request.ts'

const PEOPLE = 'name: People\ndecides: sessions\nrules: [{ id: grown, allow: person.age > 17 }]\n'
const REQUESTS = 'name: Requests\nrules: [{ id: all, allow: "true" }]\n'
const SESSION_POLICY = '/session-policy'
const UNSET = { policy_id: null, name: null, revision: null }

const harness = harnessOfTest()
const alpha = organizationOfTest(harness, 'alpha')

type Json = Record<string, unknown>
const call = (method: string, path: string, body?: object, options: CallOptions = { key: alpha.key }) =>
  harness.call<Json>(method, `/organizations/alpha${path}`, { ...options, body })
const create = async (source: string) => {
  const { body } = await call('POST', '/policies', { source })
  const { policy, revision } = body as Record<'policy' | 'revision', { id: string; decides: string }>
  return { policyId: policy.id, revisionId: revision.id, decides: policy.decides }
}
const choose = (policy_id: string | null, caller?: CallOptions) => call('PUT', SESSION_POLICY, { policy_id }, caller)
const activate = async (policyId: string, revision_id: string): Promise<number> =>
  (await call('POST', `/policies/${policyId}/activate`, { revision_id })).status
const createActive = async (source: string): Promise<{ readonly policyId: string; readonly revisionId: string }> => {
  const { policyId, revisionId } = await create(source)
  expect(await activate(policyId, revisionId)).toBe(200)
  return { policyId, revisionId }
}
const expectRefusal = ({ status, body }: { status: number; body: Json }, code: number, detail: string): void =>
  expect([status, body['detail']]).toEqual([code, detail])

/** Replays a document on past sessions, as the command line does. */
const replay = async (source: string): Promise<void> => {
  const { admin, close } = await openOver(harness)()
  const { until } = await admin.call('POST /organizations/{organization}/session-policy/trial-here', {
    params: { organization: alpha.id },
    body: { source, since: '2020-01-01T00:00:00Z' },
  })
  // The period includes the current second.
  expect(until).toBe(isoTime(harness.clock.unixSeconds() + 1))
  await close()
}

test('a policy for sessions cannot be assigned to a project, and its revisions cannot decide requests', async () => {
  const people = await create(PEOPLE)
  const requests = await create(REQUESTS)
  expect([people.decides, requests.decides]).toEqual(['sessions', 'requests'])
  expectRefusal(
    await call('POST', '/projects', { name: 'Vault', policy_id: people.policyId }),
    400,
    'request validation failed: policy_id must name a policy that decides requests',
  )
  const project = await call('POST', '/projects', { name: 'Vault', policy_id: requests.policyId })
  const path = `/projects/${project.body['id']}`
  expect((await call('PATCH', path, { policy_id: people.policyId })).status).toBe(400)
  expectRefusal(
    await call('POST', `/policies/${people.policyId}/revisions`, { source: REQUESTS }),
    400,
    'request validation failed: source decides requests, but the policy decides sessions',
  )
  expect((await call('POST', `/policies/${people.policyId}/replay`, { source: REQUESTS })).status).toBe(400)
  expect((await call('POST', '/policies/simulate', { source: PEOPLE, request: {} })).status).toBe(409)
  expect(await harness.store.policySource.loadProjectTarget(alpha.id, 'x-none')).toBeNull()
})

test('an organization admin selects a policy for sessions and deselects it', async () => {
  expect((await call('GET', SESSION_POLICY)).body).toEqual(UNSET)
  const { policyId, revisionId } = await create(PEOPLE)
  const requests = await create(REQUESTS)
  expect((await choose(requests.policyId)).status).toBe(400)
  expect((await choose('policy_none')).status).toBe(404)
  expect((await choose(policyId, await harness.member(alpha, 'reviewer', 'reviewer'))).status).toBe(403)
  expect((await choose(policyId)).body).toEqual({ policy_id: policyId, name: 'People', revision: null })
  await replay(PEOPLE)
  await activate(policyId, revisionId)
  expect((await call('GET', SESSION_POLICY)).body).toMatchObject({ revision: 1 })
  expect((await choose(null)).body).toEqual(UNSET)
  const entries = await harness.audited({ action: 'organization.session-policy' })
  expect(entries.map(({ detail }) => detail['policy'])).toEqual([
    [policyId, null],
    [null, policyId],
  ])
})

test('a revision decides sessions only after a recent replay, both when selected and when activated', async () => {
  const { policyId, revisionId } = await createActive(PEOPLE)
  expectRefusal(
    await choose(policyId),
    409,
    'revision 1 was not replayed on past sessions in the last 30 days: replay it in the dashboard, ' +
      `with replayPolicy in the admin API, or with "${PROGRAM} policy replay ${revisionId}"`,
  )
  expect((await call('GET', SESSION_POLICY)).body).toEqual(UNSET)
  // A pending replay, a replay of another document, and an old replay are not sufficient.
  expect((await call('POST', `/policies/${policyId}/replay`, { revision_id: revisionId })).status).toBe(202)
  await replay(`${PEOPLE}# another`)
  expect((await choose(policyId)).status).toBe(409)
  await replay(PEOPLE)
  harness.clock.advance(30 * 86_400 + 1)
  expect((await choose(policyId)).status).toBe(409)
  await replay(PEOPLE)
  expect((await choose(policyId)).body).toMatchObject({ revision: 1 })

  const source = PEOPLE.replace('17', '20')
  const next = await call('POST', `/policies/${policyId}/revisions`, { source })
  const second = next.body['id'] as string
  expect(await activate(policyId, second)).toBe(409)
  expect((await call('GET', SESSION_POLICY)).body).toMatchObject({ revision: 1 })
  await replay(source)
  expect(await activate(policyId, second)).toBe(200)
  expect((await call('GET', SESSION_POLICY)).body).toMatchObject({ revision: 2 })
  // A policy that is not selected needs no replay.
  await createActive(PEOPLE.replace('People', 'Others'))
})

test('a replay without sessions is not sufficient after reviewers have decided a session', async () => {
  const { policyId } = await createActive(PEOPLE)
  await replay(PEOPLE)
  const sessionId = await harness.session(alpha.id, ['submitted'])
  const rejection = { organizationId: alpha.id, sessionId, to: 'rejected', actor: 'operator:ada' } as const
  await harness.store.sessions.changeStatus(rejection)
  expectRefusal(
    await choose(policyId),
    409,
    'the newest replay of revision 1 covered no sessions: replay it on a period in which reviewers decided sessions',
  )
  harness.clock.advance(1)
  const input = { contentHash: contentHashOf(PEOPLE) }
  const trial = { organizationId: alpha.id, kind: 'policy.replay', input, actor: 'test' }
  await harness.store.tasks.create(trial, { sessions: 1 })
  expect((await choose(policyId)).status).toBe(200)
})

test('a selection without a replay is refused before it is requested from a second person', async () => {
  const { policyId } = await createActive(PEOPLE)
  const ada = await harness.member(alpha, 'ada')
  await harness.member(alpha, 'bob')
  expect((await call('PATCH', '/settings', { second_person: true }, ada)).status).toBe(200)
  expect((await choose(policyId, ada)).status).toBe(409)
  await replay(PEOPLE)
  const { status, body } = await choose(policyId, ada)
  expect([status, JSON.stringify(body)]).toEqual([202, expect.stringContaining('Replayed on 0 sessions: 0 completed')])
})

test('a simulation on one session shows the outcome of each rule and the facts, and is recorded', async () => {
  const id = await harness.session(alpha.id)
  const path = `/sessions/${id}/simulate`
  const rules = '{ id: seen, allow: checks.document.matches }, { id: rest, review: "true" }]\n'
  const failure = 'checks.document.matches is not available'
  const rule = { kind: 'allow', value: false, decisive: false, reached: true, failure: null }
  expect(
    await call('POST', path, { source: `${PEOPLE.replace('17', '40').trimEnd().slice(0, -1)}, ${rules}` }),
  ).toEqual({
    status: 200,
    body: {
      outcome: 'review',
      rule: 'seen',
      code: null,
      message: null,
      problem: failure,
      rules: [
        { ...rule, id: 'grown' },
        { ...rule, id: 'seen', value: null, failure },
        { ...rule, id: 'rest', kind: 'review', value: true, reached: false },
      ],
      facts: { 'person.age': 34, 'checks.document.matches': null },
    },
  })
  expect((await harness.audited())[0]).toMatchObject({ action: 'session.evidence-read', subject: id })
  expect((await call('POST', path, { source: PEOPLE })).body).toMatchObject({ outcome: 'completed', rule: 'grown' })
  expect((await call('POST', path, { source: REQUESTS })).status).toBe(409)
  expect((await call('POST', '/sessions/ses_none/simulate', { source: PEOPLE })).status).toBe(404)
  const viewer = await harness.member(alpha, 'viewer', 'viewer')
  expect((await call('POST', path, { source: PEOPLE }, viewer)).status).toBe(403)
})

test('only reviewers see which sessions have another outcome in replays and shadows', async () => {
  const { store } = harness
  const sessionId = await harness.session(alpha.id)
  const { policyId, revisionId } = await create(PEOPLE)
  await call('PUT', `/policies/${policyId}/shadow`, { revision_id: revisionId })
  const results = `/policies/${policyId}/shadow-results`
  const none = { same: 0, different: 0, failed: 0, exact: true }
  const sessions = { completed: 0, rejected: 0, left: 0, otherwise: [] }
  expect((await call('GET', results)).body).toEqual({ revision_id: revisionId, ...none, sessions })
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
  const task = { organizationId: alpha.id, kind: 'policy.replay', input: {}, actor: 'test' }
  const job = await store.tasks.create(task, result)
  for (const role of ['viewer', 'reviewer'] as const) {
    const caller = await harness.member(alpha, role, role)
    for (const path of ['/jobs', `/jobs/${job.id}`, results]) {
      const { status, body } = await call('GET', path, undefined, caller)
      const isNamed = JSON.stringify(body).includes(sessionId)
      expect([path, role, status, isNamed]).toEqual([path, role, 200, role === 'reviewer'])
    }
  }
})

// The overview of an organization and its numbers of decisions and sessions, with names and without data of other organizations.
import { describe, expect, test } from 'bun:test'
import { failingSince, growsOld } from '../../src/admin/routes/overview.ts'
import type { WebhookMessage } from '../../src/store/webhooks/webhook-messages.ts'
import { markChecksMade } from '../support/made-checks.ts'
import { decisionRecord } from './support/decisions.ts'
import { harnessOfFile } from './support/harness.ts'
import { openHit } from './support/open-hit.ts'

const DAY_SECONDS = 86_400
const QUARTER_MS = 900_000

const harness = await harnessOfFile()
const alpha = await harness.organization('alpha')
const beta = await harness.organization('beta')
const viewer = await harness.member(alpha, 'vera', 'viewer')

type Row = Record<string, string | number | null>
const read = (path: string, cookie: string) =>
  harness.call<{ data: Row[] } & Record<string, unknown>>('GET', path, { cookie })

const session = async (organizationId: string, to: readonly ('submitted' | 'completed')[], changes = {}) => {
  const sessionId = await harness.session(organizationId, [], changes)
  for (const status of to) {
    const change = { organizationId, sessionId, to: status, actor: 'person', override: 'person' } as const
    await harness.store.sessions.changeStatus(change)
    await markChecksMade(harness.store, organizationId, sessionId)
    harness.clock.advance(60)
  }
}

describe('the overview', () => {
  test('contains pending, failing and expiring items with their age', async () => {
    const nowSeconds = harness.clock.unixSeconds()
    await session(alpha.id, ['submitted'])
    await session(alpha.id, ['submitted'])
    await session(alpha.id, ['submitted', 'completed'], { checkType: 'kyb' })
    await session(alpha.id, ['submitted', 'completed'])
    await session(alpha.id, ['submitted', 'completed'], { environment: 'test' })
    await session(beta.id, ['submitted'])
    for (const [organizationId, name, days] of [
      [alpha.id, 'Ends later', 31],
      [alpha.id, 'Ends soon', 3],
      [alpha.id, 'Ends first', 2],
      [beta.id, 'Theirs', 2],
    ] as const) {
      const expiresAtSeconds = harness.clock.unixSeconds() + days * DAY_SECONDS
      await harness.issueKey(organizationId, 'attestation', undefined, { name, expiresAtSeconds })
    }
    const { status, body } = await read('/organizations/alpha/overview', viewer.cookie)
    expect(status).toBe(200)
    expect(body['first_steps']).toEqual({ policy: false, project: null, key: true })
    expect(body).toMatchObject({
      reviews: { waiting: 2, exact: true, oldest_at: new Date(nowSeconds * 1000).toISOString() },
      verified: { people: 1, businesses: 1, exact: true },
      hits: { verified: 0, exact: true },
      approvals: 0,
      lists: [],
      webhooks: null,
    })
    // Hits of pending sessions are in the queue.
    const { items } = await harness.store.sessions.page({ organizationId: alpha.id }, { after: null, limit: 9 })
    const withStatus = (wanted: string): string => items.find(({ status: now }) => now === wanted)?.id ?? ''
    const hits = async () => (await read('/organizations/alpha/overview', viewer.cookie)).body['hits']
    await openHit(harness.store, alpha.id, withStatus('submitted'))
    expect(await hits()).toMatchObject({ verified: 0 })
    const verified = withStatus('completed')
    await openHit(harness.store, alpha.id, verified)
    expect(await hits()).toEqual({ verified: 1, exact: true })
    const root = await harness.person({ email: 'root@example.com', deploymentAdmin: true })
    const counts = { reviews: { waiting: 2, exact: true }, hits: { verified: 1, exact: true }, approvals: 0 }
    for (const [cookie, deployment] of [
      [viewer.cookie, null],
      [root.cookie, 0],
    ] as const) {
      const { body: counted } = await read('/organizations/alpha/waiting', cookie)
      expect(counted as object).toEqual({ ...counts, deployment_approvals: deployment })
    }
    // Sanctions lists belong to the deployment, and every organization sees their failures.
    const lists = async () => (await read('/organizations/alpha/overview', viewer.cookie)).body['lists']
    expect(await lists()).toEqual([])
    const { screeningLists } = harness.store
    await screeningLists.fail({ name: 'own', token: (await screeningLists.find('own'))?.token ?? '' }, 'no answer', 0)
    expect(await lists()).toMatchObject([{ name: 'own', of: 'people', failure: 'no answer' }])
    expect((body['keys'] as { name: string }[]).map(({ name }) => name)).toEqual(['Ends first', 'Ends soon'])
    expect((await read('/organizations/beta/overview', viewer.cookie)).status).toBe(404)
  })

  test('contains the time since the last message that an endpoint accepted', () => {
    const message = (endpointId: string, state: WebhookMessage['state'], attempts: number, createdAtSeconds: number) =>
      ({ endpointId, state, attempts, createdAtSeconds }) as WebhookMessage
    const found = failingSince([
      message('new', 'waiting', 0, 9),
      message('down', 'waiting', 2, 8),
      message('back', 'delivered', 1, 7),
      message('down', 'dead', 9, 6),
      message('back', 'dead', 9, 5),
      message('down', 'delivered', 1, 4),
      message('down', 'dead', 9, 3),
    ])
    expect([...found]).toEqual([['down', { failed: 2, sinceSeconds: 6 }]])
  })

  test('contains a list whose source failed or was not confirmed for two intervals', () => {
    const source = { failure: null, confirmedAtSeconds: 1_000, intervalSeconds: 100 }
    expect(growsOld(source, 1_200)).toBe(false)
    expect(growsOld(source, 1_201)).toBe(true)
    expect(growsOld({ ...source, failure: 'no answer' }, 1_001)).toBe(true)
    // The source was read while the clock was ahead.
    expect(growsOld(source, 900)).toBe(true)
  })
})

describe('decisions', () => {
  test('are counted by rule and key, and over all organizations only for the deployment', async () => {
    const nowMs = harness.clock.unixSeconds() * 1000
    const policy = await harness.store.policies.create({ organizationId: alpha.id, name: 'Limits' })
    const key = await harness.issueKey(alpha.id, 'attestation', undefined, { name: 'Backend' })
    const saved = { organizationId: alpha.id, policyId: policy.id, source: 'x', quorum: 1 }
    const revision = await harness.store.policies.saveRevision(saved)
    const of = (n: number, agoMs: number, compliant: boolean, organization = alpha.id) =>
      decisionRecord(n, {
        organization,
        at: nowMs - agoMs,
        compliant,
        policy: policy.id,
        key: key.slice(9, 21),
        revision: revision?.id ?? '',
        rule: compliant ? null : 'too-much',
      })
    harness.decide(
      of(1, 40 * DAY_SECONDS * 1000, true),
      of(2, 2 * QUARTER_MS, true),
      of(3, 1, true),
      of(4, 0, false),
      of(5, 0, true, beta.id),
    )

    const since = encodeURIComponent(new Date(nowMs - DAY_SECONDS * 1000).toISOString())
    const admin = await harness.person({ email: 'ada@example.com', deploymentAdmin: true })
    // A day in whole quarters of an hour, an earlier day, and the last 24 hours.
    const iso = (atMs: number): string => new Date(atMs).toISOString()
    const quarter = nowMs - (nowMs % QUARTER_MS)
    const twoDays = `${iso(quarter - 1)}/${iso(nowMs + 1)},${iso(quarter - DAY_SECONDS * 1000)}/${iso(quarter - 4 * QUARTER_MS)}`
    const hoursSince = iso(quarter - 23 * 3_600_000)
    const numbers = (days: string, organization = 'alpha', week = since) =>
      read(
        `/organizations/${organization}/numbers?days=${days}&hours_since=${hoursSince}&rules_since=${week}`,
        organization === 'alpha' ? viewer.cookie : admin.cookie,
      )
    const addLatencies = (organizationId: string, counts: readonly [bucket: number, count: number][]) =>
      harness.store.answerLatencies.add(organizationId, new Map(counts))
    await addLatencies(alpha.id, [[60, 90]])
    await addLatencies(alpha.id, [
      [60, 4],
      [90, 6],
    ])
    await addLatencies(beta.id, [[200, 1_000]])
    const { body } = await numbers(twoDays)
    const counted = body as unknown as {
      any: boolean
      days: Row[]
      hours: Record<'compliant' | 'denied' | 'p50_ms', number[]> & { since: string }
    }
    const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0)
    expect(counted.any).toBe(true)
    expect(counted.days).toMatchObject([
      { compliant: 1, denied: 1, latency_ms: { p50: 0.802, p95: 10.4 } },
      { compliant: 0, denied: 0, latency_ms: null },
    ])
    const { hours } = counted
    expect(Date.parse(hours.since)).toBe(quarter - 23 * 3_600_000)
    expect([sum(hours.compliant), sum(hours.denied)]).toEqual([2, 1])
    expect(hours.p50_ms).toEqual(Array.from({ length: 24 }, (_, hour) => (hour === 23 ? 0.802 : null)) as number[])
    expect(body['rules']).toMatchObject([
      { policy_name: 'Limits', rule: null, compliant: 2, denied: 0, later: { compliant: 2, denied: 0 } },
      { policy_name: 'Limits', rule: 'too-much', compliant: 0, denied: 1, later: { compliant: 0, denied: 1 } },
    ])
    await harness.organization('gamma')
    expect((await numbers(twoDays, 'gamma')).body).toMatchObject({ any: false, rules: [] })
    expect((await numbers(twoDays, 'alpha', encodeURIComponent(iso(nowMs - 32 * DAY_SECONDS * 1000)))).status).toBe(400)
    for (const wrong of [`${iso(0)}/${iso(90_000_001)}`, `${iso(5)}/${iso(4)}`, iso(0)]) {
      expect((await numbers(wrong)).status).toBe(400)
    }
    const tally = (by: string) => read(`/organizations/alpha/decisions/tally?by=${by}&since=${since}`, viewer.cookie)

    expect((await tally('rule')).body.data).toMatchObject([
      { policy_id: policy.id, policy_name: 'Limits', rule: null, compliant: 2, denied: 0 },
      { policy_name: 'Limits', rule: 'too-much', compliant: 0, denied: 1 },
    ])
    expect((await tally('source')).body.data).toMatchObject([{ key_name: 'Backend', compliant: 2, denied: 1 }])

    // A single decision has these names, too.
    const one = await read(`/organizations/alpha/decisions/${of(3, 1, true).uuid}`, viewer.cookie)
    const unknown = { project: null, shadow_revision: null, to: null, contract: null }
    expect(one.body['names']).toEqual({ ...unknown, revision: 1, key: 'Backend' })

    const all = `/decisions/tally?since=${since}`
    expect((await read(all, viewer.cookie)).status).toBe(403)
    expect((await read(all, admin.cookie)).body.data).toMatchObject([
      { organization_name: 'alpha', key_name: 'Backend', compliant: 2, denied: 1 },
      { organization_id: beta.id, key_name: null, compliant: 1, denied: 0 },
    ])
    const far = encodeURIComponent(new Date(nowMs - 32 * DAY_SECONDS * 1000).toISOString())
    expect((await read(`/organizations/alpha/decisions/tally?by=rule&since=${far}`, viewer.cookie)).status).toBe(400)
  })
})

test('decisions have the labels of their contracts', async () => {
  const nowMs = harness.clock.unixSeconds() * 1000
  const { id: delta, key } = await harness.organization('delta')
  const policy = await harness.store.policies.create({ organizationId: delta, name: 'Any' })
  const project = await harness.store.projects.create({ organizationId: delta, name: 'Swap', policyId: policy.id })
  const address = '0x00000000000000000000000000000000000000ab'
  const call = (method: string, path: string, body?: object) =>
    harness.call(method, `/organizations/delta${path}`, { key, ...(body && { body }) })
  const bound = await call('POST', '/bindings', { project_id: project.id, chain: 'base', address, label: 'Router' })
  expect(bound).toMatchObject({ status: 201, body: { label: 'Router' } })
  const record = (n: number, to: string, chain = 'base') =>
    decisionRecord(n, { organization: delta, at: nowMs, project: project.id, to, chain })
  harness.decide(record(21, address), record(22, address, 'ethereum'), record(23, `0x${'0'.repeat(40)}`))
  const read = async (path: string) => (await call('GET', path)).body
  expect((await read('/decisions'))['labels']).toEqual({ [`base/${address}`]: 'Router' })
  const names = async () => (await read(`/decisions/${record(21, address).uuid}`))['names']
  expect(await names()).toMatchObject({ to: 'Swap', contract: 'Router' })

  const changed = await call('PATCH', `/bindings/${bound.body['id']}`, { label: null })
  expect(changed).toMatchObject({ status: 200, body: { label: null } })
  expect(await names()).toMatchObject({ to: 'Swap', contract: null })
  expect((await call('PATCH', `/bindings/${bound.body['id']}`, { label: 'New\nline' })).status).toBe(400)
  await call('PATCH', `/bindings/${bound.body['id']}`, { label: 'Vault' })
  const [entry] = (await read('/audit?action=binding.label'))['data'] as Record<string, unknown>[]
  expect(entry).toMatchObject({ subject: bound.body['id'], subject_name: 'Vault', detail: { label: [null, 'Vault'] } })
})

test('sessions are counted by progress and by reviewer', async () => {
  const epsilon = await harness.organization('epsilon')
  await session(epsilon.id, [])
  harness.clock.advance(31 * DAY_SECONDS)
  const rita = await harness.member(epsilon, 'rita', 'reviewer')
  await session(epsilon.id, [])
  await session(epsilon.id, ['submitted', 'completed'], { environment: 'test' })
  await session(epsilon.id, ['submitted'])
  const [assigned, decided] = [
    await harness.session(epsilon.id, ['submitted']),
    await harness.session(epsilon.id, ['submitted']),
  ]
  const assignment = { organizationId: epsilon.id, sessionId: assigned, userId: rita.id, expectedVersion: 0 }
  await harness.store.sessionAssignments.assign(assignment)
  // A session that a reviewer decides twice counts once.
  for (const to of ['retry', 'submitted', 'rejected'] as const) {
    const actor = to === 'submitted' ? 'person' : 'operator:rita@example.com'
    await harness.store.sessions.changeStatus({ organizationId: epsilon.id, sessionId: decided, to, actor })
  }
  const { body } = await read('/organizations/epsilon/verification-numbers', rita.cookie)
  expect(body['funnel']).toEqual({ created: 4, started: 3, submitted: 3, verified: 0, exact: true } as never)
  expect(body['reviewers']).toEqual([
    { reviewer: 'rita@example.com', waiting: 1, decided: 1 },
    { reviewer: null, waiting: 1, decided: 0 },
  ] as never)
})

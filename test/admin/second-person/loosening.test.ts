// Settings of checks: what loosens them waits for a second person, what only tightens them is done at once, by a key as well.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { newIdentifier } from '../../../src/domain/identifier.ts'
import { LEVELS } from '../../../src/domain/level.ts'
import { VERIFICATION_SERVICES } from '../../../src/domain/webhook-message.ts'
import { markChecksMade } from '../../support/made-checks.ts'
import { SERVICE_SECRET, startWorld, type World } from './world.ts'

let world: World

beforeEach(async () => {
  world = await startWorld('setWebhookService')
  await world.setRule(true)
  await world.setDeploymentRule(true)
})
afterEach(() => world.close())

const put = async (path: string, body: object): Promise<'waits' | 'done'> => {
  const method = path === 'evidence-retention' ? 'PATCH' : 'PUT'
  const at = `/organizations/alpha/${path}`
  const byKey = await world.call(method, at, { key: world.alpha.key, body })
  if (byKey.status === 200) return 'done'
  expect(byKey.status).toBe(403)
  expect((await world.call(method, at, { cookie: world.ada.cookie, body })).status).toBe(202)
  return 'waits'
}

const approve = (id: string) => world.decide(id, true, world.bob)

test('what is a hit, and what a hit does', async () => {
  const { screeningSettings } = world.store
  for (const name of ['one', 'two']) await world.store.lists.create({ owner: world.alpha.id, name })
  const start = {
    threshold: 80,
    onNewHit: 'retry',
    addressLists: ['one'],
    screeners: [],
    screenerScore: 50,
    screenersAgain: true,
  } as const
  const unset = { ...start, threshold: null, addressLists: null, screeners: null, screenerScore: null }
  for (const [before, body, expected] of [
    [start, { threshold: 81 }, 'waits'],
    [start, { threshold: 79 }, 'done'],
    [unset, { threshold: 76 }, 'waits'],
    [unset, { threshold: 75 }, 'done'],
    [start, { on_new_hit: 'review' }, 'waits'],
    [start, { on_new_hit: 'revoke' }, 'done'],
    [start, { address_lists: ['two'] }, 'waits'],
    [start, { address_lists: null }, 'waits'],
    [start, { address_lists: ['two', 'one'] }, 'done'],
    [unset, { address_lists: ['one'] }, 'waits'],
    [unset, { address_lists: null }, 'done'],
    [unset, { screeners: [] }, 'waits'],
    [start, { screeners: null }, 'done'],
    [start, { screeners: ['paid'] }, 'done'],
    [{ ...start, screeners: ['paid'] }, { screeners: [] }, 'waits'],
    [start, { screener_score: 51 }, 'waits'],
    [start, { screener_score: null }, 'waits'],
    [start, { screener_score: 49 }, 'done'],
    [unset, { screener_score: 99 }, 'done'],
    [start, { screeners_again: false }, 'waits'],
    [start, { threshold: 60, screeners_again: false }, 'waits'],
  ] as const) {
    await screeningSettings.set(world.alpha.id, before)
    expect([before, body, await put('screening', body)]).toEqual([before, body, expected])
  }
})

test('the minimum age, at each level', async () => {
  const { minimumAges } = world.store
  for (const level of Object.keys(LEVELS)) {
    expect([level, await put('minimum-age', { levels: { [level]: 17 } })]).toEqual([level, 'waits'])
  }
  for (const [years, basic, body, expected] of [
    [null, null, { years: 17 }, 'waits'],
    [null, null, { years: 18 }, 'done'],
    [21, null, { years: 20 }, 'waits'],
    [21, null, { years: null }, 'waits'],
    [21, null, { years: 22 }, 'done'],
    [21, null, { levels: { basic: 20 } }, 'waits'],
    [21, null, { levels: { basic: 22 } }, 'done'],
    [21, 25, { levels: { basic: null } }, 'waits'],
    [21, 19, { levels: { basic: null } }, 'done'],
  ] as const) {
    await minimumAges.set(world.alpha.id, null, years)
    await minimumAges.set(world.alpha.id, 1, basic)
    expect([years, basic, body, await put('minimum-age', body)]).toEqual([years, basic, body, expected])
  }
})

test('for how long the names of verified and the traces of rejected people are kept', async () => {
  const retention = { completedDays: 100, rejectedDays: 100, abandonedDays: 100 }
  await world.store.evidenceRetention.set(world.alpha.id, retention)
  expect(await put('evidence-retention', { completed_days: 99 })).toBe('waits')
  expect(await put('evidence-retention', { rejected_days: 99 })).toBe('waits')
  expect(await put('evidence-retention', { abandoned_days: 1 })).toBe('done')
  expect(await put('evidence-retention', { completed_days: 101, rejected_days: 101 })).toBe('done')
})

test.each(['rejected_days', 'abandoned_days'])('%s is at least one', async (field) => {
  const { status, body } = await world.asks(world.ada, 'changeRetention', { body: { [field]: 0 } })
  expect([status, body['field'], body['rule']]).toEqual([400, field, 'must be a whole number from 1 to 36500'])
})

test('a setting that has changed meanwhile, though the request does not name it, stops the approval', async () => {
  const { evidenceRetention, minimumAges, screeningSettings } = world.store
  const { id } = world.alpha
  const other = { body: { service: VERIFICATION_SERVICES[0], secret: 'another secret of a service' } }
  const newService = [
    'setWebhookService',
    {},
    async () => approve((await world.asks(world.ada, 'setWebhookService', other)).body.id),
  ] as const
  for (const [operation, options, change] of [
    [
      'changeScreeningSettings',
      {},
      async () =>
        screeningSettings.set(id, { ...(await screeningSettings.read(id)), onNewHit: 'revoke', screenersAgain: true }),
    ],
    ['changeMinimumAge', { body: { levels: { basic: 17 } } }, () => minimumAges.set(id, null, 30)],
    [
      'changeRetention',
      {},
      async () => evidenceRetention.set(id, { ...(await evidenceRetention.find(id)), rejectedDays: 1 }),
    ],
    newService,
    // Its secret alone changes.
    newService,
  ] as const) {
    const asked = await world.asks(world.ada, operation, options)
    await change()
    expect([operation, (await approve(asked.body.id)).status]).toEqual([operation, 409])
    const again = await world.asks(world.ada, operation, options)
    expect([operation, (await approve(again.body.id)).status]).toEqual([operation, 200])
  }
})

test('only a publisher’s list, and only as it is published, is compared with at once', async () => {
  const cookie = world.root.cookie
  const enable = async (name: string, body: object) =>
    (await world.call('PUT', `/screening/lists/${name}`, { cookie, body })).status
  expect(await enable('mine', { format: 'csv' })).toBe(202)
  expect(await enable('ofac-sdn', { urls: ['https://lists.example/mallory.csv'] })).toBe(202)
  expect(await enable('ofac-sdn', { format: 'csv' })).toBe(202)
  expect(await enable('ofac-sdn', {})).toBe(200)
  const moved = await world.call('PUT', '/screening/lists/ofac-sdn', { cookie, body: { every_seconds: 2_592_000 } })
  expect(moved.status).toBe(202)
})

test('a list under the name of an ended one replaces its shared wallets, and needs a second person', async () => {
  const { screeningLists, lists } = world.store
  const cookie = world.root.cookie
  const enable = () => world.call('PUT', '/screening/lists/eu-fsf', { cookie, body: {} })
  expect((await enable()).status).toBe(200)
  await screeningLists.remove('eu-fsf')
  expect((await enable()).status).toBe(200)
  await screeningLists.remove('eu-fsf')
  await lists.ofScreening('eu-fsf', true)
  const asked = await enable()
  expect(asked.status).toBe(202)
  expect(asked.body['changes']).toContainEqual({
    what: 'shared list eu_fsf',
    before: '0 addresses',
    after: 'replaced',
  })
  await lists.remove(null, 'eu_fsf')
  // The versions are left, and with them the hits that name them.
  expect((await enable()).status).toBe(200)
  const version = { bytes: new Uint8Array([1]), sha256: 'a', entries: 1, names: 1 }
  await screeningLists.replace('eu-fsf', version, { token: null, validators: {}, nextDueAtSeconds: 9e9 })
  await screeningLists.remove('eu-fsf')
  expect((await enable()).status).toBe(202)
})

test('an endpoint that is to decide is shown with its path and its environment', async () => {
  await world.store.webhookEndpoints.remove(
    world.alpha.id,
    (await world.store.webhookEndpoints.list(world.alpha.id))[0]?.id ?? '',
  )
  const { body } = await world.asks(world.ada, 'addWebhookEndpoint')
  expect(body['changes']).toMatchObject([
    { after: expect.stringMatching(/^decide\.example\/b \(sha256 /) },
    { what: 'environment', after: 'live' },
  ])
})

test('where a list of sanctioned people comes from is shown with its path, and may not change meanwhile', async () => {
  const path = '/screening/lists/own'
  const asks = (body: object) => world.call('PUT', path, { cookie: world.root.cookie, body })
  const settings = { name: 'own', format: 'ofac-csv', urls: ['https://lists.example/a.csv'], reach: 'public' } as const
  const moved = await asks({ urls: ['https://lists.example/mallory.csv'] })
  expect(moved.body['changes']).toEqual([
    {
      what: 'fetched from',
      before: expect.stringMatching(/^lists\.example\/a\.csv \(sha256 /),
      after: expect.stringMatching(/^lists\.example\/mallory\.csv \(sha256 /),
    },
  ])
  const otherFormat = await asks({ format: 'csv' })
  expect(otherFormat.body['changes']).toEqual([{ what: 'format', before: 'ofac-csv', after: 'csv' }])
  await world.store.screeningLists.set({ ...settings, intervalSeconds: 3_600 })
  expect((await world.decide(moved.body.id, true, world.rita, true)).status).toBe(409)
})

test('a service’s secret is kept sealed, and an endpoint that is only notified is added at once', async () => {
  const asked = await world.asks(world.ada, 'setWebhookService')
  expect(asked.body['name']).toStartWith('decide.example/a (sha256 ')
  const stored = await world.store.approvals.find(world.alpha.id, asked.body.id)
  expect(JSON.stringify([asked.body, stored])).not.toContain(SERVICE_SECRET)
  expect((await approve(asked.body.id)).status).toBe(200)
  const [endpoint] = await world.store.webhookEndpoints.list(world.alpha.id)
  // The harness seals by inverting each byte.
  const sealed = endpoint?.sealedServiceSecret?.map((byte) => byte ^ 0xff) ?? new Uint8Array()
  expect(new TextDecoder().decode(sealed)).toBe(SERVICE_SECRET)
  const events = { key: world.alpha.key, body: { url: 'https://events.example/', purpose: 'events' } }
  expect((await world.call('POST', '/organizations/alpha/webhooks', events)).status).toBe(201)
})

test('removing the external decider needs a second person, because a policy would decide instead', async () => {
  const chosen = await world.asks(world.ada, 'changeSessionPolicy')
  expect(chosen.body['changes']).toContainEqual({
    what: 'external decider remains active',
    before: expect.stringMatching(/^decide\.example\/a /),
    after: expect.stringMatching(/^decide\.example\/a /),
  })
  await world.store.sessionPolicies.set(world.alpha.id, world.ofSessions.id)
  const removed = await world.asks(world.ada, 'removeWebhookEndpoint')
  expect([removed.status, removed.body['changes']]).toEqual([
    202,
    [
      {
        what: 'sessions are decided by',
        before: expect.stringMatching(/^decide\.example\/a /),
        after: expect.stringContaining(world.ofSessions.id),
      },
    ],
  ])
  expect(await world.store.webhookEndpoints.list(world.alpha.id)).toHaveLength(1)
  expect((await approve(removed.body.id)).status).toBe(200)
  expect(await world.store.webhookEndpoints.list(world.alpha.id)).toHaveLength(0)
})

test('pausing and resuming the external decider need a second person', async () => {
  const decider = expect.stringMatching(/^decide\.example\/a /)
  const others = 'people, until the endpoint resumes'
  for (const [paused, before, after] of [
    [true, decider, others],
    [false, others, decider],
  ] as const) {
    const asked = await world.asks(world.ada, 'changeWebhookEndpoint', { body: { paused } })
    expect(asked).toMatchObject({
      status: 202,
      body: { changes: [{ what: 'sessions are decided by', before, after }] },
    })
    const [path = ''] = world.requests['changeWebhookEndpoint'] ?? []
    expect((await world.call('PATCH', path, { key: world.alpha.key, body: { paused } })).status).toBe(403)
    expect((await approve(asked.body.id)).status).toBe(200)
    const [endpoint] = await world.store.webhookEndpoints.list(world.alpha.id)
    expect(endpoint?.pausedAtSeconds !== null).toBe(paused)
  }
})

test('the use of country and age in policies needs a second person, and other changes of the page do not', async () => {
  const [path = ''] = world.requests['changeBrand'] ?? []
  const { key } = world.alpha
  expect((await world.call('PATCH', path, { key, body: { color: '#123456', asks_details: false } })).status).toBe(200)
  for (const asks_details of [true, false]) {
    expect((await world.call('PATCH', path, { key, body: { asks_details } })).status).toBe(403)
    const asked = await world.asks(world.ada, 'changeBrand', { body: { asks_details } })
    expect(asked.status).toBe(202)
    expect((await approve(asked.body.id)).status).toBe(200)
    expect((await world.store.organizationBrands.find(world.alpha.id)).asksDetails).toBe(asks_details)
  }
})

test('for how long the secret before still decides', async () => {
  const seen = async (operation: string, options: object = {}) => {
    const asked = await world.asks(world.ada, operation, options)
    expect(asked.status).toBe(202)
    return { id: asked.body.id, changes: asked.body['changes'] }
  }
  const first = await seen('setWebhookService')
  expect(JSON.stringify(first.changes)).not.toContain('second')
  expect((await approve(first.id)).status).toBe(200)
  const body = { service: VERIFICATION_SERVICES[0], secret: SERVICE_SECRET, overlap_seconds: 2_592_000 }
  expect((await seen('setWebhookService', { body })).changes).toContainEqual({
    what: 'overlap with the current secret',
    before: null,
    after: '2,592,000 seconds',
  })
})

test('erasing the evidence of a verified or a rejected person', async () => {
  const { store, harness, alpha } = world
  const sealedUnder = new Uint8Array(60)
  await store.organizationKeys.add(alpha.id, { wrappedKey: sealedUnder, wrappedBy: 'a key of tests' })
  for (const [statuses, expected] of [
    [[], 'done'],
    [['submitted'], 'done'],
    [['submitted', 'completed'], 'waits'],
    [['submitted', 'rejected'], 'waits'],
    [['submitted', 'completed', 'retry'], 'waits'],
  ] as const) {
    const sessionId = await harness.session(alpha.id)
    const target = { organizationId: alpha.id, sessionId }
    const record = {
      id: newIdentifier('evidence'),
      kind: 'portrait',
      mediaType: 'image/jpeg',
      byteLength: 10,
      fieldNames: [],
      createdAtSeconds: 1,
      storageName: sessionId.replaceAll('-', ''),
      wrappedKey: new Uint8Array(64),
      sealedName: null,
      sealedUnder,
    }
    await store.evidence.addDocument(target, record, 3, 'person')
    for (const to of statuses) {
      await markChecksMade(store, alpha.id, sessionId)
      await store.sessions.changeStatus({ ...target, to, actor: 'person', override: 'person', revoke: to === 'retry' })
    }
    const at = `/organizations/alpha/sessions/${sessionId}/evidence/erase`
    const byKey = await world.call('POST', at, { key: alpha.key, body: {} })
    expect([statuses, byKey.status]).toEqual([statuses, expected === 'done' ? 200 : 403])
    if (expected === 'waits') {
      const { status, body } = await world.call('POST', at, { cookie: world.ada.cookie, body: {} })
      expect([statuses, status]).toEqual([statuses, 202])
      expect(await store.evidence.list(target)).toHaveLength(1)
      expect((await approve(body.id)).status).toBe(200)
    }
    expect(await store.evidence.list(target)).toEqual([])
  }
})

// Settings of checks: a change that loosens a check needs a second person; a change that only tightens it is made immediately,
// even by a key.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { newIdentifier } from '../../../src/domain/identifier.ts'
import { LEVELS } from '../../../src/domain/level.ts'
import { VERIFICATION_SERVICES } from '../../../src/domain/webhook-message.ts'
import { markChecksMade } from '../../support/made-checks.ts'
import { type Answer, SERVICE_SECRET, startWorld, type World } from './world.ts'

let world: World

beforeEach(async () => {
  world = await startWorld('setWebhookService')
  await world.setRule(true)
  await world.setDeploymentRule(true)
})
afterEach(() => world.close())

type Outcome = 'waits' | 'done'

/** Sends a change as a key, which is refused if the change needs a second person, and then as a person. */
const send = async (method: string, path: string, body: object): Promise<readonly [Outcome, Answer]> => {
  const at = `/organizations/alpha/${path}`
  const byKey = await world.call(method, at, { key: world.alpha.key, body })
  if (byKey.status === 200) return ['done', byKey]
  expect(byKey.status).toBe(403)
  const requested = await world.call(method, at, { cookie: world.ada.cookie, body })
  expect(requested.status).toBe(202)
  return ['waits', requested]
}
const put = async (path: string, body: object, method = 'PUT'): Promise<Outcome> => (await send(method, path, body))[0]

const approve = async ({ body }: Answer): Promise<number> => (await world.decide(body.id, true, world.bob)).status

test('the definition and the effect of a hit are loosened with a second person, and tightened immediately', async () => {
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

test('the minimum age of each level is lowered with a second person, and raised immediately', async () => {
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

test('the retention of verified and rejected people is shortened with a second person, and extended immediately', async () => {
  const retention = { completedDays: 100, rejectedDays: 100, abandonedDays: 100 }
  await world.store.evidenceRetention.set(world.alpha.id, retention)
  for (const [body, expected] of [
    [{ completed_days: 99 }, 'waits'],
    [{ rejected_days: 99 }, 'waits'],
    [{ abandoned_days: 1 }, 'done'],
    [{ completed_days: 101, rejected_days: 101 }, 'done'],
  ] as const) {
    expect([body, await put('evidence-retention', body, 'PATCH')]).toEqual([body, expected])
  }
  for (const field of ['rejected_days', 'abandoned_days']) {
    const { status, body } = await world.request(world.ada, 'changeRetention', { body: { [field]: 0 } })
    expect([status, body['field'], body['rule']]).toEqual([400, field, 'must be a whole number from 1 to 36500'])
  }
})

test('a request cannot be approved after a change of a related setting, even one that it does not name', async () => {
  const { evidenceRetention, minimumAges, screeningSettings } = world.store
  const { ada, alpha } = world
  const other = { body: { service: VERIFICATION_SERVICES[0], secret: 'another secret of a service' } }
  const changeService = async () => approve(await world.request(ada, 'setWebhookService', other))
  for (const [operation, options, change] of [
    [
      'changeScreeningSettings',
      {},
      async () => {
        const current = await screeningSettings.read(alpha.id)
        await screeningSettings.set(alpha.id, { ...current, onNewHit: 'revoke', screenersAgain: true })
      },
    ],
    ['changeMinimumAge', { body: { levels: { basic: 17 } } }, () => minimumAges.set(alpha.id, null, 30)],
    [
      'changeRetention',
      {},
      async () => evidenceRetention.set(alpha.id, { ...(await evidenceRetention.find(alpha.id)), rejectedDays: 1 }),
    ],
    ['setWebhookService', {}, changeService],
    // In the second round, only the secret changes.
    ['setWebhookService', {}, changeService],
  ] as const) {
    const requested = await world.request(ada, operation, options)
    await change()
    expect([operation, await approve(requested)]).toEqual([operation, 409])
    expect([operation, await approve(await world.request(ada, operation, options))]).toEqual([operation, 200])
  }
})

describe('a sanctions list', () => {
  const enable = (name: string, body: object) =>
    world.call('PUT', `/screening/lists/${name}`, { cookie: world.root.cookie, body })

  test('is enabled without approval only with the settings of its publisher', async () => {
    for (const [name, body, status] of [
      ['mine', { format: 'csv' }, 202],
      ['ofac-sdn', { urls: ['https://lists.example/mallory.csv'] }, 202],
      ['ofac-sdn', { format: 'csv' }, 202],
      ['ofac-sdn', {}, 200],
      ['ofac-sdn', { every_seconds: 2_592_000 }, 202],
    ] as const) {
      expect([name, body, (await enable(name, body)).status]).toEqual([name, body, status])
    }
  })

  test('needs a second person if a disabled list of the same name left shared wallets or versions', async () => {
    const { screeningLists, lists } = world.store
    const status = async () => (await enable('eu-fsf', {})).status
    const disable = () => screeningLists.remove('eu-fsf')
    expect(await status()).toBe(200)
    await disable()
    expect(await status()).toBe(200)
    await disable()
    await lists.ofScreening('eu-fsf', true)
    const requested = await enable('eu-fsf', {})
    expect(requested.status).toBe(202)
    const replaced = { what: 'shared list eu_fsf', before: '0 addresses', after: 'replaced' }
    expect(requested.body['changes']).toContainEqual(replaced)
    await lists.remove(null, 'eu_fsf')
    expect(await status()).toBe(200)
    // Hits refer to stored versions.
    const version = { bytes: new Uint8Array([1]), sha256: 'a', entries: 1, names: 1 }
    await screeningLists.replace('eu-fsf', version, { token: null, validators: {}, nextDueAtSeconds: 9e9 })
    await disable()
    expect(await status()).toBe(202)
  })

  test('shows the path of its URL, which may not change before the approval', async () => {
    const moved = await enable('own', { urls: ['https://lists.example/mallory.csv'] })
    expect(moved.body['changes']).toEqual([
      {
        what: 'fetched from',
        before: expect.stringMatching(/^lists\.example\/a\.csv \(sha256 /),
        after: expect.stringMatching(/^lists\.example\/mallory\.csv \(sha256 /),
      },
    ])
    const otherFormat = await enable('own', { format: 'csv' })
    expect(otherFormat.body['changes']).toEqual([{ what: 'format', before: 'ofac-csv', after: 'csv' }])
    await world.store.screeningLists.set({
      name: 'own',
      format: 'ofac-csv',
      urls: ['https://lists.example/a.csv'],
      reach: 'public',
      intervalSeconds: 3_600,
    })
    expect((await world.decide(moved.body.id, true, world.rita, true)).status).toBe(409)
  })
})

describe('an external decider', () => {
  const DECIDER = expect.stringMatching(/^decide\.example\/a /)
  const endpoints = () => world.store.webhookEndpoints.list(world.alpha.id)

  test('is shown with the path of its URL and its environment', async () => {
    await world.store.webhookEndpoints.remove(world.alpha.id, (await endpoints())[0]?.id ?? '')
    const { body } = await world.request(world.ada, 'addWebhookEndpoint')
    expect(body['changes']).toMatchObject([
      { after: expect.stringMatching(/^decide\.example\/b \(sha256 /) },
      { what: 'environment', after: 'live' },
    ])
  })

  test('has a sealed secret, and an endpoint for events is added immediately', async () => {
    const requested = await world.request(world.ada, 'setWebhookService')
    expect(requested.body['name']).toStartWith('decide.example/a (sha256 ')
    const stored = await world.store.approvals.find(world.alpha.id, requested.body.id)
    expect(JSON.stringify([requested.body, stored])).not.toContain(SERVICE_SECRET)
    expect(await approve(requested)).toBe(200)
    // The harness seals by inverting each byte.
    const sealed = (await endpoints())[0]?.sealedServiceSecret?.map((byte) => byte ^ 0xff) ?? new Uint8Array()
    expect(new TextDecoder().decode(sealed)).toBe(SERVICE_SECRET)
    const events = { key: world.alpha.key, body: { url: 'https://events.example/', purpose: 'events' } }
    expect((await world.call('POST', '/organizations/alpha/webhooks', events)).status).toBe(201)
  })

  test('needs a second person to be removed, because a policy would then decide', async () => {
    const { ada, alpha, ofSessions, store } = world
    const chosen = await world.request(ada, 'changeSessionPolicy')
    const remains = { what: 'external decider remains active', before: DECIDER, after: DECIDER }
    expect(chosen.body['changes']).toContainEqual(remains)
    await store.sessionPolicies.set(alpha.id, ofSessions.id)
    const removed = await world.request(ada, 'removeWebhookEndpoint')
    const change = { what: 'sessions are decided by', before: DECIDER, after: expect.stringContaining(ofSessions.id) }
    expect([removed.status, removed.body['changes']]).toEqual([202, [change]])
    expect(await endpoints()).toHaveLength(1)
    expect(await approve(removed)).toBe(200)
    expect(await endpoints()).toHaveLength(0)
  })

  test('is paused and resumed with a second person', async () => {
    const others = 'people, until the endpoint resumes'
    const [path = ''] = world.requests['changeWebhookEndpoint'] ?? []
    for (const [paused, before, after] of [
      [true, DECIDER, others],
      [false, others, DECIDER],
    ] as const) {
      const [outcome, requested] = await send('PATCH', path.replace('/organizations/alpha/', ''), { paused })
      const changes = [{ what: 'sessions are decided by', before, after }]
      expect([outcome, requested.body['changes']]).toEqual(['waits', changes])
      expect(await approve(requested)).toBe(200)
      expect((await endpoints())[0]?.pausedAtSeconds !== null).toBe(paused)
    }
  })

  test('shows how long the previous secret remains valid', async () => {
    const first = await world.request(world.ada, 'setWebhookService')
    expect(first.status).toBe(202)
    expect(JSON.stringify(first.body['changes'])).not.toContain('second')
    expect(await approve(first)).toBe(200)
    const body = { service: VERIFICATION_SERVICES[0], secret: SERVICE_SECRET, overlap_seconds: 2_592_000 }
    const second = await world.request(world.ada, 'setWebhookService', { body })
    expect(second.status).toBe(202)
    const overlap = { what: 'overlap with the current secret', before: null, after: '2,592,000 seconds' }
    expect(second.body['changes']).toContainEqual(overlap)
  })
})

test('the use of country and age in policies needs a second person, unlike other changes of the page', async () => {
  expect(await put('brand', { color: '#123456', asks_details: false }, 'PATCH')).toBe('done')
  for (const asks_details of [true, false]) {
    const [outcome, requested] = await send('PATCH', 'brand', { asks_details })
    expect([outcome, await approve(requested)]).toEqual(['waits', 200])
    expect((await world.store.organizationBrands.find(world.alpha.id)).asksDetails).toBe(asks_details)
  }
})

test('the evidence of a verified or a rejected person is erased with a second person', async () => {
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
    const [outcome, requested] = await send('POST', `sessions/${sessionId}/evidence/erase`, {})
    expect([statuses, outcome]).toEqual([statuses, expected])
    if (outcome === 'waits') {
      expect(await store.evidence.list(target)).toHaveLength(1)
      expect(await approve(requested)).toBe(200)
    }
    expect(await store.evidence.list(target)).toEqual([])
  }
})

// Effects of a new hit on open and completed sessions, its webhooks, and the hits that remain after the erasure of
// evidence.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { FoundHit, HitAction } from '../../src/domain/screening-hit.ts'
import type { SessionStatus } from '../../src/domain/session.ts'
import type { NewSessionCheck } from '../../src/identity/checks/checks.ts'
import { evmWallet } from './support.ts'
import { openWebhooks, startReceiver } from './webhooks/support.ts'

let parts: Awaited<ReturnType<typeof openWebhooks>>
let receiver: ReturnType<typeof startReceiver>
let demo: string

beforeEach(async () => {
  parts = await openWebhooks()
  receiver = startReceiver()
  demo = await parts.createOrganization('demo')
  await parts.addEndpoint(demo, receiver.url)
})
afterEach(async () => {
  await receiver.stop()
  await parts.remove()
})

const HIT: FoundHit = {
  list: 'own',
  entry: 'p1',
  versionId: 'sv_1',
  name: 'Ivan Primerov',
  subject: 'person',
  score: 91,
  why: [{ part: 'name', points: 91, detail: 'primerov the same' }],
  compared: 'Ivan Primerov',
  comparedSubject: 'Ivan Primerov',
}
const WALLET_HIT: FoundHit = { ...HIT, list: 'mixers', entry: '0xabc', name: '0xabc', subject: 'wallet', why: [] }
const check = (name: string, ...hits: readonly FoundHit[]): NewSessionCheck => ({
  name,
  hits,
  outcome: 'passed',
  detail: {},
  version: 'v',
})

const choose = async (onNewHit: HitAction): Promise<void> => {
  const { screeningSettings } = parts.store
  await screeningSettings.set(demo, { ...(await screeningSettings.read(demo)), onNewHit })
}
const statusOf = async (sessionId: string): Promise<SessionStatus | undefined> =>
  (await parts.store.sessions.find(demo, sessionId))?.session.status
const complete = async (): Promise<string> => {
  const { id } = await parts.submit(demo)
  await parts.move(demo, id, 'completed')
  return id
}
const put = async (sessionId: string, part: string, made: NewSessionCheck): Promise<number> => {
  const session = (await parts.store.sessions.find(demo, sessionId))?.session
  if (session === undefined) throw new Error('there is no such session')
  return (await parts.storeChecks(part, demo, [{ session, checks: [made] }])).opened
}
const find = (sessionId: string, ...hits: readonly FoundHit[]): Promise<number> =>
  put(sessionId, 'lists', check('lists.names', ...hits))
const receiveAll = async () => {
  while ((await parts.run()) > 0);
  return receiver.received.splice(0).map(({ body }) => body)
}

describe('a new hit of a completed session', () => {
  test.each([
    ['review', 'completed'],
    ['retry', 'retry'],
    ['revoke', 'rejected'],
  ] as const)('with the action %s changes the session to %s once, and is sent', async (action, status) => {
    await choose(action)
    const id = await complete()
    await receiveAll()
    expect(await find(id)).toBe(0)
    expect(await statusOf(id)).toBe('completed')
    expect(await find(id, HIT)).toBe(1)
    expect(await statusOf(id)).toBe(status)
    const messages = await receiveAll()
    const hit = messages.find(({ type }) => type === 'screening.hit')
    expect(hit?.data).toMatchObject({
      sessionId: id,
      checks: [{ check: 'lists.names', outcome: 'look' }],
      hits: [{ check: 'lists.names', list: 'own', subject: 'person' }],
    })
    // The message names neither the person nor the entry.
    expect(JSON.stringify(messages)).not.toContain('rimerov')
    expect(messages.map(({ type }) => type).sort()).toEqual(
      action === 'review' ? ['screening.hit'] : ['screening.hit', 'session.status_changed'],
    )
    const last = (await parts.store.sessions.listEvents(demo, id)).at(-1)
    if (action !== 'review') expect(last).toMatchObject({ status, actor: 'screening' })
    // The same hit again is not new.
    expect(await find(id, HIT)).toBe(0)
    expect(await receiveAll()).toEqual([])
  })

  test('waits for a review if the session has no retries left', async () => {
    await choose('retry')
    const id = await complete()
    for (let tries = 0; tries < 5; tries++) {
      for (const to of ['retry', 'completed'] as const) {
        await parts.move(demo, id, to, { revoke: true, actor: 'operator:ada' })
      }
    }
    expect(await find(id, HIT)).toBe(1)
    expect(await statusOf(id)).toBe('completed')
  })

  test('ends the verification of the wallets immediately if the action is to revoke', async () => {
    await choose('revoke')
    const { session } = await parts.complete(demo, [evmWallet(4)])
    parts.changed.length = 0
    await find(session.id, HIT)
    expect(parts.changed.flatMap(({ addresses }) => addresses)).toEqual([evmWallet(4)])
    expect(parts.states.at(-1)?.session.status).toBe('rejected')
  })
})

test('a hit of a submitted session does not change it, for any action', async () => {
  await choose('revoke')
  const { id } = await parts.submit(demo)
  await receiveAll()
  await find(id, HIT)
  expect(await statusOf(id)).toBe('submitted')
  expect((await receiveAll()).map(({ type }) => type)).toEqual(['screening.hit'])
})

test('the outcomes are sent once after all checks, and cleared by another submission', async () => {
  const { id } = (await parts.register(demo)).session
  const move = (to: SessionStatus) =>
    parts.changes.changeStatus({ organizationId: demo, sessionId: id, to, actor: 'test' })
  await move('submitted')
  await find(id, HIT)
  const [queued] = await parts.store.sessionChecks.claim(1, 60)
  await parts.store.sessionChecks.markMade(queued!)
  await parts.store.sessionChecks.markMade(queued!)
  const messages = await receiveAll()
  expect(messages.find(({ type }) => type === 'session.checked')).toMatchObject({
    data: { sessionId: id, status: 'submitted', checks: [{ check: 'lists.names', outcome: 'look' }] },
  })
  expect(messages.filter(({ type }) => type === 'session.checked')).toHaveLength(1)
  for (const to of ['retry', 'submitted'] as const) await move(to)
  const changes = (await receiveAll()).sort((a, b) => Number(a.data['sequence']) - Number(b.data['sequence']))
  expect(changes.map(({ data }) => [data['status'], data['checks']])).toEqual([
    ['retry', [{ check: 'lists.names', outcome: 'look' }]],
    ['submitted', []],
  ])
})

test('the erasure of evidence removes the names of hits, and keeps decisions, open hits and wallets', async () => {
  const { store, evidence } = parts
  const session = await parts.session(demo)
  await evidence.putFields(session, { fullName: 'Ivan Primerov', country: 'DE' })
  const target = { organizationId: demo, sessionId: session.id }
  await parts.move(demo, session.id, 'submitted')
  await find(session.id, HIT, { ...HIT, entry: 'p2', name: 'Iwan Primerow' })
  const [first] = await store.screeningChecks.hits(demo, session.id)
  await put(session.id, 'wallets.lists', check('wallets.lists', WALLET_HIT))
  const decision = { state: 'cleared', by: 'operator:ada', reason: 'born elsewhere' } as const
  await store.screeningChecks.decideHit({ ...target, hitId: first?.id ?? '' }, decision)
  expect(await evidence.eraseSession(session, 'operator:ada')).toBeGreaterThan(0)
  const hits = await store.screeningChecks.hits(demo, session.id)
  expect(hits.map(({ list, state, reason, name }) => ({ list, state, reason, name }))).toEqual([
    { list: 'mixers', state: 'open', reason: null, name: '0xabc' },
    { list: 'own', state: 'cleared', reason: 'born elsewhere', name: '' },
    { list: 'own', state: 'open', reason: null, name: '' },
  ])
  expect(hits.find(({ state }) => state === 'cleared')).toMatchObject({
    decidedBy: 'operator:ada',
    versionId: 'sv_1',
    why: [],
    basis: '',
    subjectBasis: '',
  })
  const everything = JSON.stringify(await store.database.query('SELECT * FROM screening_hits'))
  expect(everything).not.toMatch(/rimero|"p1"|"p2"/)
  const outcomes = (await store.sessionChecks.list(demo, session.id)).map(({ name, outcome }) => [name, outcome])
  expect(outcomes).toEqual([
    ['lists.names', 'look'],
    ['wallets.lists', 'look'],
  ])
  // The evidence is erased, so the check cannot pass.
  const open = (await store.screeningChecks.hits(demo, session.id)).find(({ name, state }) => name + state === 'open')
  expect(open?.why).toMatchObject([{ part: 'earlier', detail: expect.stringContaining('erased') }])
  await store.screeningChecks.decideHit({ ...target, hitId: open?.id ?? '' }, decision)
  expect((await store.sessionChecks.list(demo, session.id))[0]).toMatchObject({ outcome: 'not-done' })
})

test('names that were compared before the erasure of the evidence leave no hit', async () => {
  const session = await parts.session(demo)
  await parts.evidence.putFields(session, { fullName: 'Ivan Primerov', country: 'DE' })
  const { session: before } = await parts.move(demo, session.id, 'submitted')
  await parts.evidence.eraseSession(before, 'operator:ada')
  const made = { session: before, checks: [check('lists.names', HIT)] }
  expect(await parts.storeChecks('lists', demo, [made])).toEqual({ opened: 0, skipped: 1 })
  expect(await parts.store.screeningChecks.hits(demo, session.id)).toEqual([])
})

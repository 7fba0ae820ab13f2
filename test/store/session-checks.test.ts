// Checks of sessions, their queue, and traces, over both databases.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { newIdentifier, newSessionId } from '../../src/domain/identifier.ts'
import { findOthers } from '../../src/store/session-traces.ts'
import { describeStores } from './dialects.ts'
import type { TemporaryStore } from './temporary-store.ts'

describeStores((open) => {
  let temporary: TemporaryStore
  let organizationId: string
  beforeEach(async () => {
    temporary = await open()
    organizationId = (await temporary.store.organizations.create({ slug: 'demo', name: 'Demo' })).id
    const wrapped = { wrappedKey: new Uint8Array(60), wrappedBy: 'a key of tests' }
    await temporary.store.organizationKeys.add(organizationId, wrapped)
  })
  afterEach(() => temporary.remove())

  let made = 0
  const handIn = async (environment: 'live' | 'test' = 'live') => {
    made += 1
    const { store } = temporary
    const { session } = await store.sessions.register({
      organizationId,
      environment,
      checkType: 'kyc',
      sessionId: newSessionId(),
      provider: 'manual',
      tokenHash: new Uint8Array(32).fill(made),
      walletAddress: null,
      originUrl: null,
      actor: 'key:test',
    })
    const target = { organizationId, sessionId: session.id }
    const record = {
      id: newIdentifier('evidence'),
      kind: 'portrait',
      mediaType: 'image/jpeg',
      byteLength: 10,
      fieldNames: [],
      createdAtSeconds: 1,
      storageName: String(made).padStart(32, '0'),
      wrappedKey: new Uint8Array(60).fill(1),
      sealedName: null,
      sealedUnder: new Uint8Array(60),
    }
    await store.evidence.addDocument(target, record, 1, 'person')
    await store.sessions.changeStatus({ ...target, to: 'submitted', actor: 'person' })
    return session
  }

  test('a session is queued when it is handed in, claimed once, and its checks are replaced part by part', async () => {
    const { id } = await handIn()
    const { sessionChecks } = temporary.store
    const [claimed] = await sessionChecks.claim(4, 60)
    expect(claimed).toEqual({ organizationId, sessionId: id, sequence: 3, attempts: 0 })
    expect(await sessionChecks.claim(4, 60)).toEqual([])
    const check = { name: 'one.a', outcome: 'passed', detail: { sessions: ['x'] }, version: 'v' }
    await sessionChecks.replace(claimed!, 'one', [check, { ...check, name: 'one.b' }])
    await sessionChecks.replace(claimed!, 'ones', [{ ...check, name: 'ones.a' }])
    await sessionChecks.replace(claimed!, 'one', [{ ...check, name: 'one', outcome: 'not-done' }])
    const names = (await sessionChecks.list(organizationId, id)).map(({ name, outcome }) => `${name} ${outcome}`)
    expect(names).toEqual(['one not-done', 'ones.a passed'])
    await sessionChecks.retry(claimed!, temporary.clock.unixSeconds() + 10)
    temporary.clock.advance(10)
    expect(await sessionChecks.claim(4, 60)).toMatchObject([{ attempts: 1 }])
    await sessionChecks.finish(claimed!)
    expect(await sessionChecks.isQueued(organizationId, id)).toBe(false)
  })

  test('checks that are stored at the same moment are stored once, with each hit once', async () => {
    const { id: sessionId } = await handIn()
    const { sessionChecks, screeningChecks } = temporary.store
    const hit = { list: 'own', entry: 'p1', versionId: 'v', name: 'Ivan', subject: 'person', score: 90, why: [] }
    const check = { name: 'one.a', outcome: 'passed', detail: {}, version: 'v', hits: [hit] }
    const opened = await Promise.all(
      Array.from({ length: 12 }, () => sessionChecks.replace({ organizationId, sessionId }, 'one', [check])),
    )
    expect(opened.filter((count) => count > 0)).toEqual([1])
    expect(await sessionChecks.list(organizationId, sessionId)).toMatchObject([{ name: 'one.a', outcome: 'look' }])
    expect(await screeningChecks.hits(organizationId, sessionId)).toHaveLength(1)
    // Without a hit nothing is locked before.
    const other = { organizationId, sessionId: (await handIn()).id }
    const plain = { name: 'two.a', outcome: 'passed', detail: {}, version: 'v' }
    await Promise.all(Array.from({ length: 12 }, () => sessionChecks.replace(other, 'two', [plain])))
    expect(await sessionChecks.list(organizationId, other.sessionId)).toHaveLength(1)
  })

  test('checks of sessions that have changed since are left as they are', async () => {
    const [first, second] = [await handIn(), await handIn()]
    const { sessionChecks, sessions } = temporary.store
    const checks = [{ name: 'one.a', outcome: 'passed', detail: {}, version: 'v' }]
    const sequence = (await sessions.find(organizationId, first.id))?.session.sequence ?? 0
    const made = [first, second].map(({ id }) => ({ sequence, checks, sessionId: id }))
    await sessions.changeStatus({ organizationId, sessionId: second.id, to: 'retry', actor: 'operator:ada' })
    expect(await sessionChecks.replaceUnchanged(organizationId, 'one', made)).toMatchObject({ skipped: 1 })
    expect(await sessionChecks.list(organizationId, first.id)).toHaveLength(1)
    expect(await sessionChecks.list(organizationId, second.id)).toEqual([])
    // By part and version, those that are left to do.
    const left = async (version: string) =>
      (await sessionChecks.outdated(organizationId, 'submitted', { version, part: 'one' }, '', 9)).map(({ id }) => id)
    expect([await left('v'), await left('w')]).toEqual([[], [first.id]])
  })

  test('checks that are made no more take the hits along that nobody has decided, unless the part could not be made', async () => {
    const { id: sessionId } = await handIn()
    const target = { organizationId, sessionId }
    const { sessionChecks, screeningChecks } = temporary.store
    const hit = { list: 'own', entry: 'p1', versionId: 'v', name: 'Ivan', subject: 'person', score: 90, why: [] }
    const check = { name: 'one.a', outcome: 'passed', detail: {}, version: 'v', hits: [hit, { ...hit, entry: 'p2' }] }
    await sessionChecks.replace(target, 'one', [check])
    const [decided] = await screeningChecks.hits(organizationId, sessionId)
    await screeningChecks.decideHit(
      { ...target, hitId: decided?.id ?? '' },
      { state: 'cleared', by: 'operator:ada', reason: 'somebody else' },
    )
    const states = async () => (await screeningChecks.hits(organizationId, sessionId)).map(({ state }) => state).sort()
    const left = async () =>
      (await sessionChecks.outdated(organizationId, 'submitted', { version: '', part: 'one' }, '', 9)).length
    await sessionChecks.replace(target, 'one', [{ name: 'one', outcome: 'not-done', detail: {}, version: '' }])
    expect([await states(), await left()]).toEqual([['cleared', 'open'], 1])
    await sessionChecks.replace(target, 'other', [])
    expect(await states()).toEqual(['cleared', 'open'])
    await sessionChecks.replace(target, 'one', [])
    expect([await states(), await left()]).toEqual([['cleared'], 0])
  })

  test('traces find the sessions of others in the same environment, and go with the evidence', async () => {
    const [first, second, sandbox] = [await handIn(), await handIn(), await handIn('test')]
    const { sessionTraces, evidence } = temporary.store
    for (const { id } of [first, second, sandbox]) {
      await sessionTraces.replace(organizationId, id, 'a.', [
        { kind: 'a.number', value: 'same' },
        { kind: 'a.part', value: id },
      ])
      await sessionTraces.replace(organizationId, id, 'b.', [{ kind: 'b.name', value: 'same' }])
    }
    expect(await sessionTraces.findValues(second, 'a.number', ['same', 'x'])).toEqual([
      { sessionId: first.id, kind: 'a.number', value: 'same' },
    ])
    expect(await sessionTraces.findValues(second, 'a.number', ['other'])).toEqual([])
    expect(await sessionTraces.findKinds(second, ['a.part', 'a.x'])).toEqual([
      { sessionId: first.id, kind: 'a.part', value: first.id },
    ])
    await sessionTraces.replace(organizationId, first.id, 'a.', [])
    expect(await sessionTraces.findValues(second, 'a.number', ['same'])).toEqual([])
    expect(await sessionTraces.findValues(second, 'b.name', ['same'])).toHaveLength(1)
    await evidence.eraseAll({ organizationId, sessionId: first.id }, 'operator:ada')
    expect(await sessionTraces.findValues(second, 'b.name', ['same'])).toEqual([])
  })

  test('the key of traces is the first that was stored', async () => {
    const { sessionTraces } = temporary.store
    expect(await sessionTraces.findKey(organizationId)).toBeNull()
    const [one, two] = [new Uint8Array([1]), new Uint8Array([2])]
    expect([...(await sessionTraces.addKey(organizationId, one, new Uint8Array(60)))]).toEqual([1])
    expect([...(await sessionTraces.addKey(organizationId, two, new Uint8Array(60)))]).toEqual([1])
    await expect(sessionTraces.addKey(organizationId, two, new Uint8Array(59))).rejects.toThrow()
  })

  test('a minimum age is from 1 to 99, or none, at all levels or at one', async () => {
    const ages = temporary.store.minimumAges
    expect(await ages.read(organizationId)).toEqual({ years: null, levels: new Map() })
    await ages.set(organizationId, null, 21)
    await ages.set(organizationId, 3, 24)
    await ages.set(organizationId, 3, 25)
    expect(await ages.read(organizationId)).toEqual({ years: 21, levels: new Map([[3, 25]]) })
    await expect(ages.set(organizationId, null, 0)).rejects.toThrow()
    await expect(ages.set(organizationId, 2, 100)).rejects.toThrow()
    await ages.set(organizationId, null, null)
    await ages.set(organizationId, 3, null)
    expect(await ages.read(organizationId)).toEqual({ years: null, levels: new Map() })
  })

  test('traces are found by their index', async () => {
    if (temporary.store.kind !== 'sqlite') return
    for (const by of ['value', 'kind'] as const) {
      const sql = findOthers(by, 2)
      const parameters = Array.from({ length: sql.split('?').length - 1 }, () => 'x')
      const plan = await temporary.store.database.query<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, parameters)
      const first = plan.map(({ detail }) => detail).find((detail) => / t /.test(detail))
      expect(first).toContain('session_traces_by_value (organization_id=? AND kind=?')
    }
  })
})

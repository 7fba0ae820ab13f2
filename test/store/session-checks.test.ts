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

  test('a minimum age is from 1 to 99, or none', async () => {
    const { organizations } = temporary.store
    expect(await organizations.findMinimumAge(organizationId)).toBeNull()
    await organizations.setMinimumAge(organizationId, 21)
    expect(await organizations.findMinimumAge(organizationId)).toBe(21)
    await expect(organizations.setMinimumAge(organizationId, 0)).rejects.toThrow()
    await organizations.setMinimumAge(organizationId, null)
    expect(await organizations.findMinimumAge(organizationId)).toBeNull()
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

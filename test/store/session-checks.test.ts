// Checks of sessions, their queue, and traces, over both databases.
import { beforeEach, expect, test } from 'bun:test'
import { newIdentifier, newSessionId } from '../../src/domain/identifier.ts'
import { type BoundHit, NAME_CHECK } from '../../src/domain/screening-hit.ts'
import { databaseScope } from '../../src/store/copy/table-scope.ts'
import type { SqlParameter } from '../../src/store/database.ts'
import { createSessionTraceTable } from '../../src/store/sessions/session-traces.ts'
import { replaceChecks } from '../support/replace-checks.ts'
import { describeStores } from './dialects.ts'
import { storeOfTest } from './store-of-test.ts'

describeStores((open) => {
  const temporary = storeOfTest(open)
  let organizationId: string
  beforeEach(async () => {
    organizationId = (await temporary.store.organizations.create({ slug: 'demo', name: 'Demo' })).id
    const wrapped = { wrappedKey: new Uint8Array(60), wrappedBy: 'a key of tests' }
    await temporary.store.organizationKeys.add(organizationId, wrapped)
  })

  let made = 0
  const handIn = async (environment: 'live' | 'test' = 'live', owner = organizationId) => {
    made += 1
    const { store } = temporary
    const { session } = await store.sessions.register({
      organizationId: owner,
      environment,
      checkType: 'kyc',
      sessionId: newSessionId(),
      provider: 'manual',
      tokenHash: new Uint8Array(32).fill(made),
      walletAddress: null,
      originUrl: null,
      actor: 'key:test',
    })
    const target = { organizationId: owner, sessionId: session.id }
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
    expect(claimed).toEqual({ organizationId, sessionId: id, sequence: 3, attempts: 0, isMade: false })
    expect(await sessionChecks.claim(4, 60)).toEqual([])
    const check = { name: 'one.a', outcome: 'passed', detail: { sessions: ['x'] }, version: 'v' }
    await replaceChecks(temporary.store, claimed!, 'one', [check, { ...check, name: 'one.b' }])
    await replaceChecks(temporary.store, claimed!, 'ones', [{ ...check, name: 'ones.a' }])
    await replaceChecks(temporary.store, claimed!, 'one', [{ ...check, name: 'one', outcome: 'not-done' }])
    const names = (await sessionChecks.list(organizationId, id)).map(({ name, outcome }) => `${name} ${outcome}`)
    expect(names).toEqual(['one not-done', 'ones.a passed'])
    await sessionChecks.retry(claimed!, temporary.clock.unixSeconds() + 10)
    temporary.clock.advance(10)
    expect(await sessionChecks.claim(4, 60)).toMatchObject([{ attempts: 1 }])
    await sessionChecks.finish(claimed!)
    expect(await sessionChecks.isPending(organizationId, id)).toBe(false)
  })

  test('one session of each organization is claimed, however many it has', async () => {
    const { store, clock } = temporary
    const other = (await store.organizations.create({ slug: 'other', name: 'Other' })).id
    await store.organizationKeys.add(other, { wrappedKey: new Uint8Array(60), wrappedBy: 'a key of tests' })
    const ids: string[] = []
    for (let n = 0; n < 5; n++) {
      ids.push((await handIn()).id)
      clock.advance(1)
    }
    const { id } = await handIn('live', other)
    const claim = async (limit: number) =>
      (await store.sessionChecks.claim(limit, 60)).map(({ sessionId }) => sessionId).sort()
    expect(await claim(4)).toEqual([ids[0] ?? '', id].sort())
    expect(await claim(4)).toEqual([ids[1] ?? ''])
    expect(await store.sessionChecks.claim(4, 60, [organizationId])).toEqual([])
  })

  test('checks that are stored at the same moment are stored once, with each hit once', async () => {
    const { id: sessionId } = await handIn()
    const { sessionChecks, screeningChecks } = temporary.store
    const hit = {
      list: 'own',
      entry: 'p1',
      versionId: 'v',
      name: 'Ivan',
      subject: 'person',
      basis: 'b',
      subjectBasis: 's',
      score: 90,
      why: [],
    }
    const check = { name: 'one.a', outcome: 'passed', detail: {}, version: 'v', hits: [hit] }
    const opened = await Promise.all(
      Array.from({ length: 12 }, () => replaceChecks(temporary.store, { organizationId, sessionId }, 'one', [check])),
    )
    expect(opened.filter((count) => count > 0)).toEqual([1])
    expect(await sessionChecks.list(organizationId, sessionId)).toMatchObject([{ name: 'one.a', outcome: 'look' }])
    expect(await screeningChecks.hits(organizationId, sessionId)).toHaveLength(1)
    // Without a hit nothing is locked before.
    const other = { organizationId, sessionId: (await handIn()).id }
    const plain = { name: 'two.a', outcome: 'passed', detail: {}, version: 'v' }
    await Promise.all(Array.from({ length: 12 }, () => replaceChecks(temporary.store, other, 'two', [plain])))
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

  test('those of a process that no longer leads are not stored', async () => {
    const { sessionChecks, sessions, leaderLeases } = temporary.store
    const sessionId = (await handIn()).id
    const lease = leaderLeases.identity
    const sequence = (await sessions.find(organizationId, sessionId))?.session.sequence ?? 0
    const checks = [{ name: 'one.a', outcome: 'passed', detail: {}, version: 'v' }]
    const lost = new Error('the lead was lost')
    const storeAs = (holder: string, term: number) =>
      temporary.store.transaction(
        (tables) => tables.sessionChecks.replaceUnchanged(organizationId, 'one', [{ sequence, checks, sessionId }]),
        {
          beforeCommit: async (transaction) => {
            if (!(await lease.holds(transaction, holder, term))) throw lost
          },
        },
      )
    const before = await lease.take('before', null)
    await lease.take('after', before)
    await expect(storeAs('before', 1)).rejects.toBe(lost)
    expect(await sessionChecks.list(organizationId, sessionId)).toEqual([])
    expect(await storeAs('after', 2)).toMatchObject({ skipped: 0 })
    expect(await sessionChecks.list(organizationId, sessionId)).toHaveLength(1)
  })

  /** Stores the check `one.a` with these hits. */
  const find = (
    target: { readonly organizationId: string; readonly sessionId: string },
    hits: readonly BoundHit[],
    made: Partial<
      Pick<Parameters<typeof replaceChecks>[3][number], 'settings' | 'lowestScore' | 'outcome' | 'subjectBases'>
    > = {},
  ) =>
    replaceChecks(temporary.store, target, 'one', [
      { name: 'one.a', outcome: 'passed', detail: {}, version: 'v', subjectBases: ['s'], hits, ...made },
    ])
  const foundHit = (changed: Partial<BoundHit> = {}): BoundHit => ({
    list: 'own',
    entry: 'p1',
    versionId: 'v',
    name: 'Ivan',
    subject: 'person',
    basis: 'b',
    subjectBasis: 's',
    score: 77,
    why: [],
    ...changed,
  })
  const hitsOf = async ({ sessionId }: { readonly sessionId: string }) =>
    (await temporary.store.screeningChecks.hits(organizationId, sessionId))
      .map(({ subject, basis, score, state }) => `${subject} ${basis} ${score} ${state}`)
      .sort()
  const decide = async (
    { sessionId }: { readonly sessionId: string },
    state: 'cleared' | 'confirmed',
    wanted: Partial<BoundHit> = {},
  ) => {
    const { screeningChecks } = temporary.store
    const hit = (await screeningChecks.hits(organizationId, sessionId)).find(
      (each) =>
        each.state === 'open' &&
        Object.entries({ ...each, ...wanted }).every(([key, value]) => each[key as 'id'] === value),
    )
    const target = { organizationId, sessionId, hitId: hit?.id ?? '' }
    await screeningChecks.decideHit(target, { state, by: 'operator:ada', reason: 'somebody else' })
  }
  const targetOf = async () => ({ organizationId, sessionId: (await handIn()).id })
  const outcomeOf = async ({ sessionId }: { readonly sessionId: string }) =>
    (await temporary.store.sessionChecks.list(organizationId, sessionId)).map(({ outcome }) => outcome)

  test('new hits are counted over all checks of a part, each once', async () => {
    const target = await targetOf()
    const check = (name: string, ...hits: readonly BoundHit[]) => ({
      name,
      hits,
      outcome: 'passed',
      detail: {},
      version: 'v',
    })
    const [first, second, third] = ['p1', 'p2', 'p3'].map((entry) => foundHit({ entry })) as [
      BoundHit,
      BoundHit,
      BoundHit,
    ]
    const store = (...checks: Parameters<typeof replaceChecks>[3]) =>
      replaceChecks(temporary.store, target, 'one', checks)
    expect(await store(check('one.a', first, second), check('one.b', third))).toBe(3)
    expect(await store(check('one.a', first, second), check('one.b', third))).toBe(0)
  })

  test('an open hit goes when it is not found any more, but not for a setting or a check that was not made', async () => {
    const target = await targetOf()
    const left = async () => {
      const { sessionChecks } = temporary.store
      return (await sessionChecks.outdated(organizationId, 'submitted', { version: '', part: 'one' }, '', 9)).length
    }
    const under = { settings: 'threshold 75' }
    await find(target, [foundHit(), foundHit({ entry: 'p2' }), foundHit({ entry: 'p3' })], under)
    await decide(target, 'confirmed', { entry: 'p1' })
    await replaceChecks(temporary.store, target, 'one', [{ name: 'one', outcome: 'not-done', detail: {}, version: '' }])
    await replaceChecks(temporary.store, target, 'other', [])
    await find(target, [], { ...under, outcome: 'not-done' })
    const all = ['person b 77 confirmed', 'person b 77 open', 'person b 77 open']
    expect([await hitsOf(target), await left()]).toEqual([all, 1])
    await replaceChecks(temporary.store, target, 'one', [])
    expect([await hitsOf(target), await left()]).toEqual([all, 0])
    for (let time = 0; time < 2; time++) {
      await find(target, [], { settings: 'threshold 100' })
      expect([await hitsOf(target), await outcomeOf(target)]).toEqual([all, ['failed']])
    }
    // Found again under other settings, it is bound to those.
    await find(target, [foundHit({ entry: 'p2' })], { settings: 'threshold 60' })
    await find(target, [], { settings: 'threshold 60' })
    expect(await hitsOf(target)).toHaveLength(2)
    await find(target, [], under)
    expect([await hitsOf(target), await outcomeOf(target)]).toEqual([[], ['passed']])
  })

  test.each(['cleared', 'confirmed'] as const)(
    'a hit that was %s ends when its entry is gone, and a later listing is a new hit',
    async (state) => {
      const target = await targetOf()
      const { screeningChecks } = temporary.store
      await find(target, [foundHit()])
      await decide(target, state)
      const kept = [`person b 77 ${state}`]
      // The entry is not gone: it has changed, or the data have, or the check was not made in full.
      await find(target, [foundHit({ basis: 'c' })])
      expect(await hitsOf(target)).toEqual([...kept, 'person c 77 open'])
      await find(target, [foundHit()])
      await find(target, [], { subjectBases: ['t'] })
      await find(target, [], { outcome: 'not-done' })
      await replaceChecks(temporary.store, target, 'one', [
        { name: 'one', outcome: 'not-done', detail: {}, version: '' },
      ])
      expect(await hitsOf(target)).toEqual(kept)
      await find(target, [foundHit()], { settings: 'other' })
      expect(await find(target, [], { settings: 'other' })).toBe(0)
      expect([await hitsOf(target), await outcomeOf(target)]).toEqual([[], ['passed']])
      const [ended] = await screeningChecks.endedHits(organizationId, target.sessionId)
      expect(ended).toMatchObject({ state, name: 'Ivan', reason: 'somebody else', decidedBy: 'operator:ada' })
      const decision = { state: 'cleared', by: 'operator:ada', reason: 'gone' } as const
      expect(await screeningChecks.decideHit({ ...target, hitId: ended?.id ?? '' }, decision)).toBeNull()
      expect(await find(target, [foundHit()])).toBe(1)
      expect([await hitsOf(target), await outcomeOf(target)]).toEqual([['person b 77 open'], ['look']])
    },
  )

  test('a clearance stays while the threshold is above its score', async () => {
    const target = await targetOf()
    await find(target, [foundHit()])
    await decide(target, 'cleared')
    await find(target, [], { settings: 'threshold 78', lowestScore: 78 })
    expect(await find(target, [foundHit()])).toBe(0)
    expect(await hitsOf(target)).toEqual(['person b 77 cleared'])
  })

  test('a confirmed hit stays when the settings change', async () => {
    const target = await targetOf()
    await find(target, [foundHit({ listing: '1' })])
    await decide(target, 'confirmed')
    await find(target, [], { settings: 'other' })
    await replaceChecks(temporary.store, target, 'one', [])
    expect(await find(target, [foundHit({ listing: '2' })])).toBe(0)
    expect(await hitsOf(target)).toEqual(['person b 77 confirmed'])
  })

  test.each([
    ['is not found with other settings', (target) => find(target, [], { settings: 'changed' })],
    ['is no longer in use', (target) => replaceChecks(temporary.store, target, 'one', [])],
    ['was created again', () => Promise.resolve(0)],
  ] satisfies [string, (target: { organizationId: string; sessionId: string }) => Promise<number>][])(
    'a clearance ends if the entry or its list %s, and a later listing is a new hit',
    async (name, change) => {
      const target = await targetOf()
      // The first hit is stored as by an earlier version, without its list.
      for (const listing of [null, '1']) await find(target, [foundHit({ listing })])
      await decide(target, 'cleared')
      expect(await find(target, [foundHit({ listing: '1' })], { settings: 'other' })).toBe(0)
      expect(await hitsOf(target)).toEqual(['person b 77 cleared'])
      await change(target)
      const listing = name === 'was created again' ? '2' : '1'
      expect(await find(target, [foundHit({ listing })])).toBe(1)
      expect([await hitsOf(target), await outcomeOf(target)]).toEqual([['person b 77 open'], ['look']])
      const ended = await temporary.store.screeningChecks.endedHits(organizationId, target.sessionId)
      expect(ended).toMatchObject([{ state: 'cleared', reason: 'somebody else' }])
    },
  )

  test('the name of an ended hit is erased with the evidence, and the decision stays', async () => {
    const target = await targetOf()
    const find = (hits: readonly BoundHit[]) =>
      replaceChecks(temporary.store, target, 'lists', [
        { name: NAME_CHECK, outcome: 'passed', detail: {}, version: 'v', subjectBases: ['s'], hits },
      ])
    await find([foundHit()])
    await decide(target, 'confirmed')
    await find([])
    await temporary.store.evidence.eraseAll(target, 'operator:ada')
    const [ended] = await temporary.store.screeningChecks.endedHits(organizationId, target.sessionId)
    expect(ended).toMatchObject({ name: '', entry: ended?.id, score: 0, why: [], state: 'confirmed', list: 'own' })
  })

  test('a decision from before the basis of a wallet had the content of its entry is taken over once', async () => {
    const target = await targetOf()
    await find(target, [foundHit({ subject: 'wallet', basis: 's' })])
    await decide(target, 'cleared')
    expect(await find(target, [foundHit({ subject: 'wallet', basis: 'b' })])).toBe(0)
    expect(await hitsOf(target)).toEqual(['wallet b 77 cleared'])
    expect(await find(target, [foundHit({ subject: 'wallet', basis: 'c' })])).toBe(1)
  })

  test('an open hit stays if its person submits something else, until the entry is found again as surely', async () => {
    const target = await targetOf()
    const other = { subjectBases: ['t'] }
    const whyOf = async () =>
      (await temporary.store.screeningChecks.hits(organizationId, target.sessionId)).map(({ why }) =>
        why.map(({ part }) => part),
      )
    await find(target, [foundHit(), foundHit({ entry: 'p2' })])
    for (let time = 0; time < 2; time++) {
      expect(await find(target, [], other)).toBe(0)
      expect([await hitsOf(target), await outcomeOf(target)]).toEqual([
        ['person b 77 open', 'person b 77 open'],
        ['look'],
      ])
      expect(await whyOf()).toEqual([['earlier'], ['earlier']])
    }
    const found = (score: number) => foundHit({ basis: 'c', subjectBasis: 't', score })
    await find(target, [found(76)], other)
    expect(await hitsOf(target)).toEqual(['person b 77 open', 'person b 77 open', 'person c 76 open'])
    await find(target, [found(77)], other)
    expect(await hitsOf(target)).toEqual(['person b 77 open', 'person c 77 open'])
    // The first name again, and both entries are off the list.
    await find(target, [])
    expect(await hitsOf(target)).toEqual(['person c 77 open'])
    await decide(target, 'cleared')
    expect([await hitsOf(target), await outcomeOf(target)]).toEqual([['person c 77 cleared'], ['passed']])
  })

  test('a decision about an owner follows the owner, and a business is none of them', async () => {
    const target = await targetOf()
    const owner = (at: number, basis: string) => foundHit({ basis, subject: `owner ${at}` })
    const business = foundHit({ subject: 'business' })
    expect(await find(target, [business, owner(1, 'b'), owner(2, 'c')])).toBe(3)
    await decide(target, 'cleared', { subject: 'owner 1' })
    await decide(target, 'confirmed', { subject: 'owner 2' })
    expect(await find(target, [business, owner(1, 'c'), owner(2, 'b')])).toBe(0)
    expect(await hitsOf(target)).toEqual(['business b 77 open', 'owner 1 c 77 confirmed', 'owner 2 b 77 cleared'])
    expect(await find(target, [business, owner(1, 'd'), owner(2, 'c')])).toBe(1)
    expect(await hitsOf(target)).toEqual([
      'business b 77 open',
      'owner 1 d 77 open',
      'owner 2 b 77 cleared',
      'owner 2 c 77 confirmed',
    ])
    // Two owners of one name, and one whose two names are of one entry.
    expect(await find(target, [business, owner(1, 'b'), owner(2, 'b'), owner(2, 'b')])).toBe(1)
    expect(await hitsOf(target)).toEqual([
      'business b 77 open',
      'owner 1 b 77 open',
      'owner 2 b 77 cleared',
      'owner 2 c 77 confirmed',
    ])
  })

  test('a decision from before hits had a basis holds while evidence and score are the same', async () => {
    const { store, clock } = temporary
    const before = async () => {
      const target = await targetOf()
      clock.advance(1)
      await find(target, [foundHit({ basis: '' })])
      await decide(target, 'cleared')
      clock.advance(1)
      return target
    }
    const [same, higher, changed] = [await before(), await before(), await before()]
    expect(await find(same, [foundHit()])).toBe(0)
    expect(await hitsOf(same)).toEqual(['person b 77 cleared'])
    expect(await find(same, [foundHit({ basis: 'c' })])).toBe(1)
    expect(await find(higher, [foundHit({ score: 78 })])).toBe(1)
    expect(await hitsOf(higher)).toEqual(['person b 78 open'])
    await store.sessions.changeStatus({ ...changed, to: 'retry', actor: 'operator:ada' })
    const [document] = await store.evidence.list(changed)
    await store.evidence.removeDocument(changed, document?.id ?? '', 'person')
    expect(await find(changed, [foundHit()])).toBe(1)
    expect(await hitsOf(changed)).toEqual(['person  77 cleared', 'person b 77 open'])
  })

  test('a check that was not made in full does not pass when its hit is cleared', async () => {
    const target = await targetOf()
    await find(target, [foundHit(), foundHit({ entry: 'p2' })], { outcome: 'not-done' })
    expect(await outcomeOf(target)).toEqual(['look'])
    await decide(target, 'cleared')
    expect(await outcomeOf(target)).toEqual(['look'])
    await decide(target, 'cleared')
    expect(await outcomeOf(target)).toEqual(['not-done'])
    await find(target, [foundHit(), foundHit({ entry: 'p2' })])
    expect(await outcomeOf(target)).toEqual(['passed'])
  })

  test('hits that are found again unchanged are not written again', async () => {
    if (temporary.store.kind !== 'sqlite') return
    const target = await targetOf()
    const hits = Array.from({ length: 50 }, (_, at) => foundHit({ entry: `p${at}` }))
    const written = async (found: readonly BoundHit[]) => {
      const rows = () =>
        temporary.store.database.transaction(({ query }) => query<{ rows: number }>('SELECT total_changes() AS rows'))
      const before = (await rows())[0]?.rows ?? 0
      await find(target, found)
      return ((await rows())[0]?.rows ?? 0) - before
    }
    expect(await written(hits)).toBeGreaterThan(50)
    const again = await written(hits)
    expect(again).toBeLessThan(10)
    expect(await written(hits.with(0, foundHit({ entry: 'p0', versionId: 'w' })))).toBe(again + 1)
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

  test('evidence that another browser does not take over leaves no fingerprint, no country and no listed name', async () => {
    const { store } = temporary
    const { id: sessionId } = await handIn()
    const target = { organizationId, sessionId }
    await store.sessionTraces.replace(organizationId, sessionId, 'a.', [{ kind: 'a.number', value: 'same' }])
    await store.sessionOrigins.note(organizationId, sessionId, 'DE')
    const named = { name: NAME_CHECK, outcome: 'passed', detail: {}, version: 'v', subjectBases: ['s'] }
    await replaceChecks(store, target, 'lists', [{ ...named, hits: [foundHit()] }])
    await store.sessions.changeStatus({ ...target, to: 'retry', actor: 'operator:ada' })
    const hash = new Uint8Array(32).fill(201)
    await store.sessions.addLink(organizationId, sessionId, { hash, requiresProof: false })
    expect(await store.portalLinks.bind(target, hash, new Uint8Array(32).fill(202))).toBe(true)
    expect(await store.evidence.list(target)).toEqual([])
    expect(await store.sessionTraces.findValues(await handIn(), 'a.number', ['same'])).toEqual([])
    expect(await store.sessionOrigins.find(organizationId, sessionId)).toBeNull()
    const hits = await store.screeningChecks.hits(organizationId, sessionId)
    expect(hits).toMatchObject([{ name: '', state: 'open', check: NAME_CHECK }])
    const events = await store.sessions.listEvents(organizationId, sessionId)
    expect(events.at(-1)).toMatchObject({ kind: 'evidence-erased', actor: 'person' })
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

  test('traces are found by their index, in steps and away from the main thread', async () => {
    const { store, clock } = temporary
    const session = await handIn()
    const others: string[] = []
    for (let at = 0; at < 3; at++) others.push((await handIn()).id)
    for (const id of others)
      await store.sessionTraces.replace(organizationId, id, 'a.', [{ kind: 'a.b', value: 'same' }])
    const reads: { readonly statement: string; readonly plan: readonly string[] }[] = []
    const database = {
      ...store.database,
      query: () => Promise.reject(new Error('a read on the main thread')),
      queryLong: async <Row>(statement: string, parameters: readonly SqlParameter[] = []) => {
        const explain = store.kind === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN'
        const plan = await store.database.query<{ detail: string }>(`${explain} ${statement}`, parameters)
        reads.push({ statement, plan: plan.map(({ detail }) => detail) })
        return store.database.query<Row>(statement, parameters)
      },
    }
    const traces = createSessionTraceTable(databaseScope(database, clock))
    const found = await traces.findValues(session, 'a.b', ['same', 'x', 'same'])
    expect(found.map(({ sessionId }) => sessionId)).toEqual(others.toSorted().toReversed())
    expect(reads.filter(({ statement }) => statement.includes('OFFSET'))).toHaveLength(2)
    expect(await traces.findKinds(session, ['a.b', 'a.c'])).toHaveLength(3)
    if (store.kind !== 'sqlite') return
    for (const { plan } of reads) {
      const first = plan.find((detail) => / session_traces /.test(detail))
      expect(first).toContain('session_traces_by_value (organization_id=? AND kind=?')
    }
    expect(
      reads
        .slice(0, -1)
        .flatMap(({ plan }) => plan)
        .join(),
    ).not.toContain('TEMP B-TREE')
  })
})

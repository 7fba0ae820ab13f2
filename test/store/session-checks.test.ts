// Checks of sessions, their queue, their hits, and traces, in both databases.
import { beforeEach, expect, test } from 'bun:test'
import { type BoundHit, NAME_CHECK } from '../../src/domain/screening-hit.ts'
import { databaseScope } from '../../src/store/copy/table-scope.ts'
import type { SqlParameter } from '../../src/store/database.ts'
import { createSessionTraceTable } from '../../src/store/sessions/session-traces.ts'
import { replaceChecks } from '../support/replace-checks.ts'
import { describeStores } from './dialects.ts'
import {
  createSession,
  documentRecord,
  newHash,
  OPERATOR,
  ORGANIZATION_KEY,
  type SessionTarget,
} from './session-fixtures.ts'
import { storeOfTest } from './store-of-test.ts'

type Check = Parameters<typeof replaceChecks>[3][number]

const PASSED = { name: 'one.a', outcome: 'passed', detail: {}, version: 'v' }
const NOT_DONE = { name: 'one', outcome: 'not-done', detail: {}, version: '' }
const OTHER_SETTINGS = { settings: 'other' }

const hit = (changes: Partial<BoundHit> = {}): BoundHit => ({
  list: 'own',
  entry: 'p1',
  versionId: 'v',
  name: 'Ivan',
  subject: 'person',
  basis: 'b',
  subjectBasis: 's',
  score: 77,
  why: [],
  ...changes,
})
/** Hits of three entries. */
const HITS = ['p1', 'p2', 'p3'].map((entry) => hit({ entry })) as [BoundHit, BoundHit, BoundHit]

describeStores((open) => {
  const temporary = storeOfTest(open)
  let organizationId: string
  beforeEach(async () => {
    organizationId = await createOrganization('demo')
  })

  const createOrganization = async (slug: string): Promise<string> => {
    const { id } = await temporary.store.organizations.create({ slug, name: slug })
    await temporary.store.organizationKeys.add(id, ORGANIZATION_KEY)
    return id
  }
  const submit = async (environment: 'live' | 'test' = 'live', owner = organizationId): Promise<SessionTarget> => {
    const { store } = temporary
    const target = await createSession(store, owner, { environment })
    await store.evidence.addDocument(target, documentRecord(), 1, 'person')
    await store.sessions.changeStatus({ ...target, to: 'submitted', actor: 'person' })
    return target
  }
  /** Stores the checks of the part `one`. @returns the number of new hits */
  const replace = (target: SessionTarget, ...checks: readonly Check[]) =>
    replaceChecks(temporary.store, target, 'one', checks)
  /** Stores one check with these hits. */
  const find = (target: SessionTarget, hits: readonly BoundHit[], changes: Partial<Check> = {}) =>
    replace(target, { ...PASSED, subjectBases: ['s'], hits, ...changes })
  const readHits = ({ sessionId }: SessionTarget) => temporary.store.screeningChecks.hits(organizationId, sessionId)
  const hitsOf = async (target: SessionTarget) =>
    (await readHits(target)).map(({ subject, basis, score, state }) => `${subject} ${basis} ${score} ${state}`).sort()
  const outcomesOf = async ({ sessionId }: SessionTarget) =>
    (await temporary.store.sessionChecks.list(organizationId, sessionId)).map(({ outcome }) => outcome)
  const endedOf = ({ sessionId }: SessionTarget) => temporary.store.screeningChecks.endedHits(organizationId, sessionId)
  /** Decides the first open hit with these members. */
  const decide = async (target: SessionTarget, state: 'cleared' | 'confirmed', members: Partial<BoundHit> = {}) => {
    const found = (await readHits(target)).find(
      (each) =>
        each.state === 'open' &&
        Object.entries({ ...each, ...members }).every(([key, value]) => each[key as 'id'] === value),
    )
    await temporary.store.screeningChecks.decideHit(
      { ...target, hitId: found?.id ?? '' },
      { state, by: OPERATOR, reason: 'somebody else' },
    )
  }
  const outdated = async (version: string) =>
    (await temporary.store.sessionChecks.outdated(organizationId, 'submitted', { version, part: 'one' }, '', 9)).map(
      ({ id }) => id,
    )

  test('a submitted session is queued, claimed once, and its checks are replaced by part', async () => {
    const { sessionId } = await submit()
    const { sessionChecks } = temporary.store
    const claimed = { organizationId, sessionId, sequence: 3, attempts: 0, isMade: false }
    expect([await sessionChecks.claim(4, 60), await sessionChecks.claim(4, 60)]).toEqual([[claimed], []])
    await replace(claimed, PASSED, { ...PASSED, name: 'one.b' })
    await replaceChecks(temporary.store, claimed, 'ones', [{ ...PASSED, name: 'ones.a' }])
    await replace(claimed, NOT_DONE)
    const names = (await sessionChecks.list(organizationId, sessionId)).map(({ name, outcome }) => `${name} ${outcome}`)
    expect(names).toEqual(['one not-done', 'ones.a passed'])
    await sessionChecks.retry(claimed, temporary.clock.unixSeconds() + 10)
    temporary.clock.advance(10)
    expect(await sessionChecks.claim(4, 60)).toMatchObject([{ attempts: 1 }])
    await sessionChecks.finish(claimed)
    expect(await sessionChecks.isPending(organizationId, sessionId)).toBe(false)
  })

  test('a claim takes at most one session of each organization', async () => {
    const { store, clock } = temporary
    const other = await createOrganization('other')
    const ids: string[] = []
    for (let n = 0; n < 5; n++) {
      ids.push((await submit()).sessionId)
      clock.advance(1)
    }
    const { sessionId } = await submit('live', other)
    const claim = async () => (await store.sessionChecks.claim(4, 60)).map((claimed) => claimed.sessionId).sort()
    expect(await claim()).toEqual([ids[0] ?? '', sessionId].sort())
    expect(await claim()).toEqual([ids[1] ?? ''])
    expect(await store.sessionChecks.claim(4, 60, [organizationId])).toEqual([])
  })

  test.each([
    ['with a hit, which locks the session', [hit()], 1, 'look'],
    ['without a hit', [], 0, 'passed'],
  ] as const)('checks that are stored simultaneously are stored once: %s', async (_name, hits, opened, outcome) => {
    const target = await submit()
    const results = await Promise.all(Array.from({ length: 12 }, () => replace(target, { ...PASSED, hits })))
    expect(results.filter((count) => count > 0)).toEqual(Array(opened).fill(1))
    expect([await outcomesOf(target), (await readHits(target)).length]).toEqual([[outcome], opened])
  })

  test('checks of a session that has changed are skipped', async () => {
    const [first, second] = [await submit(), await submit()]
    const { sessionChecks, sessions } = temporary.store
    const sequence = (await sessions.find(organizationId, first.sessionId))?.session.sequence ?? 0
    const checked = [first, second].map(({ sessionId }) => ({ sequence, checks: [PASSED], sessionId }))
    await sessions.changeStatus({ ...second, to: 'retry', actor: OPERATOR })
    expect(await sessionChecks.replaceUnchanged(organizationId, 'one', checked)).toMatchObject({ skipped: 1 })
    expect([await outcomesOf(first), await outcomesOf(second)]).toEqual([['passed'], []])
    expect([await outdated('v'), await outdated('w')]).toEqual([[], [first.sessionId]])
  })

  test('a process that lost the lease stores no checks', async () => {
    const { sessions, leaderLeases } = temporary.store
    const target = await submit()
    const { sessionId } = target
    const lease = leaderLeases.identity
    const sequence = (await sessions.find(organizationId, sessionId))?.session.sequence ?? 0
    const lost = new Error('leadership was lost')
    const storeAs = (holder: string, term: number) =>
      temporary.store.transaction(
        (tables) =>
          tables.sessionChecks.replaceUnchanged(organizationId, 'one', [{ sequence, checks: [PASSED], sessionId }]),
        {
          beforeCommit: async (transaction) => {
            if (!(await lease.holds(transaction, holder, term))) throw lost
          },
        },
      )
    await lease.take('after', await lease.take('before', null))
    await expect(storeAs('before', 1)).rejects.toBe(lost)
    expect(await outcomesOf(target)).toEqual([])
    expect(await storeAs('after', 2)).toMatchObject({ skipped: 0 })
    expect(await outcomesOf(target)).toHaveLength(1)
  })

  test('new hits are counted once over all checks of a part', async () => {
    const target = await submit()
    const [first, second, third] = HITS
    for (const opened of [3, 0]) {
      const checks = [
        { ...PASSED, hits: [first, second] },
        { ...PASSED, name: 'one.b', hits: [third] },
      ]
      expect(await replace(target, ...checks)).toBe(opened)
    }
  })

  test('an open hit ends if its entry is not found again, except after a change of settings or an incomplete check', async () => {
    const target = await submit()
    const under = { settings: 'threshold 75' }
    await find(target, HITS, under)
    await decide(target, 'confirmed', { entry: 'p1' })
    await replace(target, NOT_DONE)
    await replaceChecks(temporary.store, target, 'other', [])
    await find(target, [], { ...under, outcome: 'not-done' })
    const all = ['person b 77 confirmed', 'person b 77 open', 'person b 77 open']
    expect([await hitsOf(target), (await outdated('')).length]).toEqual([all, 1])
    await replace(target)
    expect([await hitsOf(target), (await outdated('')).length]).toEqual([all, 0])
    for (let time = 0; time < 2; time++) {
      await find(target, [], { settings: 'threshold 100' })
      expect([await hitsOf(target), await outcomesOf(target)]).toEqual([all, ['failed']])
    }
    // A hit that is found again with other settings belongs to those settings.
    await find(target, [HITS[1]], { settings: 'threshold 60' })
    await find(target, [], { settings: 'threshold 60' })
    expect(await hitsOf(target)).toHaveLength(2)
    await find(target, [], under)
    expect([await hitsOf(target), await outcomesOf(target)]).toEqual([[], ['passed']])
  })

  test.each(['cleared', 'confirmed'] as const)(
    'a %s hit ends when its entry is removed, and a later listing is a new hit',
    async (state) => {
      const target = await submit()
      await find(target, [hit()])
      await decide(target, state)
      const kept = [`person b 77 ${state}`]
      // The entry still exists: its content changed, the person's details changed, or the check was incomplete.
      await find(target, [hit({ basis: 'c' })])
      expect(await hitsOf(target)).toEqual([...kept, 'person c 77 open'])
      await find(target, [hit()])
      await find(target, [], { subjectBases: ['t'] })
      await find(target, [], { outcome: 'not-done' })
      await replace(target, NOT_DONE)
      expect(await hitsOf(target)).toEqual(kept)
      await find(target, [hit()], OTHER_SETTINGS)
      expect(await find(target, [], OTHER_SETTINGS)).toBe(0)
      expect([await hitsOf(target), await outcomesOf(target)]).toEqual([[], ['passed']])
      const [ended] = await endedOf(target)
      expect(ended).toMatchObject({ state, name: 'Ivan', reason: 'somebody else', decidedBy: OPERATOR })
      const late = temporary.store.screeningChecks.decideHit(
        { ...target, hitId: ended?.id ?? '' },
        { state: 'cleared', by: OPERATOR, reason: 'gone' },
      )
      expect(await late).toBeNull()
      expect(await find(target, [hit()])).toBe(1)
      expect([await hitsOf(target), await outcomesOf(target)]).toEqual([['person b 77 open'], ['look']])
    },
  )

  test('a clearance is kept while the threshold is above its score', async () => {
    const target = await submit()
    await find(target, [hit()])
    await decide(target, 'cleared')
    await find(target, [], { settings: 'threshold 78', lowestScore: 78 })
    expect(await find(target, [hit()])).toBe(0)
    expect(await hitsOf(target)).toEqual(['person b 77 cleared'])
  })

  test('a confirmed hit is kept when the settings change', async () => {
    const target = await submit()
    await find(target, [hit({ listing: '1' })])
    await decide(target, 'confirmed')
    await find(target, [], OTHER_SETTINGS)
    await replace(target)
    expect(await find(target, [hit({ listing: '2' })])).toBe(0)
    expect(await hitsOf(target)).toEqual(['person b 77 confirmed'])
  })

  test.each([
    ['is not found with other settings', (target) => find(target, [], { settings: 'changed' })],
    ['is not in use', (target) => replace(target)],
    ['was created again', () => Promise.resolve(0)],
  ] satisfies [string, (target: SessionTarget) => Promise<number>][])(
    'a clearance ends if the entry or its list %s, and a later listing is a new hit',
    async (name, change) => {
      const target = await submit()
      // The first hit is stored as by an earlier version, without its list.
      for (const listing of [null, '1']) await find(target, [hit({ listing })])
      await decide(target, 'cleared')
      expect(await find(target, [hit({ listing: '1' })], OTHER_SETTINGS)).toBe(0)
      expect(await hitsOf(target)).toEqual(['person b 77 cleared'])
      await change(target)
      expect(await find(target, [hit({ listing: name === 'was created again' ? '2' : '1' })])).toBe(1)
      expect([await hitsOf(target), await outcomesOf(target)]).toEqual([['person b 77 open'], ['look']])
      expect(await endedOf(target)).toMatchObject([{ state: 'cleared', reason: 'somebody else' }])
    },
  )

  test('the name of an ended hit is erased with the evidence, and the decision is kept', async () => {
    const target = await submit()
    const findNames = (hits: readonly BoundHit[]) =>
      replaceChecks(temporary.store, target, 'lists', [{ ...PASSED, name: NAME_CHECK, subjectBases: ['s'], hits }])
    await findNames([hit()])
    await decide(target, 'confirmed')
    await findNames([])
    await temporary.store.evidence.eraseAll(target, OPERATOR)
    const [ended] = await endedOf(target)
    expect(ended).toMatchObject({ name: '', entry: ended?.id, score: 0, why: [], state: 'confirmed', list: 'own' })
  })

  test('a decision of an earlier version about a wallet applies to the entry content of the next check', async () => {
    const target = await submit()
    const findWallet = (basis: string) => find(target, [hit({ subject: 'wallet', basis })])
    await findWallet('s')
    await decide(target, 'cleared')
    expect(await findWallet('b')).toBe(0)
    expect(await hitsOf(target)).toEqual(['wallet b 77 cleared'])
    expect(await findWallet('c')).toBe(1)
  })

  test('an open hit is kept after other details are submitted, until the entry is found with at least its score', async () => {
    const target = await submit()
    const other = { subjectBases: ['t'] }
    await find(target, HITS.slice(0, 2))
    for (let time = 0; time < 2; time++) {
      expect(await find(target, [], other)).toBe(0)
      expect([await hitsOf(target), await outcomesOf(target)]).toEqual([
        ['person b 77 open', 'person b 77 open'],
        ['look'],
      ])
      expect((await readHits(target)).map(({ why }) => why.map(({ part }) => part))).toEqual([['earlier'], ['earlier']])
    }
    const found = (score: number) => hit({ basis: 'c', subjectBasis: 't', score })
    await find(target, [found(76)], other)
    expect(await hitsOf(target)).toEqual(['person b 77 open', 'person b 77 open', 'person c 76 open'])
    await find(target, [found(77)], other)
    expect(await hitsOf(target)).toEqual(['person b 77 open', 'person c 77 open'])
    // The first details again, when neither entry is listed.
    await find(target, [])
    expect(await hitsOf(target)).toEqual(['person c 77 open'])
    await decide(target, 'cleared')
    expect([await hitsOf(target), await outcomesOf(target)]).toEqual([['person c 77 cleared'], ['passed']])
  })

  test('a decision about an owner applies to the same owner at another position, and never to the business', async () => {
    const target = await submit()
    const owner = (at: number, basis: string) => hit({ basis, subject: `owner ${at}` })
    const business = hit({ subject: 'business' })
    expect(await find(target, [business, owner(1, 'b'), owner(2, 'c')])).toBe(3)
    await decide(target, 'cleared', { subject: 'owner 1' })
    await decide(target, 'confirmed', { subject: 'owner 2' })
    expect(await find(target, [business, owner(1, 'c'), owner(2, 'b')])).toBe(0)
    expect(await hitsOf(target)).toEqual(['business b 77 open', 'owner 1 c 77 confirmed', 'owner 2 b 77 cleared'])
    expect(await find(target, [business, owner(1, 'd'), owner(2, 'c')])).toBe(1)
    const decided = ['owner 2 b 77 cleared', 'owner 2 c 77 confirmed']
    expect(await hitsOf(target)).toEqual(['business b 77 open', 'owner 1 d 77 open', ...decided])
    // Two owners with one name, and an owner with two names of one entry.
    expect(await find(target, [business, owner(1, 'b'), owner(2, 'b'), owner(2, 'b')])).toBe(1)
    expect(await hitsOf(target)).toEqual(['business b 77 open', 'owner 1 b 77 open', ...decided])
  })

  test('a decision about a hit without a basis is valid while evidence and score are unchanged', async () => {
    const { store, clock } = temporary
    const clearedWithoutBasis = async () => {
      const target = await submit()
      clock.advance(1)
      await find(target, [hit({ basis: '' })])
      await decide(target, 'cleared')
      clock.advance(1)
      return target
    }
    const [same, higher, changed] = [
      await clearedWithoutBasis(),
      await clearedWithoutBasis(),
      await clearedWithoutBasis(),
    ]
    expect(await find(same, [hit()])).toBe(0)
    expect(await hitsOf(same)).toEqual(['person b 77 cleared'])
    expect(await find(same, [hit({ basis: 'c' })])).toBe(1)
    expect(await find(higher, [hit({ score: 78 })])).toBe(1)
    expect(await hitsOf(higher)).toEqual(['person b 78 open'])
    await store.sessions.changeStatus({ ...changed, to: 'retry', actor: OPERATOR })
    const [document] = await store.evidence.list(changed)
    await store.evidence.removeDocument(changed, document?.id ?? '', 'person')
    expect(await find(changed, [hit()])).toBe(1)
    expect(await hitsOf(changed)).toEqual(['person  77 cleared', 'person b 77 open'])
  })

  test('an incomplete check does not pass even when its hits are cleared', async () => {
    const target = await submit()
    const hits = HITS.slice(0, 2)
    await find(target, hits, { outcome: 'not-done' })
    expect(await outcomesOf(target)).toEqual(['look'])
    await decide(target, 'cleared')
    expect(await outcomesOf(target)).toEqual(['look'])
    await decide(target, 'cleared')
    expect(await outcomesOf(target)).toEqual(['not-done'])
    await find(target, hits)
    expect(await outcomesOf(target)).toEqual(['passed'])
  })

  test('unchanged hits are not written again', async () => {
    if (temporary.store.kind !== 'sqlite') return
    const target = await submit()
    const hits = Array.from({ length: 50 }, (_, at) => hit({ entry: `p${at}` }))
    const countRows = async () => {
      const [row] = await temporary.store.database.transaction(({ query }) =>
        query<{ rows: number }>('SELECT total_changes() AS rows'),
      )
      return row?.rows ?? 0
    }
    const written = async (found: readonly BoundHit[]) => {
      const before = await countRows()
      await find(target, found)
      return (await countRows()) - before
    }
    expect(await written(hits)).toBeGreaterThan(50)
    const again = await written(hits)
    expect(again).toBeLessThan(10)
    expect(await written(hits.with(0, hit({ entry: 'p0', versionId: 'w' })))).toBe(again + 1)
  })

  /** The session as identified in a search for its traces. */
  const searched = ({ sessionId: id }: SessionTarget) =>
    ({ organizationId, id, environment: 'live', personId: null }) as const

  test('traces find other sessions of the same environment, and are erased with the evidence', async () => {
    const [first, second, sandbox] = [await submit(), await submit(), await submit('test')]
    const { sessionTraces, evidence } = temporary.store
    for (const { sessionId } of [first, second, sandbox]) {
      await sessionTraces.replace(organizationId, sessionId, 'a.', [
        { kind: 'a.number', value: 'same' },
        { kind: 'a.part', value: sessionId },
      ])
      await sessionTraces.replace(organizationId, sessionId, 'b.', [{ kind: 'b.name', value: 'same' }])
    }
    const findValues = (kind: string, ...values: readonly string[]) =>
      sessionTraces.findValues(searched(second), kind, values)
    const { sessionId } = first
    expect(await findValues('a.number', 'same', 'x')).toEqual([{ sessionId, kind: 'a.number', value: 'same' }])
    expect(await findValues('a.number', 'other')).toEqual([])
    expect(await sessionTraces.findKinds(searched(second), ['a.part', 'a.x'])).toEqual([
      { sessionId, kind: 'a.part', value: sessionId },
    ])
    await sessionTraces.replace(organizationId, sessionId, 'a.', [])
    expect([await findValues('a.number', 'same'), (await findValues('b.name', 'same')).length]).toEqual([[], 1])
    await evidence.eraseAll(first, OPERATOR)
    expect(await findValues('b.name', 'same')).toEqual([])
  })

  test('evidence that another browser does not take over leaves no trace, no country and no listed name', async () => {
    const { store } = temporary
    const target = await submit()
    const { sessionId } = target
    await store.sessionTraces.replace(organizationId, sessionId, 'a.', [{ kind: 'a.number', value: 'same' }])
    await store.sessionOrigins.note(organizationId, sessionId, 'DE')
    const named = { ...PASSED, name: NAME_CHECK, subjectBases: ['s'], hits: [hit()] }
    await replaceChecks(store, target, 'lists', [named])
    await store.sessions.changeStatus({ ...target, to: 'retry', actor: OPERATOR })
    const hash = newHash()
    await store.sessions.addLink(organizationId, sessionId, { hash, requiresProof: false })
    expect(await store.portalLinks.bind(target, hash, newHash())).toBe(true)
    expect(await store.evidence.list(target)).toEqual([])
    expect(await store.sessionTraces.findValues(searched(await submit()), 'a.number', ['same'])).toEqual([])
    expect(await store.sessionOrigins.find(organizationId, sessionId)).toBeNull()
    expect(await readHits(target)).toMatchObject([{ name: '', state: 'open', check: NAME_CHECK }])
    const events = await store.sessions.listEvents(organizationId, sessionId)
    expect(events.at(-1)).toMatchObject({ kind: 'evidence-erased', actor: 'person' })
  })

  test('the first stored trace key is kept', async () => {
    const { sessionTraces } = temporary.store
    expect(await sessionTraces.findKey(organizationId)).toBeNull()
    const [one, two] = [new Uint8Array([1]), new Uint8Array([2])]
    for (const key of [one, two]) {
      expect([...(await sessionTraces.addKey(organizationId, key, ORGANIZATION_KEY.wrappedKey))]).toEqual([1])
    }
    await expect(sessionTraces.addKey(organizationId, two, new Uint8Array(59))).rejects.toThrow()
  })

  test('a minimum age is from 1 to 99, or null, for all levels or one level', async () => {
    const ages = temporary.store.minimumAges
    const none = { years: null, levels: new Map() }
    expect(await ages.read(organizationId)).toEqual(none)
    await ages.set(organizationId, null, 21)
    await ages.set(organizationId, 3, 24)
    await ages.set(organizationId, 3, 25)
    expect(await ages.read(organizationId)).toEqual({ years: 21, levels: new Map([[3, 25]]) })
    await expect(ages.set(organizationId, null, 0)).rejects.toThrow()
    await expect(ages.set(organizationId, 2, 100)).rejects.toThrow()
    for (const level of [null, 3] as const) await ages.set(organizationId, level, null)
    expect(await ages.read(organizationId)).toEqual(none)
  })

  test('traces are read by their index, in steps and as long reads', async () => {
    const { store, clock } = temporary
    const session = searched(await submit())
    const others: string[] = []
    for (let at = 0; at < 3; at++) {
      const { sessionId } = await submit()
      others.push(sessionId)
      await store.sessionTraces.replace(organizationId, sessionId, 'a.', [{ kind: 'a.b', value: 'same' }])
    }
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
    expect(JSON.stringify(reads.slice(0, -1))).not.toContain('TEMP B-TREE')
  })
})

// Sessions that their organization's policy decides, over a real store: completed and rejected the way of any decision, once,
// with who decided and on what; and everything that is not clear is left to a person.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { Session } from '../../src/domain/session.ts'
import { ChecksPendingError } from '../../src/domain/session-errors.ts'
import { createSealedNote } from '../../src/identity/evidence/sealed-note.ts'
import { createVault } from '../../src/identity/evidence/vault.ts'
import { createSessionKnowledge } from '../../src/identity/session-knowledge.ts'
import { createSessionChanges } from '../../src/identity/sessions/changes.ts'
import { createPolicyDecider } from '../../src/modules/session-policies/policy-decider.ts'
import type { SessionFacts } from '../../src/policy/types/session-facts.ts'
import { openHit } from '../admin/support/open-hit.ts'
import { openEvidence } from '../identity/evidence/support.ts'
import { evmWallet } from '../identity/support.ts'
import { describeStores } from '../store/dialects.ts'
import { interleave } from '../store/interleave.ts'
import { markChecksMade } from '../support/made-checks.ts'
import { replaceChecks } from '../support/replace-checks.ts'

type World = Awaited<ReturnType<typeof openEvidence>>

const GROWN = `name: Grown-ups
decides: sessions
rules:
  - { id: young, deny: person.age < 18, code: TOO_YOUNG, message: You have to be 18. }
  - { id: grown, allow: person.age < 90 }
`

let world: World
let organizationId: string
let told: string[]
let failures: unknown[]
let counted: [string, number][]

const note = () =>
  createSealedNote<Readonly<Record<string, SessionFacts>>>({
    store: world.store.evidence,
    vault: createVault({ files: world.files, keys: world.keys }),
    clock: world.clock,
    kind: 'decision',
  })

const decider = (changed: Partial<Parameters<typeof createPolicyDecider>[0]> = {}) => {
  const { store, evidence, clock } = world
  const listener = {
    stateChanged: ({ session }: { readonly session: Session }) => void told.push(session.status),
    standingChanged: () => undefined,
  }
  return createPolicyDecider({
    store,
    clock,
    knowledge: createSessionKnowledge({ store, evidence }),
    decisionFacts: note(),
    changesOver: (changeStatus) =>
      createSessionChanges({ sessions: { ...store.sessions, changeStatus }, wallets: store.sessionWallets, listener }),
    prepareRequireCurrent: async () => async () => undefined,
    onDecided: (outcome, seconds) => void counted.push([outcome, seconds]),
    log: { info: () => undefined, error: (_message, detail) => void failures.push(detail) },
    ...changed,
  })
}

/** Saves a document as a policy's next revision. */
const save = async (source: string, known?: string) => {
  const { policies } = world.store
  const policyId = known ?? (await policies.create({ organizationId, name: 'Grown-ups', decides: 'sessions' })).id
  const revision = await policies.saveRevision({ organizationId, policyId, source, quorum: 1 })
  if (revision === null) throw new Error('not saved')
  return { policyId, revisionId: revision.id }
}
const switchOn = async (source = GROWN) => {
  const saved = await save(source)
  await world.store.policies.activateRevision(organizationId, saved.policyId, saved.revisionId)
  await world.store.sessionPolicies.set(organizationId, saved.policyId)
  return saved
}
const handIn = async (birthDate: string, wallet = true): Promise<Session> => {
  const session = await world.session(organizationId)
  if (wallet) await world.connect(organizationId, session.id, evmWallet(1))
  await world.evidence.putFields(session, { fullName: 'Nina Obraztsova', birthDate, country: 'CH' })
  const state = await world.store.sessions.changeStatus({
    organizationId,
    sessionId: session.id,
    to: 'submitted',
    actor: 'person',
  })
  if (state === null) throw new Error('not handed in')
  await markChecksMade(world.store, organizationId, session.id)
  return state.session
}
const now = async ({ id }: Session) => (await world.store.sessions.find(organizationId, id))?.session
const decisions = ({ id }: Session) => world.store.sessionPolicies.list(organizationId, id)

beforeEach(async () => {
  world = await openEvidence()
  organizationId = (await world.store.organizations.create({ slug: 'decided', name: 'Decided' })).id
  told = []
  failures = []
  counted = []
})
afterEach(() => world.remove())

test('completes whom it allows: told as any decision, with who decided and on what', async () => {
  const { policyId, revisionId } = await switchOn()
  const session = await handIn('1980-01-01')
  await decider()(session)
  expect((await now(session))?.status).toBe('completed')
  expect(told).toEqual(['completed'])
  const event = (await world.store.sessions.listEvents(organizationId, session.id)).at(-1)
  expect(event).toMatchObject({ actor: `policy:${policyId}:1`, status: 'completed', privateComment: 'rule grown' })
  expect(await decisions(session)).toMatchObject([
    {
      policyId,
      sequence: session.sequence,
      decided: { revisionId, outcome: 'completed', rule: 'grown' },
      shadow: null,
    },
  ])
  const { items } = await world.store.audit.page({ organizationId }, { after: null, limit: 5 })
  expect(items[0]).toMatchObject({
    actor: `policy:${policyId}:1`,
    actorName: 'Grown-ups, revision 1',
    action: 'session.decide',
    subject: session.id,
    detail: { status: ['submitted', 'completed'], policy: policyId, revision: revisionId, rule: 'grown' },
  })
  const facts = (await note().read(session, 'operator:ada'))?.[session.sequence]
  expect(facts).toMatchObject({ 'person.age': expect.any(Number), 'person.country': 'CH' })
  expect(world.everything().includes('person.country')).toBe(false)
})

test('rejects with the rule’s own words, and nothing else, for the person', async () => {
  await switchOn()
  const session = await handIn('2025-01-01')
  world.clock.advance(3)
  await decider()(session)
  expect(counted).toEqual([['rejected', 3]])
  expect(await now(session)).toMatchObject({ status: 'rejected', publicComment: 'You have to be 18.' })
  expect(await decisions(session)).toMatchObject([
    { decided: { outcome: 'rejected', rule: 'young', code: 'TOO_YOUNG' } },
  ])
})

test('is made once, however often it is asked for, and by nobody after a person', async () => {
  await switchOn()
  const session = await handIn('1980-01-01')
  const decide = decider()
  await Promise.all([decide(session), decide(session), decide(session)])
  await decide(session)
  expect(told).toEqual(['completed'])
  expect(counted.map(([outcome]) => outcome)).toEqual(['completed'])
  const other = await handIn('1980-01-01')
  await world.store.sessions.changeStatus({
    organizationId,
    sessionId: other.id,
    to: 'rejected',
    actor: 'operator:ada',
  })
  await decide(other)
  expect((await now(other))?.status).toBe('rejected')
  expect(await decisions(other)).toEqual([])
})

test('is not made where the policy is off, or an outside service decides', async () => {
  const session = await handIn('1980-01-01')
  await decider()(session)
  expect(await decisions(session)).toEqual([])
  await switchOn()
  const asked = await world.session(organizationId)
  await world.store.database.execute("UPDATE sessions SET provider = 'webhook' WHERE id = ?", [asked.id])
  await world.evidence.putFields(asked, { fullName: 'Nina', birthDate: '1980-01-01', country: 'CH' })
  const handed = await world.store.sessions.changeStatus({
    organizationId,
    sessionId: asked.id,
    to: 'submitted',
    actor: 'person',
  })
  if (handed !== null) await decider()(handed.session)
  expect((await now(asked))?.status).toBe('submitted')
})

test('is not made of a session that was submitted again, or sent back, since its checks were made', async () => {
  await switchOn()
  const session = await handIn('1980-01-01')
  const move = (to: 'retry' | 'submitted') =>
    world.store.sessions.changeStatus({ organizationId, sessionId: session.id, to, actor: 'operator:ada' })
  const sentBack = await move('retry')
  if (sentBack !== null) await decider()(sentBack.session)
  expect((await now(session))?.status).toBe('retry')
  await world.evidence.putFields(session, { birthDate: '1981-01-01' })
  await move('submitted')
  await markChecksMade(world.store, organizationId, session.id)
  await decider()(session)
  expect((await now(session))?.status).toBe('submitted')
  expect(await decisions(session)).toEqual([])
})

test('is not made of what was submitted while the policy read the facts of before', async () => {
  await switchOn()
  const session = await handIn('1980-01-01')
  const knowledge = createSessionKnowledge(world)
  const target = { organizationId, sessionId: session.id, actor: 'person' }
  const decide = decider({
    knowledge: {
      factsOf: async (...input) => {
        const facts = await knowledge.factsOf(...input)
        await world.store.sessions.changeStatus({ ...target, to: 'retry' })
        await world.evidence.putFields(session, { birthDate: '2025-01-01' })
        await world.store.sessions.changeStatus({ ...target, to: 'submitted' })
        await markChecksMade(world.store, organizationId, session.id)
        return facts
      },
    },
  })
  await decide(session)
  expect((await now(session))?.status).toBe('submitted')
  expect(await decisions(session)).toEqual([])
})

test('completes no session that lacks a required part: it is left to a person, who reads why', async () => {
  await switchOn()
  const session = await handIn('1980-01-01', false)
  await decider()(session)
  expect((await now(session))?.status).toBe('submitted')
  expect(await decisions(session)).toMatchObject([{ decided: { outcome: 'review', rule: 'grown' } }])
  expect((await decisions(session))[0]?.decided?.problem).toContain('missing wallets')
  expect(counted.map(([outcome]) => outcome)).toEqual(['review'])
})

test('an open hit is left to a person, also where it comes while the policy decides', async () => {
  await switchOn()
  const session = await handIn('1980-01-01')
  await openHit(world.store, organizationId, session.id)
  await decider()(session)
  expect(await decisions(session)).toMatchObject([{ decided: { outcome: 'review', problem: 'a hit is not cleared' } }])
  const late = await handIn('1981-01-01')
  const before = await createSessionKnowledge(world).factsOf(late, world.clock.unixSeconds())
  await openHit(world.store, organizationId, late.id)
  const knowledge = { factsOf: async () => before }
  const prepareRequireCurrent = async () => async () => {
    throw new ChecksPendingError()
  }
  // An outdated comparison is repeated first.
  await expect(decider({ knowledge, prepareRequireCurrent })(late)).rejects.toThrow(ChecksPendingError)
  await decider({ knowledge })(late)
  expect((await now(late))?.status).toBe('submitted')
  expect(await decisions(late)).toMatchObject([{ decided: { outcome: 'review', rule: 'grown' } }])
  expect((await decisions(late))[0]?.decided?.problem).toContain('is open')
})

test('a session is completed only after a comparison with the present lists, and rejected without it', async () => {
  await switchOn()
  const outdated = decider({
    prepareRequireCurrent: async () => async () => {
      throw new ChecksPendingError()
    },
  })
  const [grown, child] = [await handIn('1980-01-01'), await handIn('2020-01-01')]
  await expect(outdated(grown)).rejects.toThrow(ChecksPendingError)
  await outdated(child)
  expect([(await now(grown))?.status, (await now(child))?.status]).toEqual(['submitted', 'rejected'])
  expect(await decisions(grown)).toEqual([])
})

test('the completion is prepared before its transaction', async () => {
  await switchOn()
  const session = await handIn('1980-01-01')
  const steps: string[] = []
  const { store } = world
  const transaction: typeof store.transaction = (work, options) => {
    steps.push('transaction')
    return store.transaction(work, options)
  }
  const prepareRequireCurrent = async () => {
    steps.push('prepare')
    return async () => void steps.push('require')
  }
  await decider({ store: { ...store, transaction }, prepareRequireCurrent })(session)
  expect((await now(session))?.status).toBe('completed')
  expect(steps).toEqual(['prepare', 'transaction', 'require'])
})

test('a fact that can not be had, and a policy that can not be used, leave it to a person', async () => {
  const { policyId } = await switchOn(GROWN.replace('person.age < 18', '"!checks.document.matches"'))
  const session = await handIn('1980-01-01')
  await decider()(session)
  expect((await now(session))?.status).toBe('submitted')
  expect(await decisions(session)).toMatchObject([
    { decided: { outcome: 'review', rule: 'young', problem: 'checks.document.matches is not available' } },
  ])
  const broken = await save('name: Broken\ndecides: sessions\nrules: [{ id: a, allow: nothing }]\n', policyId)
  await world.store.policies.activateRevision(organizationId, policyId, broken.revisionId)
  const other = await handIn('1980-01-01')
  await decider()(other)
  expect(await decisions(other)).toMatchObject([
    { decided: { outcome: 'review', problem: 'could not use the revision' } },
  ])
  expect(failures).toHaveLength(1)
})

test('a policy that is switched off while it decides does not decide, and another revision decides anew', async () => {
  const { policyId } = await switchOn()
  const session = await handIn('1980-01-01')
  const knowledge = createSessionKnowledge(world)
  const meanwhile = (work: () => Promise<unknown>) => {
    let done = false
    return decider({
      knowledge: {
        factsOf: async (...input) => {
          if (!done) await work()
          done = true
          return knowledge.factsOf(...input)
        },
      },
    })
  }
  await meanwhile(() => world.store.sessionPolicies.set(organizationId, null))(session)
  expect((await now(session))?.status).toBe('submitted')
  await world.store.sessionPolicies.set(organizationId, policyId)
  const second = await save(GROWN.replace('< 90', '< 20'), policyId)
  await meanwhile(() => world.store.policies.activateRevision(organizationId, policyId, second.revisionId))(session)
  expect(await decisions(session)).toMatchObject([{ decided: { revisionId: second.revisionId, outcome: 'review' } }])
})

test('a shadow is evaluated beside it, and alone where no revision is active', async () => {
  const { policyId, revisionId } = await save(GROWN)
  const { policies, sessionPolicies } = world.store
  await policies.shadowRevision(organizationId, policyId, revisionId)
  await sessionPolicies.set(organizationId, policyId)
  const alone = await handIn('1980-01-01')
  await decider()(alone)
  expect((await now(alone))?.status).toBe('submitted')
  expect(await decisions(alone)).toMatchObject([{ decided: null, shadow: { revisionId, outcome: 'completed' } }])
  const active = await save(GROWN.replace('< 90', '< 20'), policyId)
  await policies.activateRevision(organizationId, policyId, active.revisionId)
  const beside = await handIn('1980-01-01')
  await decider()(beside)
  expect(await decisions(beside)).toMatchObject([
    { decided: { revisionId: active.revisionId, outcome: 'review' }, shadow: { revisionId, outcome: 'completed' } },
  ])
  expect(await sessionPolicies.countShadow(organizationId, revisionId, undefined)).toEqual({
    same: 0,
    different: 2,
    failed: 0,
    exact: true,
    byOutcome: { completed: 2, rejected: 0, review: 0 },
  })
  expect(await sessionPolicies.listShadowed(organizationId, revisionId)).toHaveLength(2)
  expect(counted.map(([outcome]) => outcome)).toEqual(['none', 'review'])
})

test('what is tried on past sessions is what people decided, with their hits as open as they were', async () => {
  await switchOn()
  const byPolicy = await handIn('1980-01-01')
  await decider()(byPolicy)
  const byPeople = await handIn('1980-01-01')
  const hit = await openHit(world.store, organizationId, byPeople.id)
  await world.store.screeningChecks.decideHit(
    { organizationId, sessionId: byPeople.id, hitId: hit.id },
    { state: 'cleared', by: 'operator:ada', reason: 'somebody else' },
  )
  await world.store.sessions.changeStatus({
    organizationId,
    sessionId: byPeople.id,
    to: 'completed',
    actor: 'operator:ada',
  })
  const time = { sinceSeconds: 0, untilSeconds: Number.MAX_SAFE_INTEGER }
  const expectTried = async () =>
    expect(await createSessionKnowledge(world).decidedByPeople(organizationId, time)).toMatchObject([
      {
        sessionId: byPeople.id,
        decided: 'completed',
        facts: { 'checks.sanctions.uncleared': true, 'checks.sanctions.score': 90 },
      },
    ])
  await expectTried()
  // The entry is taken off the list after the decision.
  world.clock.advance(1)
  const delisted = { name: 'lists.names', outcome: 'passed', version: 'key', detail: {}, subjectBases: ['s'], hits: [] }
  await replaceChecks(world.store, { organizationId, sessionId: byPeople.id }, 'lists', [delisted])
  expect(await world.store.screeningChecks.hits(organizationId, byPeople.id)).toEqual([])
  await expectTried()
  // A hit that was found after the decision was not seen by it.
  const before = await handIn('1980-01-01')
  await world.store.sessions.changeStatus({
    organizationId,
    sessionId: before.id,
    to: 'rejected',
    actor: 'operator:ada',
  })
  world.clock.advance(1)
  await openHit(world.store, organizationId, before.id)
  const decided = await createSessionKnowledge(world).decidedByPeople(organizationId, time)
  expect(decided.find(({ sessionId }) => sessionId === before.id)?.facts).toMatchObject({
    'checks.sanctions.uncleared': false,
  })
})

test.each(['lists.names', 'wallets.lists', 'wallets.screeners'])(
  'completes nobody while %s could not be compared, whatever its rules read, and rejects as always',
  async (name) => {
    await switchOn()
    const check = { name, outcome: 'not-done', detail: {}, version: '' }
    const uncompared = async (birthDate: string): Promise<Session> => {
      const session = await handIn(birthDate)
      await replaceChecks(world.store, { organizationId, sessionId: session.id }, name, [check])
      await decider()(session)
      return session
    }
    const grown = await uncompared('1980-01-01')
    expect((await now(grown))?.status).toBe('submitted')
    expect(await decisions(grown)).toMatchObject([
      { decided: { outcome: 'review', rule: 'grown', problem: expect.stringContaining('could not be compared') } },
    ])
    expect((await now(await uncompared('2020-01-01')))?.status).toBe('rejected')
  },
)

describeStores((open) => {
  test('no session is decided by a revision that is replaced meanwhile', async () => {
    await world.remove()
    world = await openEvidence({}, open)
    organizationId = (await world.store.organizations.create({ slug: 'decided', name: 'Decided' })).id
    const { policyId } = await switchOn()
    const next = await save('name: Grown-ups\ndecides: sessions\nrules: []\n', policyId)
    const session = await handIn('1980-01-01')
    await interleave(
      world.store,
      async ({ organizations, policies }) => {
        // As every change over the admin API and the command line does.
        await organizations.lock(organizationId)
        await policies.activateRevision(organizationId, policyId, next.revisionId)
      },
      () => decider()(session),
    )
    expect(await decisions(session)).toMatchObject([{ decided: { revisionId: next.revisionId } }])
  })
})

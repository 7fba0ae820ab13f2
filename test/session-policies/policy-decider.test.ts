// Sessions that a policy decides, with a real store: each decision is made once and stored with its policy and its
// facts, and every unclear session is left to a reviewer.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { Session, SessionStatus } from '../../src/domain/session.ts'
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

const ADULTS = `name: Grown-ups
decides: sessions
rules:
  - { id: young, deny: person.age < 18, code: TOO_YOUNG, message: You have to be 18. }
  - { id: grown, allow: person.age < 90 }
`

let world: World
let organizationId: string
let notified: string[]
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
    stateChanged: ({ session }: { readonly session: Session }) => void notified.push(session.status),
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

/** Saves a document as the next revision of a policy. */
const save = async (source: string, known?: string) => {
  const { policies } = world.store
  const policyId = known ?? (await policies.create({ organizationId, name: 'Grown-ups', decides: 'sessions' })).id
  const revision = await policies.saveRevision({ organizationId, policyId, source, quorum: 1 })
  if (revision === null) throw new Error('not saved')
  return { policyId, revisionId: revision.id }
}
const setPolicy = async (source = ADULTS) => {
  const saved = await save(source)
  await world.store.policies.activateRevision(organizationId, saved.policyId, saved.revisionId)
  await world.store.sessionPolicies.set(organizationId, saved.policyId)
  return saved
}
const change = async (sessionId: string, to: SessionStatus, actor = 'operator:ada'): Promise<Session> => {
  const state = await world.store.sessions.changeStatus({ organizationId, sessionId, to, actor })
  if (state === null) throw new Error('not changed')
  return state.session
}
const submit = async (birthDate: string, wallet = true): Promise<Session> => {
  const session = await world.session(organizationId)
  if (wallet) await world.connect(organizationId, session.id, evmWallet(1))
  await world.evidence.putFields(session, { fullName: 'Nina Obraztsova', birthDate, country: 'CH' })
  const submitted = await change(session.id, 'submitted', 'person')
  await markChecksMade(world.store, organizationId, session.id)
  return submitted
}
const find = async ({ id }: Session) => (await world.store.sessions.find(organizationId, id))?.session
const statusOf = async (session: Session) => (await find(session))?.status
const decisions = ({ id }: Session) => world.store.sessionPolicies.list(organizationId, id)
/** Requires another comparison before a completion. */
const requireComparison = async () => async () => {
  throw new ChecksPendingError()
}

beforeEach(async () => {
  world = await openEvidence()
  organizationId = (await world.store.organizations.create({ slug: 'decided', name: 'Decided' })).id
  notified = []
  failures = []
  counted = []
})
afterEach(() => world.remove())

test('completes an allowed session, with the policy and the facts of the decision', async () => {
  const { policyId, revisionId } = await setPolicy()
  const session = await submit('1980-01-01')
  await decider()(session)
  expect(await statusOf(session)).toBe('completed')
  expect(notified).toEqual(['completed'])
  const event = (await world.store.sessions.listEvents(organizationId, session.id)).at(-1)
  expect(event).toMatchObject({ actor: `policy:${policyId}:1`, status: 'completed', privateComment: 'rule grown' })
  const decided = { revisionId, outcome: 'completed', rule: 'grown' }
  expect(await decisions(session)).toMatchObject([{ policyId, sequence: session.sequence, decided, shadow: null }])
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

test('rejects a denied session with the message of the rule', async () => {
  await setPolicy()
  const session = await submit('2025-01-01')
  world.clock.advance(3)
  await decider()(session)
  expect(counted).toEqual([['rejected', 3]])
  expect(await find(session)).toMatchObject({ status: 'rejected', publicComment: 'You have to be 18.' })
  const decided = { outcome: 'rejected', rule: 'young', code: 'TOO_YOUNG' }
  expect(await decisions(session)).toMatchObject([{ decided }])
})

test('decides once, and not after an operator’s decision', async () => {
  await setPolicy()
  const session = await submit('1980-01-01')
  const decide = decider()
  await Promise.all([decide(session), decide(session), decide(session)])
  await decide(session)
  expect(notified).toEqual(['completed'])
  expect(counted.map(([outcome]) => outcome)).toEqual(['completed'])
  const other = await submit('1980-01-01')
  await change(other.id, 'rejected')
  await decide(other)
  expect(await statusOf(other)).toBe('rejected')
  expect(await decisions(other)).toEqual([])
})

test('does not decide without a policy, or for an external decider', async () => {
  const session = await submit('1980-01-01')
  await decider()(session)
  expect(await decisions(session)).toEqual([])
  await setPolicy()
  const external = await world.session(organizationId)
  await world.store.database.execute("UPDATE sessions SET provider = 'webhook' WHERE id = ?", [external.id])
  await world.evidence.putFields(external, { fullName: 'Nina', birthDate: '1980-01-01', country: 'CH' })
  await decider()(await change(external.id, 'submitted', 'person'))
  expect(await statusOf(external)).toBe('submitted')
})

test('does not decide a session that was sent back or submitted again after its checks', async () => {
  await setPolicy()
  const session = await submit('1980-01-01')
  await decider()(await change(session.id, 'retry'))
  expect(await statusOf(session)).toBe('retry')
  await world.evidence.putFields(session, { birthDate: '1981-01-01' })
  await change(session.id, 'submitted')
  await markChecksMade(world.store, organizationId, session.id)
  await decider()(session)
  expect(await statusOf(session)).toBe('submitted')
  expect(await decisions(session)).toEqual([])
})

test('does not decide a session that is submitted again while the policy reads its facts', async () => {
  await setPolicy()
  const session = await submit('1980-01-01')
  const knowledge = createSessionKnowledge(world)
  const decide = decider({
    knowledge: {
      factsOf: async (...input) => {
        const facts = await knowledge.factsOf(...input)
        await change(session.id, 'retry', 'person')
        await world.evidence.putFields(session, { birthDate: '2025-01-01' })
        await change(session.id, 'submitted', 'person')
        await markChecksMade(world.store, organizationId, session.id)
        return facts
      },
    },
  })
  await decide(session)
  expect(await statusOf(session)).toBe('submitted')
  expect(await decisions(session)).toEqual([])
})

test('leaves a session without a required part to a reviewer, with the reason', async () => {
  await setPolicy()
  const session = await submit('1980-01-01', false)
  await decider()(session)
  expect(await statusOf(session)).toBe('submitted')
  const problem = expect.stringContaining('missing wallets')
  expect(await decisions(session)).toMatchObject([{ decided: { outcome: 'review', rule: 'grown', problem } }])
  expect(counted.map(([outcome]) => outcome)).toEqual(['review'])
})

test('leaves a session with an open hit to a reviewer, even if the hit is found during the decision', async () => {
  await setPolicy()
  const session = await submit('1980-01-01')
  await openHit(world.store, organizationId, session.id)
  await decider()(session)
  expect(await decisions(session)).toMatchObject([{ decided: { outcome: 'review', problem: 'a hit is not cleared' } }])
  const late = await submit('1981-01-01')
  const before = await createSessionKnowledge(world).factsOf(late, world.clock.unixSeconds())
  await openHit(world.store, organizationId, late.id)
  const knowledge = { factsOf: async () => before }
  // An outdated comparison is repeated first.
  const outdated = decider({ knowledge, prepareRequireCurrent: requireComparison })
  await expect(outdated(late)).rejects.toThrow(ChecksPendingError)
  await decider({ knowledge })(late)
  expect(await statusOf(late)).toBe('submitted')
  const problem = expect.stringContaining('is open')
  expect(await decisions(late)).toMatchObject([{ decided: { outcome: 'review', rule: 'grown', problem } }])
})

test('completes a session only after a comparison with the current lists, and rejects a session without it', async () => {
  await setPolicy()
  const outdated = decider({ prepareRequireCurrent: requireComparison })
  const [adult, child] = [await submit('1980-01-01'), await submit('2020-01-01')]
  await expect(outdated(adult)).rejects.toThrow(ChecksPendingError)
  await outdated(child)
  expect([await statusOf(adult), await statusOf(child)]).toEqual(['submitted', 'rejected'])
  expect(await decisions(adult)).toEqual([])
})

test('prepares the completion before its transaction', async () => {
  await setPolicy()
  const session = await submit('1980-01-01')
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
  expect(await statusOf(session)).toBe('completed')
  expect(steps).toEqual(['prepare', 'transaction', 'require'])
})

test('leaves a session to a reviewer if a fact is missing or the policy is invalid', async () => {
  const { policyId } = await setPolicy(ADULTS.replace('person.age < 18', '"!checks.document.matches"'))
  const session = await submit('1980-01-01')
  await decider()(session)
  expect(await statusOf(session)).toBe('submitted')
  const decided = { outcome: 'review', rule: 'young', problem: 'checks.document.matches is not available' }
  expect(await decisions(session)).toMatchObject([{ decided }])
  const broken = await save('name: Broken\ndecides: sessions\nrules: [{ id: a, allow: nothing }]\n', policyId)
  await world.store.policies.activateRevision(organizationId, policyId, broken.revisionId)
  const other = await submit('1980-01-01')
  await decider()(other)
  const unusable = { outcome: 'review', problem: 'could not use the revision' }
  expect(await decisions(other)).toMatchObject([{ decided: unusable }])
  expect(failures).toHaveLength(1)
})

test('does not decide after the policy is removed, and decides with a new revision that is activated meanwhile', async () => {
  const { policyId } = await setPolicy()
  const session = await submit('1980-01-01')
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
  expect(await statusOf(session)).toBe('submitted')
  await world.store.sessionPolicies.set(organizationId, policyId)
  const second = await save(ADULTS.replace('< 90', '< 20'), policyId)
  await meanwhile(() => world.store.policies.activateRevision(organizationId, policyId, second.revisionId))(session)
  expect(await decisions(session)).toMatchObject([{ decided: { revisionId: second.revisionId, outcome: 'review' } }])
})

test('evaluates a shadow revision beside the active one, and alone without an active one', async () => {
  const { policyId, revisionId } = await save(ADULTS)
  const { policies, sessionPolicies } = world.store
  await policies.shadowRevision(organizationId, policyId, revisionId)
  await sessionPolicies.set(organizationId, policyId)
  const alone = await submit('1980-01-01')
  await decider()(alone)
  expect(await statusOf(alone)).toBe('submitted')
  expect(await decisions(alone)).toMatchObject([{ decided: null, shadow: { revisionId, outcome: 'completed' } }])
  const active = await save(ADULTS.replace('< 90', '< 20'), policyId)
  await policies.activateRevision(organizationId, policyId, active.revisionId)
  const beside = await submit('1980-01-01')
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

test('a trial on past sessions uses the decisions of people, with the hits of that time', async () => {
  await setPolicy()
  const byPolicy = await submit('1980-01-01')
  await decider()(byPolicy)
  const byPeople = await submit('1980-01-01')
  const hit = await openHit(world.store, organizationId, byPeople.id)
  const clearance = { state: 'cleared', by: 'operator:ada', reason: 'somebody else' } as const
  const target = { organizationId, sessionId: byPeople.id }
  await world.store.screeningChecks.decideHit({ ...target, hitId: hit.id }, clearance)
  await change(byPeople.id, 'completed')
  const time = { sinceSeconds: 0, untilSeconds: Number.MAX_SAFE_INTEGER }
  const facts = { 'checks.sanctions.uncleared': true, 'checks.sanctions.score': 90 }
  const expectTried = async () =>
    expect(await createSessionKnowledge(world).decidedByPeople(organizationId, time)).toMatchObject([
      { sessionId: byPeople.id, decided: 'completed', facts },
    ])
  await expectTried()
  // The entry is removed from the list.
  world.clock.advance(1)
  const delisted = { name: 'lists.names', outcome: 'passed', version: 'key', detail: {}, subjectBases: ['s'], hits: [] }
  await replaceChecks(world.store, target, 'lists', [delisted])
  expect(await world.store.screeningChecks.hits(organizationId, byPeople.id)).toEqual([])
  await expectTried()
  // A hit that is found after the decision does not count.
  const before = await submit('1980-01-01')
  await change(before.id, 'rejected')
  world.clock.advance(1)
  await openHit(world.store, organizationId, before.id)
  const decided = await createSessionKnowledge(world).decidedByPeople(organizationId, time)
  expect(decided.find(({ sessionId }) => sessionId === before.id)?.facts).toMatchObject({
    'checks.sanctions.uncleared': false,
  })
})

test.each(['lists.names', 'wallets.lists', 'wallets.screeners'])(
  'completes no session while %s could not be compared, and can reject it',
  async (name) => {
    await setPolicy()
    const check = { name, outcome: 'not-done', detail: {}, version: '' }
    const decideUncompared = async (birthDate: string): Promise<Session> => {
      const session = await submit(birthDate)
      await replaceChecks(world.store, { organizationId, sessionId: session.id }, name, [check])
      await decider()(session)
      return session
    }
    const adult = await decideUncompared('1980-01-01')
    expect(await statusOf(adult)).toBe('submitted')
    const problem = expect.stringContaining('could not be compared')
    expect(await decisions(adult)).toMatchObject([{ decided: { outcome: 'review', rule: 'grown', problem } }])
    expect(await statusOf(await decideUncompared('2020-01-01'))).toBe('rejected')
  },
)

describeStores((open) => {
  test('no session is decided with a revision that is replaced during the decision', async () => {
    await world.remove()
    world = await openEvidence({}, open)
    organizationId = (await world.store.organizations.create({ slug: 'decided', name: 'Decided' })).id
    const { policyId } = await setPolicy()
    const next = await save('name: Grown-ups\ndecides: sessions\nrules: []\n', policyId)
    const session = await submit('1980-01-01')
    await interleave(
      world.store,
      async ({ organizations, policies }) => {
        // Changes by the admin API and the command line lock the organization first.
        await organizations.lock(organizationId)
        await policies.activateRevision(organizationId, policyId, next.revisionId)
      },
      () => decider()(session),
    )
    expect(await decisions(session)).toMatchObject([{ decided: { revisionId: next.revisionId } }])
  })
})

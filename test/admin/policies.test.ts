// Policies in the API: mistakes with their positions, simulations, revisions, shadows and replays.
import { describe, expect, test } from 'bun:test'
import { contentHashOf } from '../../src/policy/revision.ts'
import type { ExternalFacts } from '../../src/policy/types/facts.ts'
import type { OrganizationRole } from '../../src/store/accounts/role.ts'
import { allPolicies } from '../support/all-rows.ts'
import { decisionRecord, uuidOf } from './support/decisions.ts'
import { harnessOfFile } from './support/harness.ts'

const harness = await harnessOfFile()
const { store } = harness
const alpha = await harness.organization('alpha')

const call = <Body = Record<string, unknown>>(method: string, path: string, body?: object) =>
  harness.call<Body>(method, `/organizations/alpha${path}`, { key: alpha.key, ...(body && { body }) })
const post = async <Body = object>(path: string, body: object, status = 200): Promise<Body> => {
  const answer = await call<Body>('POST', `/policies${path}`, body)
  expect(answer).toEqual({ status, body: answer.body })
  return answer.body
}
interface Saved {
  readonly policy: { readonly id: string; readonly version: number }
  readonly revision: { readonly id: string }
  readonly warnings: readonly object[]
}
const save = (source: string): Promise<Saved> => post<Saved>('', { source }, 201)
/** Saves a revision without the checks of the API. */
const saveUnchecked = async (policyId: string, source: string) =>
  (await store.policies.saveRevision({ organizationId: alpha.id, policyId, source, quorum: 1 }))?.id

interface Simulation {
  readonly verdict: string | null
  readonly rule: string | null
  readonly failure: string | null
  readonly rules: readonly {
    readonly id: string
    readonly value: boolean | null
    readonly decisive: boolean
    readonly reached: boolean
  }[]
  readonly facts: ExternalFacts
}

const WALLET = '0x1111111111111111111111111111111111111111'
const BASE_REQUEST = { chain: 'base', from: WALLET }
const SOURCE = `name: Withdrawals
rules:
  - id: blocked
    deny: wallet.address == address("0x000000000000000000000000000000000000dEaD")
    code: BLOCKED
  - id: small
    require: tx.value <= ether(10)
    code: TOO_MUCH
    message: At most ten.
  - id: chains
    allow: chain.name == "base"
  - id: never
    deny: chain.name == "ethereum"
`
/** A document of an earlier version, whose test is invalid. */
const EARLIER = `${SOURCE}tests: [{ request: { from: "${WALLET}", chain: mine, chain_id: 9007199254740993 }, verdict: deny }]
`
const listing = (list: string) => `name: x\nrules:\n  - id: friend\n    allow: in_list(wallet.address, "${list}")\n`

describe('a check', () => {
  test('reports every mistake with its line, and the same mistakes are reported for a save', async () => {
    const source = 'name: Two mistakes\nrules:\n  - { id: a, deny: tx.valu > 1 }\n  - { id: b, allow: nonsense }\n'
    const { valid, issues } = await post<{ valid: boolean; issues: { line: number }[] }>('/check', { source })
    expect([valid, issues.map(({ line }) => line)]).toEqual([false, [3, 4]])
    const refused = { code: 'INVALID_REQUEST', field: 'source', issues, detail: 'the policy has 2 mistakes' }
    expect(await post('', { source }, 400)).toMatchObject(refused)
    expect(await allPolicies(store, alpha.id)).toEqual([])
    const { policy } = await save('name: Good\nrules: []\n')
    expect(await post(`/${policy.id}/revisions`, { source }, 400)).toMatchObject({ issues })
  })

  test('reports unknown members of rules', async () => {
    const source = 'name: x\nrules:\n  - id: a\n    alow: "true"\n  - id: b\n    deny: wallet.adress == 1\n'
    const { valid, issues } = await post<{ valid: boolean; issues: { line: number }[] }>('/check', { source })
    expect([valid, issues.map(({ line }) => line)]).toEqual([false, expect.arrayContaining([3, 6])])
  })

  test('accepts the lists of the organization and shared lists', async () => {
    await store.lists.create({ owner: alpha.id, name: 'friends' })
    await store.lists.create({ owner: null, name: 'sanctions' })
    const beta = await store.organizations.create({ slug: 'beta', name: 'beta' })
    await store.lists.create({ owner: beta.id, name: 'theirs' })
    for (const [list, valid] of Object.entries({ friends: true, sanctions: true, theirs: false, deny: false })) {
      expect([list, await post('/check', { source: listing(list) })]).toMatchObject([list, { valid }])
    }
    const message = expect.stringContaining('To create it, run countersign list create deny')
    expect(await post('', { source: listing('deny') }, 400)).toMatchObject({ issues: [{ message }] })
    await call('POST', '/lists', { name: 'deny' })
    expect(await post('/check', { source: listing('deny') })).toMatchObject({ valid: true })
  })

  test('reports warnings, as a save does', async () => {
    const source = 'name: x\nrules:\n  - id: a\n    allow: chain.name == "bas"\n'
    const message = 'unknown chain "bas": did you mean "base"?'
    const warnings = [{ line: 4, column: 26, pointer: '/rules/0/allow', message }]
    expect(await post('/check', { source })).toMatchObject({ valid: true, issues: [], warnings })
    const saved = await save(source)
    expect(saved.warnings).toEqual(warnings)
    expect(await post(`/${saved.policy.id}/revisions`, { source }, 201)).toMatchObject({ warnings })
  })
})

test('a project shows that its policy has no active revision', async () => {
  const { policy, revision } = await save('name: Q\nrules: []\n')
  const { body: created } = await call('POST', '/projects', { name: 'Waiting', policy_id: policy.id })
  expect(created['policy_active']).toBe(false)
  await post(`/${policy.id}/activate`, { revision_id: revision.id })
  expect((await call('GET', `/projects/${created['id']}`)).body).toEqual({ ...created, policy_active: true })
})

describe('a simulation', () => {
  const simulate = (body: object) => post<Simulation>('/simulate', body)
  const ANONYMITY = { region: null, anonymous: null, vpn: null, proxy: null, tor: null, hosting: null }

  test('shows the value of each rule, the decisive rule, and the rules that were not reached', async () => {
    const { verdict, rule, rules } = await simulate({ source: SOURCE, request: { ...BASE_REQUEST, msg_value: '5' } })
    expect([verdict, rule]).toEqual(['compliant', 'chains'])
    expect(rules.map(({ id, value, decisive, reached }) => [id, value, decisive, reached])).toEqual([
      ['blocked', false, false, true],
      ['small', true, false, true],
      ['chains', true, true, true],
      ['never', false, false, false],
    ])
  })

  test('shows the code and message of a denial', async () => {
    const request = { chain: 'ethereum', from: WALLET, msg_value: '20000000000000000000' }
    const denial = { verdict: 'denied', rule: 'small', code: 'TOO_MUCH', message: 'At most ten.' }
    expect(await simulate({ source: SOURCE, request })).toMatchObject(denial)
  })

  test('of a request without a required field has no verdict', async () => {
    const { rules, ...result } = await simulate({ source: SOURCE, request: BASE_REQUEST })
    const failure = 'missing from the request (400): msg_value'
    expect(result).toMatchObject({ verdict: null, rule: null, failure, missing: ['msg_value'] })
    expect(rules.some(({ reached, decisive }) => reached || decisive)).toBe(false)
  })

  test('has no verdict if a rule fails, and names its fact', async () => {
    const source = 'name: x\nrules:\n  - id: country\n    allow: client.country == "CH"\n'
    const request = { ...BASE_REQUEST, user_ip: '1.1.1.1' }
    const { verdict, rules, failure } = await simulate({ source, request })
    expect([verdict, rules[0]?.value, failure]).toEqual([null, null, expect.stringContaining('client.country')])
    const facts = { geography: { country: 'CH', ...ANONYMITY } }
    expect(await simulate({ source, request, facts })).toMatchObject({ verdict: 'compliant', facts })
  })

  test.each([
    [{ velocity: { '1h': { count: 1, value: '5' } } }, 'velocity.1h; the policy reads velocity.3600'],
    [{ velocity: { 3600: { count: 1, valu: '5' } } }, 'velocity.3600.valu: did you mean velocity.3600.value?'],
    [{ geografy: {} }, 'geografy: did you mean geography?'],
    [{ identity: null }, 'identity; the policy reads geography, screeners, velocity'],
    [{ screeners: { chane: null } }, 'screeners.chane: did you mean screeners.chain?'],
    [{ lists: {} }, 'lists: provide lists in “lists” (--lists)'],
  ])('refuses facts that the policy does not read: %j', async (facts, message) => {
    const source =
      'name: x\nrules:\n  - id: a\n    deny: client.tor || velocity.count(hours(1)) > 3 || screener("chain").flagged || in_list(wallet.address, "friends")\n'
    const refused = await post('/simulate', { source, request: BASE_REQUEST, facts }, 400)
    expect(refused).toMatchObject({ field: 'facts', rule: `must not contain ${message}` })
  })

  test('refuses a list in another format, and shows an example', async () => {
    const body = { source: SOURCE, request: BASE_REQUEST, lists: { partners: [WALLET] } }
    expect(await post('/simulate', body, 400)).toMatchObject({
      field: 'lists.partners',
      rule: 'must be {"addresses": ["0x1111111111111111111111111111111111111111"], "age_seconds": 0}',
    })
  })

  test('uses stored lists or lists of the request, after the allow and deny lists of the organization', async () => {
    const body = { source: listing('friends'), request: BASE_REQUEST }
    const edit = (list: string, add: object[], remove: string[] = []) =>
      call('POST', `/lists/${list}/entries`, { add, remove })
    const denied = { verdict: 'denied', rule: null }
    expect(await simulate(body)).toMatchObject(denied)
    const lists = { friends: { addresses: [WALLET], age_seconds: 0 } }
    const allowed = { verdict: 'compliant', rule: 'friend' }
    expect(await simulate({ ...body, lists })).toMatchObject(allowed)
    expect((await edit('friends', [{ address: WALLET }])).status).toBe(200)
    expect(await simulate(body)).toMatchObject(allowed)
    expect((await edit('deny', [{ address: WALLET }])).status).toBe(200)
    expect(await simulate(body)).toMatchObject({ verdict: 'denied', rule: 'list:deny' })
    await edit('deny', [], [WALLET])
  })

  test('uses the request of a recorded decision, with the given changes', async () => {
    const record = decisionRecord(7, { organization: alpha.id, value: '11000000000000000000' })
    const empty = decisionRecord(9, { organization: alpha.id, value: '0' })
    const task = decisionRecord(10, { organization: alpha.id, value: '0', kind: 'task' })
    harness.decide(record, empty, task)
    for (const [body, expected] of [
      [{ decision: record.uuid }, { verdict: 'denied', rule: 'small' }],
      [{ decision: record.uuid, request: { msg_value: '1' } }, { verdict: 'compliant' }],
      // Only the record of a task distinguishes an omitted field from an empty one.
      [{ decision: empty.uuid }, { verdict: null, failure: 'the log does not show msg_value: pass it in the request' }],
      [{ decision: task.uuid }, { verdict: 'compliant' }],
    ] as const) {
      expect(await simulate({ source: SOURCE, ...body })).toMatchObject(expected)
    }
  })

  test('uses the facts of a recorded decision, and collects only missing facts', async () => {
    const geography = { country: 'CH', ...ANONYMITY }
    const source =
      'name: x\nrules:\n  - id: there\n    require: client.country == "CH"\n  - id: then\n    allow: in_list(wallet.address, "known")\n'
    const record = decisionRecord(8, {
      organization: alpha.id,
      requested: 1_767_225_000,
      facts: { geography, lists: { known: { age: 0, in: [decisionRecord(8).from], out: [] } } },
    })
    harness.decide(record)
    const decision = record.uuid
    const recorded = { verdict: 'compliant', rule: 'then', facts: { geography } }
    expect(await simulate({ source, decision })).toMatchObject(recorded)
    const facts = { geography: { ...geography, country: 'FR' } }
    expect(await simulate({ source, decision, facts })).toMatchObject({ verdict: 'denied', rule: 'there' })
    // The record does not contain another wallet, and the current list does not exist.
    expect(await simulate({ source, decision, request: { from: WALLET } })).toMatchObject({ verdict: 'denied' })
    expect((await call('GET', `/decisions/${decision}`)).body).toMatchObject({
      basis: { data: '0x', requested_at: '2025-12-31T23:50:00.000Z', facts: { geography } },
    })
  })

  const simulateAs = async (role: OrganizationRole, source: string, facts?: object) => {
    harness.collectedNeeds.length = 0
    const { cookie } = await harness.member(alpha, crypto.randomUUID(), role)
    const body = { source, request: BASE_REQUEST, ...(facts && { facts }) }
    const { body: simulated } = await harness.call<{ unasked: string[]; verdict: string | null }>(
      'POST',
      '/organizations/alpha/policies/simulate',
      { cookie, body },
    )
    const collected: string[] = harness.collectedNeeds.map(({ kind }) => kind).toSorted()
    return { unasked: simulated.unasked.toSorted(), verdict: simulated.verdict, collected }
  }

  test('does not collect the country and age of a person, which the response would show', async () => {
    const source = 'name: x\nrules:\n  - { id: adult, allow: identity.age >= 18 }\n'
    const role = 'organization-admin'
    expect(await simulateAs(role, source)).toEqual({ unasked: ['identity-details'], verdict: null, collected: [] })
    const facts = { identityDetails: { country: 'CH', age: 18 } }
    expect(await simulateAs(role, source, facts)).toMatchObject({ verdict: 'compliant' })
  })

  test.each<[OrganizationRole, string[], string[]]>([
    ['organization-admin', [], ['identity', 'read', 'screener']],
    ['reviewer', ['balance', 'paid'], ['identity']],
    ['viewer', ['balance', 'identity', 'paid'], []],
  ])('by the role %s does not collect %j', async (role, unasked, collected) => {
    const source =
      'name: x\nreads: { balance: { kind: native-balance } }\nrules:\n  - id: clean\n    deny: screener("paid").flagged\n' +
      '  - id: known\n    deny: identity.verified && reads.balance > ether(1)\n  - id: rest\n    allow: "true"\n'
    expect(await simulateAs(role, source)).toEqual({ unasked, verdict: null, collected })
    if (role === 'organization-admin') return
    const facts = {
      screeners: { paid: { flagged: false, score: 0, categories: [] } },
      identity: { verified: false, level: 0, type: '' },
    }
    const given = { unasked: ['balance'], verdict: 'compliant', collected: [] }
    expect(await simulateAs(role, source, facts)).toEqual(given)
  })

  test.each<object>([
    { source: SOURCE },
    { request: BASE_REQUEST },
    { source: SOURCE, revision_id: 'x', request: BASE_REQUEST },
    { source: SOURCE, request: { ...BASE_REQUEST, chain: 'nowhere' } },
    { source: SOURCE, request: { ...BASE_REQUEST, from: 'x' } },
    { source: SOURCE, request: { ...BASE_REQUEST, msg_value: '-1' } },
    { source: SOURCE, request: { ...BASE_REQUEST, msg_value: (2n ** 256n).toString() } },
    { source: SOURCE, request: { ...BASE_REQUEST, data: '0x1' } },
    { source: 'rules: x', request: BASE_REQUEST },
    { source: EARLIER, request: BASE_REQUEST },
  ])('of an impossible request is refused: %#', (body) => post('/simulate', body, 400))
})

describe('a revision', () => {
  interface Policy {
    readonly name: string
    readonly version: number
    readonly active_revision_id: string
  }

  test('is saved, activated if the version is current, and activated again', async () => {
    const { policy, revision } = await save(SOURCE)
    const activate = (revision_id: string, version?: number, status = 200) =>
      post<Policy>(`/${policy.id}/activate`, { revision_id, ...(version !== undefined && { version }) }, status)
    const source = SOURCE.replace('Withdrawals', 'Renamed')
    const second = await post<{ id: string; number: number }>(`/${policy.id}/revisions`, { source }, 201)
    expect(second.number).toBe(2)
    const first = await activate(revision.id, policy.version)
    expect(first.active_revision_id).toBe(revision.id)
    await activate(second.id, policy.version, 409)
    expect((await activate(second.id, first.version)).name).toBe('Renamed')
    expect((await activate(revision.id)).name).toBe('Withdrawals')
  })

  test('of an earlier version can be simulated and activated, even if it could not be saved', async () => {
    await post('', { source: EARLIER }, 400)
    const { policy } = await save(SOURCE)
    const revision_id = await saveUnchecked(policy.id, EARLIER)
    const request = { ...BASE_REQUEST, msg_value: '1' }
    expect(await post('/simulate', { revision_id, request })).toMatchObject({ verdict: 'compliant' })
    expect(await post('/test', { revision_id })).toMatchObject({ passed: 1, failed: 0 })
    const activated = { active_revision_id: revision_id }
    expect(await post(`/${policy.id}/activate`, { revision_id })).toMatchObject(activated)
  })
})

test('the results of a shadow are counted, and each different decision is found', async () => {
  const { policy, revision } = await save(SOURCE)
  const read = async <Body = object>(path: string): Promise<Body> => {
    const { status, body } = await call<Body>('GET', path)
    expect(status).toBe(200)
    return body
  }
  const [results, report] = ['results', 'report'].map((name) => `/policies/${policy.id}/shadow-${name}`)
  const none = { revision_id: null, same: 0, different: 0, failed: 0, exact: true, sessions: null }
  expect(await read(results ?? '')).toEqual(none)
  await store.policies.shadowRevision(alpha.id, policy.id, revision.id)
  const shadow = (compliant: boolean | null, rule: string | null) => ({ revision: revision.id, compliant, rule })
  const broken = { ...shadow(null, 'broken'), failure: 'late (503)' }
  const other = { ...shadow(null, 'broken'), revision: 'revision_of_old' }
  const shadows = [shadow(true, 'everyone'), shadow(true, 'another'), shadow(false, 'everyone'), broken, other]
  const decided = { organization: alpha.id }
  harness.decide(
    ...shadows.map((each, index) => decisionRecord(101 + index, { ...decided, shadow: each })),
    decisionRecord(106, decided),
  )
  const counts = { ...none, revision_id: revision.id, same: 1, different: 2, failed: 1 }
  expect(await read(results ?? '')).toEqual(counts)
  expect(await read(`${results}?since=2099-01-01`)).toMatchObject({ same: 0, different: 0, failed: 0 })
  const change = { verdict: 'compliant', rule: 'everyone', shadow_verdict: 'compliant', shadow_rule: 'another' }
  expect(await read(report ?? '')).toEqual({
    ...counts,
    other_verdict: 1,
    changes: [
      { ...change, shadow_verdict: 'denied', shadow_rule: 'everyone', count: 1, examples: [uuidOf(103)] },
      { ...change, count: 1, examples: [uuidOf(102)] },
    ],
    failures: [{ failure: 'late (503)', rule: 'broken', count: 1, examples: [uuidOf(104)] }],
  })
  expect(await read(`${report}?since=2099-01-01`)).toMatchObject({ different: 0, other_verdict: 0, changes: [] })
  const found = async (outcome: string) => {
    const path = `/decisions?shadow_revision_id=${revision.id}&shadow=${outcome}`
    return (await read<{ data: { uuid: string; shadow: object }[] }>(path)).data
  }
  expect((await found('different')).map(({ uuid }) => uuid)).toEqual([uuidOf(103), uuidOf(102)])
  expect((await found('failed')).map((decision) => decision.shadow)).toEqual([
    { revision_id: revision.id, verdict: null, rule: 'broken', failure: 'late (503)' },
  ])
  expect((await call('GET', '/decisions?shadow=same')).status).toBe(400)
})

test('a replay is a job of the organization, with a copy of the document', async () => {
  const { policy, revision } = await save(SOURCE)
  const replay = (body: object, status: number) =>
    post<{ id: string; kind: string; state: string }>(`/${policy.id}/replay`, body, status)
  const inputOf = async ({ id }: { readonly id: string }) => (await store.tasks.find(alpha.id, id))?.input
  const queued = await replay({ revision_id: revision.id, since: '2026-01-01T00:00:00Z', until: '2026-02-01' }, 202)
  expect(queued).toMatchObject({ kind: 'policy.replay', state: 'queued' })
  expect(await inputOf(queued)).toEqual({
    source: SOURCE,
    contentHash: contentHashOf(SOURCE),
    revisionId: revision.id,
    policyId: policy.id,
    sinceMs: Date.UTC(2026, 0, 1),
    untilMs: Date.UTC(2026, 1, 1),
  })
  await replay({ source: 'rules: x' }, 400)
  for (const since of ['yesterday', '2026-01-01T00:00:00']) await replay({ source: SOURCE, since }, 400)
  await replay({ revision_id: await saveUnchecked(policy.id, EARLIER) }, 202)
  // The default period includes the current second.
  const untilMs = (harness.clock.unixSeconds() + 1) * 1_000
  expect(await inputOf(await replay({ source: SOURCE }, 202))).toMatchObject({ untilMs })
  // The queue of the organization is full.
  await replay({ source: SOURCE }, 409)
})

test('every template is valid after its lists and screeners are created', async () => {
  const { body } = await harness.call<{ data: { name: string; source: string }[] }>('GET', '/policy-templates', {
    key: alpha.key,
  })
  expect(body.data.length).toBeGreaterThanOrEqual(5)
  for (const { name, source } of body.data) {
    const { issues } = await post<{ issues: { message: string }[] }>('/check', { source })
    expect([name, issues.filter(({ message }) => !/unknown (list|screener)/.test(message))]).toEqual([name, []])
  }
})

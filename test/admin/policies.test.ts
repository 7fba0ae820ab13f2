// Policies through the API: every mistake with its place, each rule's outcome on a request, and which revision decides.
import { afterAll, describe, expect, test } from 'bun:test'
import { contentHashOf } from '../../src/policy/revision.ts'
import type { ExternalFacts } from '../../src/policy/types/facts.ts'
import { allPolicies } from '../support/all-rows.ts'
import { decisionRecord, uuidOf } from './support/decisions.ts'
import { startHarness } from './support/harness.ts'

const harness = await startHarness()
afterAll(() => harness.close())
const alpha = await harness.organization('alpha')

const call = <Body = Record<string, unknown>>(method: string, path: string, body?: object) =>
  harness.call<Body>(method, `/organizations/alpha${path}`, { key: alpha.key, ...(body && { body }) })
const post = async <Body>(path: string, body: object, status = 200): Promise<Body> => {
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

interface Simulation {
  readonly verdict: string | null
  readonly rule: string | null
  readonly code: string | null
  readonly failure: string | null
  readonly missing: readonly string[]
  readonly rules: readonly {
    id: string
    value: boolean | null
    decisive: boolean
    reached: boolean
    failure: string | null
  }[]
  readonly facts: ExternalFacts
}

const WALLET = '0x1111111111111111111111111111111111111111'
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

const OF_OLDER_VERSION = `${SOURCE}tests: [{ request: { from: "${WALLET}", chain: mine, chain_id: 9007199254740993 }, verdict: deny }]
`

describe('checking', () => {
  test('names every mistake with its place', async () => {
    const { valid, issues } = await post<{ valid: boolean; issues: { line: number; message: string }[] }>('/check', {
      source: 'name: x\nrules:\n  - id: a\n    alow: "true"\n  - id: b\n    deny: wallet.adress == 1\n',
    })
    expect(valid).toBe(false)
    expect(issues.map(({ line }) => line)).toEqual(expect.arrayContaining([3, 6]))
  })

  test('knows the organization’s lists and the shared ones, and refuses a name that is neither', async () => {
    const { store } = harness
    await store.lists.create({ owner: alpha.id, name: 'friends' })
    await store.lists.create({ owner: null, name: 'sanctions' })
    const beta = await store.organizations.create({ slug: 'beta', name: 'beta' })
    await store.lists.create({ owner: beta.id, name: 'theirs' })
    const sourceWith = (list: string) => `name: x\nrules:\n  - id: a\n    allow: in_list(wallet.address, "${list}")\n`
    for (const [list, valid] of Object.entries({ friends: true, sanctions: true, theirs: false, deny: false })) {
      expect([list, await post<object>('/check', { source: sourceWith(list) })]).toMatchObject([list, { valid }])
    }
    const remedy = expect.stringContaining('To create it, run countersign list create deny')
    expect(await post<object>('', { source: sourceWith('deny') }, 400)).toMatchObject({ issues: [{ message: remedy }] })
    await call('POST', '/lists', { name: 'deny' })
    expect(await post<object>('/check', { source: sourceWith('deny') })).toMatchObject({ valid: true })
  })

  test('what can’t be saved is refused with how many mistakes, and nothing is saved', async () => {
    const detail = expect.stringMatching(/^the policy has \d+ mistakes?$/)
    expect(await post<object>('', { source: 'rules: x' }, 400)).toMatchObject({ detail })
    expect(await allPolicies(harness.store, alpha.id)).toEqual([])
  })
})

describe('saving', () => {
  test('a project says that its policy decides nothing until a revision is activated', async () => {
    const { policy, revision } = await save('name: Q\nrules: []\n')
    const { body: made } = await call('POST', '/projects', { name: 'Waiting', policy_id: policy.id })
    expect(made['policy_active']).toBe(false)
    await post(`/${policy.id}/activate`, { revision_id: revision.id })
    expect((await call('GET', `/projects/${made['id']}`)).body).toEqual({ ...made, policy_active: true })
  })

  test('says what is likely not meant, also in the answer of a save', async () => {
    const source = 'name: x\nrules:\n  - id: a\n    allow: chain.name == "bas"\n'
    const warnings = [
      { line: 4, column: 26, pointer: '/rules/0/allow', message: 'unknown chain "bas": did you mean "base"?' },
    ]
    expect(await post<object>('/check', { source })).toMatchObject({ valid: true, issues: [], warnings })
    const made = await save(source)
    expect(made.warnings).toEqual(warnings)
    expect(await post<object>(`/${made.policy.id}/revisions`, { source }, 201)).toMatchObject({ warnings })
  })

  test('a document with mistakes is refused with the list that a check gives', async () => {
    const source = 'name: Two mistakes\nrules:\n  - { id: a, deny: tx.valu > 1 }\n  - { id: b, allow: nonsense }\n'
    const { issues } = await post<{ issues: object[] }>('/check', { source })
    expect(issues).toHaveLength(2)
    const detail = 'the policy has 2 mistakes'
    expect(await post<object>('', { source }, 400)).toMatchObject({
      code: 'INVALID_REQUEST',
      field: 'source',
      issues,
      detail,
    })
    const { policy } = await save('name: Good\nrules: []\n')
    expect(await post<object>(`/${policy.id}/revisions`, { source }, 400)).toMatchObject({ issues })
  })
})

describe('simulating', () => {
  const simulate = (body: object) => post<Simulation>('/simulate', body)

  test('shows each rule’s outcome, which one decided, and which were not reached', async () => {
    const request = { chain: 'base', from: WALLET, msg_value: '5' }
    const { verdict, rule, rules } = await simulate({ source: SOURCE, request })
    expect([verdict, rule]).toEqual(['compliant', 'chains'])
    expect(rules.map(({ id, value, decisive, reached }) => [id, value, decisive, reached])).toEqual([
      ['blocked', false, false, true],
      ['small', true, false, true],
      ['chains', true, true, true],
      ['never', false, false, false],
    ])
  })

  test('a denial has the rule’s own words', async () => {
    const request = { chain: 'ethereum', from: WALLET, msg_value: '20000000000000000000' }
    expect(await simulate({ source: SOURCE, request })).toMatchObject({
      verdict: 'denied',
      rule: 'small',
      code: 'TOO_MUCH',
      message: 'At most ten.',
    })
  })

  test('a request that lacks a field has no verdict', async () => {
    const { rules, ...result } = await simulate({ source: SOURCE, request: { chain: 'base', from: WALLET } })
    const failure = 'missing from the request (400): msg_value'
    expect(result).toMatchObject({ verdict: null, rule: null, failure, missing: ['msg_value'] })
    expect(rules.some(({ reached, decisive }) => reached || decisive)).toBe(false)
  })

  test('a rule that fails gives no verdict, and is named', async () => {
    const source = 'name: x\nrules:\n  - id: country\n    allow: client.country == "CH"\n'
    const request = { chain: 'base', from: WALLET, user_ip: '1.1.1.1' }
    const failed = await simulate({ source, request })
    expect([failed.verdict, failed.rules[0]?.value]).toEqual([null, null])
    expect(failed.failure).toContain('client.country')
    const geography = { country: 'CH', region: null, anonymous: null, vpn: null, proxy: null, tor: null, hosting: null }
    expect(await simulate({ source, request, facts: { geography } })).toMatchObject({
      verdict: 'compliant',
      facts: { geography },
    })
  })

  test.each([
    [{ velocity: { '1h': { count: 1, value: '5' } } }, 'velocity.1h; the policy reads velocity.3600'],
    [{ velocity: { 3600: { count: 1, valu: '5' } } }, 'velocity.3600.valu: did you mean velocity.3600.value?'],
    [{ geografy: {} }, 'geografy: did you mean geography?'],
    [{ identity: null }, 'identity; the policy reads geography, screeners, velocity'],
    [{ screeners: { chane: null } }, 'screeners.chane: did you mean screeners.chain?'],
    [{ lists: {} }, 'lists: provide lists in the “lists” field'],
  ])('refuses facts that the policy does not read: %j', async (facts, message) => {
    const source =
      'name: x\nrules:\n  - id: a\n    deny: client.tor || velocity.count(hours(1)) > 3 || screener("chain").flagged || in_list(wallet.address, "friends")\n'
    const refused = await post<object>('/simulate', { source, request: { chain: 'base', from: WALLET }, facts }, 400)
    expect(refused).toMatchObject({ field: 'facts', rule: `must not contain ${message}` })
  })

  test('a list in another form is refused with an example', async () => {
    const body = { source: SOURCE, request: { chain: 'base', from: WALLET }, lists: { partners: [WALLET] } }
    expect(await post<object>('/simulate', body, 400)).toMatchObject({
      field: 'lists.partners',
      rule: 'must be {"addresses": ["0x1111111111111111111111111111111111111111"], "age_seconds": 0}',
    })
  })

  test('reads lists as they are, or as they are given; the organization’s own two come first', async () => {
    const source = 'name: x\nrules:\n  - id: friend\n    allow: in_list(wallet.address, "friends")\n'
    const request = { chain: 'base', from: WALLET }
    expect((await simulate({ source, request })).verdict).toBe('denied')
    expect(
      await simulate({ source, request, lists: { friends: { addresses: [WALLET], age_seconds: 0 } } }),
    ).toMatchObject({ verdict: 'compliant', rule: 'friend' })
    const edit = (list: string, add: object[], remove: string[] = []) =>
      call('POST', `/lists/${list}/entries`, { add, remove })
    expect((await edit('friends', [{ address: WALLET }])).status).toBe(200)
    expect((await simulate({ source, request })).verdict).toBe('compliant')
    expect((await edit('deny', [{ address: WALLET }])).status).toBe(200)
    expect(await simulate({ source, request })).toMatchObject({ verdict: 'denied', rule: 'list:deny' })
    await edit('deny', [], [WALLET])
  })

  test('takes a recorded decision’s request, with what is given in its place', async () => {
    const record = decisionRecord(7, { organization: alpha.id, value: '11000000000000000000' })
    harness.decide(record)
    expect(await simulate({ source: SOURCE, decision: record.uuid })).toMatchObject({
      verdict: 'denied',
      rule: 'small',
    })
    expect(await simulate({ source: SOURCE, decision: record.uuid, request: { msg_value: '1' } })).toMatchObject({
      verdict: 'compliant',
    })
    // The log does not tell an omitted field from an empty one, except for tasks.
    const empty = decisionRecord(9, { organization: alpha.id, value: '0' })
    const task = decisionRecord(10, { organization: alpha.id, value: '0', kind: 'task' })
    harness.decide(empty, task)
    expect(await simulate({ source: SOURCE, decision: empty.uuid })).toMatchObject({
      verdict: null,
      failure: 'the log does not show msg_value: pass it in the request',
    })
    expect(await simulate({ source: SOURCE, decision: task.uuid })).toMatchObject({ verdict: 'compliant' })
  })

  test('knows of a recorded decision what was known then, and asks for the rest only', async () => {
    const geography = { country: 'CH', region: null, anonymous: null, vpn: null, proxy: null, tor: null, hosting: null }
    const source =
      'name: x\nrules:\n  - id: there\n    require: client.country == "CH"\n  - id: then\n    allow: in_list(wallet.address, "known")\n'
    const record = decisionRecord(8, {
      organization: alpha.id,
      requested: 1_767_225_000,
      facts: { geography, lists: { known: { age: 0, in: [decisionRecord(8).from], out: [] } } },
    })
    harness.decide(record)
    expect(await simulate({ source, decision: record.uuid })).toMatchObject({
      verdict: 'compliant',
      rule: 'then',
      facts: { geography },
    })
    const elsewhere = { geography: { ...geography, country: 'FR' } }
    expect(await simulate({ source, decision: record.uuid, facts: elsewhere })).toMatchObject({
      verdict: 'denied',
      rule: 'there',
    })
    // Another wallet was not looked up then: the list is what it is now, and there is none.
    const other = await simulate({ source, decision: record.uuid, request: { from: WALLET } })
    expect(other.verdict).toBe('denied')
    expect((await call('GET', `/decisions/${record.uuid}`)).body).toMatchObject({
      basis: { data: '0x', requested_at: '2025-12-31T23:50:00.000Z', facts: { geography } },
    })
  })

  test('asks nobody’s country and age, which the answer would show', async () => {
    harness.askedNeeds.length = 0
    const source = 'name: x\nrules:\n  - { id: adult, allow: identity.age >= 18 }\n'
    const body = { source, request: { chain: 'base', from: WALLET } }
    const { cookie } = await harness.person({
      email: 'owner@alpha.example',
      roles: { [alpha.id]: 'organization-admin' },
    })
    const ask = async (more: object) =>
      (await harness.call('POST', '/organizations/alpha/policies/simulate', { cookie, body: { ...body, ...more } }))
        .body
    expect(await ask({})).toMatchObject({ unasked: ['identity-details'], verdict: null })
    expect(harness.askedNeeds).toEqual([])
    expect(await ask({ facts: { identityDetails: { country: 'CH', age: 18 } } })).toMatchObject({
      verdict: 'compliant',
    })
  })

  test('asks screeners and chains for an organization admin alone, and identities not for a viewer; others give the answers themselves', async () => {
    const source =
      'name: x\nreads: { balance: { kind: native-balance } }\nrules:\n  - id: clean\n    deny: screener("paid").flagged\n' +
      '  - id: known\n    deny: identity.verified && reads.balance > ether(1)\n  - id: rest\n    allow: "true"\n'
    const path = '/organizations/alpha/policies/simulate'
    const simulateAs = async (role: 'organization-admin' | 'reviewer' | 'viewer', facts?: object) => {
      harness.askedNeeds.length = 0
      const { cookie } = await harness.person({
        email: `${crypto.randomUUID()}@alpha.example`,
        roles: { [alpha.id]: role },
      })
      const body = { source, request: { chain: 'base', from: WALLET }, ...(facts && { facts }) }
      const { unasked, verdict } = (await harness.call('POST', path, { cookie, body })).body
      return { unasked, verdict, asked: harness.askedNeeds.map(({ kind }) => kind).toSorted() }
    }
    const all = { unasked: [], verdict: null, asked: ['identity', 'read', 'screener'] }
    expect<unknown>(await simulateAs('organization-admin')).toEqual(all)
    for (const role of ['reviewer', 'viewer'] as const) {
      const [unasked, asked] =
        role === 'viewer' ? [['identity', 'paid', 'balance'], []] : [['paid', 'balance'], ['identity']]
      const answer = await simulateAs(role)
      expect<unknown>({ ...answer, unasked: (answer.unasked as string[]).toSorted() }).toEqual({
        unasked: unasked.toSorted(),
        verdict: null,
        asked,
      })
      const facts = {
        screeners: { paid: { flagged: false, score: 0, categories: [] } },
        identity: { verified: false, level: 0, type: '' },
      }
      expect(await simulateAs(role, facts)).toEqual({ unasked: ['balance'], verdict: 'compliant', asked: [] })
    }
  })

  test('refuses what no request could be', async () => {
    const request = { chain: 'base', from: WALLET }
    const refused: readonly object[] = [
      { source: SOURCE },
      { request },
      { source: SOURCE, revision_id: 'x', request },
      { source: SOURCE, request: { ...request, chain: 'nowhere' } },
      { source: SOURCE, request: { ...request, from: 'x' } },
      { source: SOURCE, request: { ...request, msg_value: '-1' } },
      { source: SOURCE, request: { ...request, msg_value: (2n ** 256n).toString() } },
      { source: SOURCE, request: { ...request, data: '0x1' } },
      { source: 'rules: x', request },
    ]
    for (const body of refused) await post('/simulate', body, 400)
  })
})

describe('revisions', () => {
  test('are saved, compared, activated by whoever saw the newest state, and rolled back', async () => {
    const { policy, revision } = await save(SOURCE)
    const one = `/${policy.id}`
    const second = await post<{ id: string; number: number }>(
      `${one}/revisions`,
      { source: SOURCE.replace('Withdrawals', 'Renamed') },
      201,
    )
    expect(second.number).toBe(2)
    const first = await post<{ version: number; active_revision_id: string }>(`${one}/activate`, {
      revision_id: revision.id,
      version: policy.version,
    })
    expect(first.active_revision_id).toBe(revision.id)
    await post(`${one}/activate`, { revision_id: second.id, version: policy.version }, 409)
    const renamed = await post<{ name: string; version: number }>(`${one}/activate`, {
      revision_id: second.id,
      version: first.version,
    })
    expect(renamed.name).toBe('Renamed')
    expect((await post<{ name: string }>(`${one}/activate`, { revision_id: revision.id })).name).toBe('Withdrawals')
  })
})

test('what an older version saved is tried and activated, though a test of it can’t be saved any more', async () => {
  const source = OF_OLDER_VERSION
  await post('', { source }, 400)
  const { policy } = await save(SOURCE)
  const input = { organizationId: alpha.id, policyId: policy.id, source, quorum: 1 }
  const saved = await harness.store.policies.saveRevision(input)
  const revision = { revision_id: saved?.id }
  const request = { chain: 'base', from: WALLET, msg_value: '1' }
  expect(await post<object>('/simulate', { ...revision, request })).toMatchObject({ verdict: 'compliant' })
  await post('/simulate', { source, request }, 400)
  expect(await post<object>('/test', revision)).toMatchObject({ passed: 1, failed: 0 })
  expect(await post<object>(`/${policy.id}/activate`, revision)).toMatchObject({ active_revision_id: saved?.id })
})

describe('a shadow revision', () => {
  test('is seen in numbers, and each decision on which it differs is found', async () => {
    const { policy, revision } = await save(SOURCE)
    const read = async <Body>(path: string): Promise<Body> => {
      const { status, body } = await call<Body>('GET', path)
      expect(status).toBe(200)
      return body
    }
    const results = `/policies/${policy.id}/shadow-results`
    const none = { revision_id: null, same: 0, different: 0, failed: 0, exact: true, sessions: null }
    expect(await read(results)).toEqual(none)
    await harness.store.policies.shadowRevision(alpha.id, policy.id, revision.id)
    const shadow = (compliant: boolean | null, rule: string | null) => ({ revision: revision.id, compliant, rule })
    harness.decide(
      decisionRecord(101, { organization: alpha.id, shadow: shadow(true, 'everyone') }),
      decisionRecord(102, { organization: alpha.id, shadow: shadow(true, 'another') }),
      decisionRecord(103, { organization: alpha.id, shadow: shadow(false, 'everyone') }),
      decisionRecord(104, { organization: alpha.id, shadow: { ...shadow(null, 'broken'), failure: 'late (503)' } }),
      decisionRecord(105, {
        organization: alpha.id,
        shadow: { ...shadow(null, 'broken'), revision: 'revision_of_old' },
      }),
      decisionRecord(106, { organization: alpha.id }),
    )
    expect(await read(results)).toEqual({ ...none, revision_id: revision.id, same: 1, different: 2, failed: 1 })
    expect(await read(`${results}?since=2099-01-01`)).toMatchObject({ same: 0, different: 0, failed: 0 })
    const report = `/policies/${policy.id}/shadow-report`
    const change = { verdict: 'compliant', rule: 'everyone', shadow_verdict: 'compliant', shadow_rule: 'another' }
    expect(await read(report)).toEqual({
      ...none,
      revision_id: revision.id,
      same: 1,
      different: 2,
      failed: 1,
      other_verdict: 1,
      changes: [
        { ...change, shadow_verdict: 'denied', shadow_rule: 'everyone', count: 1, examples: [uuidOf(103)] },
        { ...change, count: 1, examples: [uuidOf(102)] },
      ],
      failures: [{ failure: 'late (503)', rule: 'broken', count: 1, examples: [uuidOf(104)] }],
    })
    expect(await read(`${report}?since=2099-01-01`)).toMatchObject({ different: 0, other_verdict: 0, changes: [] })
    const found = (outcome: string) =>
      read<{ data: { uuid: string; shadow: object }[] }>(
        `/decisions?shadow_revision_id=${revision.id}&shadow=${outcome}`,
      )
    expect((await found('different')).data.map(({ uuid }) => uuid)).toEqual([uuidOf(103), uuidOf(102)])
    expect((await found('failed')).data.map((decision) => decision.shadow)).toEqual([
      { revision_id: revision.id, verdict: null, rule: 'broken', failure: 'late (503)' },
    ])
    expect((await call('GET', '/decisions?shadow=same')).status).toBe(400)
  })
})

describe('a replay', () => {
  test('is a job of the organization, with the document as it was when it was asked for', async () => {
    const { policy, revision } = await save(SOURCE)
    const ask = (body: object, status: number) =>
      post<{ id: string; kind: string; state: string }>(`/${policy.id}/replay`, body, status)
    const queued = await ask({ revision_id: revision.id, since: '2026-01-01T00:00:00Z', until: '2026-02-01' }, 202)
    expect([queued.kind, queued.state]).toEqual(['policy.replay', 'queued'])
    expect((await harness.store.tasks.find(alpha.id, queued.id))?.input).toEqual({
      source: SOURCE,
      contentHash: contentHashOf(SOURCE),
      revisionId: revision.id,
      policyId: policy.id,
      sinceMs: Date.UTC(2026, 0, 1),
      untilMs: Date.UTC(2026, 1, 1),
    })
    await ask({ source: 'rules: x' }, 400)
    await ask({ source: SOURCE, since: 'yesterday' }, 400)
    await ask({ source: SOURCE, since: '2026-01-01T00:00:00' }, 400)
    const input = { organizationId: alpha.id, policyId: policy.id, source: OF_OLDER_VERSION, quorum: 1 }
    await ask({ revision_id: (await harness.store.policies.saveRevision(input))?.id }, 202)
    const toNow = await ask({ source: SOURCE }, 202)
    // Covers the current second.
    const untilMs = (harness.clock.unixSeconds() + 1) * 1_000
    expect((await harness.store.tasks.find(alpha.id, toNow.id))?.input).toMatchObject({ untilMs })
    await ask({ source: SOURCE }, 409)
  })
})

test('every template can be saved as it is, once the lists that it names are there', async () => {
  const { body } = await harness.call<{ data: { name: string; source: string }[] }>('GET', '/policy-templates', {
    key: alpha.key,
  })
  const { data } = body
  expect(data.length).toBeGreaterThanOrEqual(5)
  for (const { name, source } of data) {
    const { issues } = await post<{ issues: { message: string }[] }>('/check', { source })
    expect([name, issues.filter(({ message }) => !/unknown (list|screener)/.test(message))]).toEqual([name, []])
  }
})

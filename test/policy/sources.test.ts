// Facts from beyond the request: lists, geography, identity, screeners, reads, velocity, and the time. What can't be had
// fails the rule, for unknown is never "no".
import { describe, expect, test } from 'bun:test'
import { LIST_NAME_RULE } from '../../src/domain/list.ts'
import { compilePolicy } from '../../src/policy/cel/compile.ts'
import { PolicyEvaluationError } from '../../src/policy/evaluation-errors.ts'
import { FactUnavailableError } from '../../src/policy/fact-unavailable.ts'
import type { GeographyFacts } from '../../src/policy/sources/geography.ts'
import { readerOfLists } from '../../src/policy/tools/policy-tests.ts'
import type { ExternalFacts } from '../../src/policy/types/facts.ts'
import { EVM_WALLET, type FactChanges, facts, issuesOf, thrownBy } from './support.ts'

const CONTRACT = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
const HEAD = `name: P
constants:
  limit: { type: ether, value: 2 }
  countries: { type: string, value: [CU, IR] }
  age: { type: duration, value: 2h }
  list: { type: string, value: sanctions }
  whale: { type: address, value: "0x00000000000000000000000000000000000000a1" }
reads:
  balance: { kind: token-balance, contract: "${CONTRACT}" }
  owner: { kind: erc721-owner, contract: "${CONTRACT}", token_id: 7 }
  paused:
    { kind: view, contract: "${CONTRACT}", function: "function paused() view returns (bool)" }
  tick:
    { kind: view, contract: "${CONTRACT}", function: "function tick() view returns (int24)" }
  label:
    { kind: view, contract: "${CONTRACT}", function: "function label() view returns (string)" }
`
const policyOf = (expression: string) =>
  compilePolicy(`${HEAD}rules: ${JSON.stringify([{ id: 'only', allow: expression }])}`)
const holds = (expression: string, changes: FactChanges = {}): boolean =>
  policyOf(expression).evaluate(facts(changes)).compliant
const refusal = (expression: string): string => issuesOf(() => policyOf(expression))[0]?.message ?? ''

/** The fact that a rule could not have. */
const missing = (expression: string, changes: FactChanges = {}): string => {
  const error = thrownBy(() => holds(expression, changes))
  if (!(error instanceof PolicyEvaluationError) || !(error.cause instanceof FactUnavailableError)) throw error
  expect(error.ruleId).toBe('only')
  return error.cause.fact
}

const NOWHERE: GeographyFacts = {
  country: null,
  region: null,
  anonymous: null,
  vpn: null,
  proxy: null,
  tor: null,
  hosting: null,
}
const at = (changes: Partial<GeographyFacts>): FactChanges => ({
  external: { geography: { ...NOWHERE, ...changes } },
})
const told = (external: ExternalFacts): FactChanges => ({ external })

describe('lists', () => {
  const lists = readerOfLists({
    sanctions: { addresses: [EVM_WALLET], ageSeconds: 7_200 },
    empty: { addresses: [], ageSeconds: 0 },
  })

  test.each([
    ['in_list(wallet.address, "sanctions")', true],
    ['in_list(wallet.address, constants.list)', true],
    ['in_list(target.address, "sanctions")', false],
    ['in_list(wallet.address, "empty")', false],
    ['!in_list(constants.whale, "sanctions")', true],
    ['in_list(wallet.address, "sanctions", hours(2))', true],
    ['in_list(wallet.address, "sanctions", constants.age)', true],
    ['[target.address, wallet.address].exists(a, in_list(a, "sanctions"))', true],
  ] as const)('%s', (expression, expected) => {
    expect(holds(expression, { lists })).toBe(expected)
  })

  test('that are missing or too old fail the rule', () => {
    expect(missing('in_list(wallet.address, "nobodys")', { lists })).toBe('list nobodys')
    expect(missing('in_list(wallet.address, "sanctions")')).toBe('list sanctions')
    expect(missing('in_list(wallet.address, "sanctions", minutes(119))', { lists })).toContain('list sanctions')
    // Unless the rest outweighs it, as CEL has it.
    expect(holds('in_list(wallet.address, "nobodys") || true', { lists })).toBe(true)
  })

  test('are needs, once each, with the least age', () => {
    const { needs } = policyOf(
      'in_list(wallet.address, "b") || in_list(wallet.address, "a", days(2)) || in_list(target.address, "a", hours(1)) || in_list(wallet.address, "a")',
    )
    expect(needs).toEqual([
      { kind: 'list', list: 'a', maxAgeSeconds: 3_600 },
      { kind: 'list', list: 'b', maxAgeSeconds: null },
    ])
  })

  test.each([
    ['in_list(wallet.address)', 'in_list() takes an address, a list name and, optionally, a maximum age'],
    ['in_list(chain.name, "a")', 'this must be of type address, not string'],
    ['in_list("0x00", "a")', 'this must be of type address, not string'],
    ['in_list(wallet.address, chain.name)', 'the name of a list must be a string literal'],
    ['in_list(wallet.address, "A B")', `the name of a list must be ${LIST_NAME_RULE}`],
    ['in_list(wallet.address, "a", 5)', 'the maximum age must be a literal duration, for example days(2)'],
    [
      'in_list(wallet.address, "a", request.time_of_day)',
      'the maximum age must be a literal duration, for example days(2)',
    ],
  ])('%s is refused', (expression, message) => {
    expect(refusal(expression)).toBe(message)
  })

  test('that are not known where they are known are refused', () => {
    const many = Array.from({ length: 17 }, (_, i) => `in_list(wallet.address, "l${i}")`).join(' || ')
    expect(refusal(many)).toBe('a policy can use at most 16 different lists')
  })
})

describe('geography', () => {
  test.each([
    ['client.located && client.country == "CH"', { country: 'CH' }, true],
    ['client.country in constants.countries', { country: 'IR' }, true],
    ['client.country in ["CU", "IR"]', { country: 'CH' }, false],
    ['client.located', {}, false],
    ['client.region_known', {}, false],
    ['client.region_known && client.region == "CH-ZH"', { country: 'CH', region: 'CH-ZH' }, true],
    ['client.anonymity_known', {}, false],
    ['client.anonymous && client.vpn && !client.tor', { anonymous: true, vpn: true, tor: false }, true],
    ['!client.proxy && client.hosting', { proxy: false, hosting: true }, true],
  ] as const)('%s with %p', (expression, place, expected) => {
    expect(holds(expression, at(place))).toBe(expected)
  })

  test('that is unknown fails the rule that reads it', () => {
    expect(missing('client.country == "CH"', at({}))).toBe('client.country')
    expect(missing('client.country != "CH"', at({}))).toBe('client.country')
    expect(missing('client.region == "CH-ZH"', at({ country: 'CH' }))).toBe('client.region')
    expect(missing('client.vpn', at({ anonymous: false }))).toBe('client.vpn')
    // Without any data not even "not located" is known.
    expect(missing('client.located', told({ geography: null }))).toBe('client.located')
    expect(missing('client.located')).toBe('client.located')
  })

  test('needs the IP address', () => {
    const { needs, requires } = policyOf('client.located && client.country == "CH"')
    expect({ needs, requires }).toEqual({ needs: [{ kind: 'geography' }], requires: ['user_ip'] })
  })

  test.each([
    ['client.country == "Switzerland"', 'client.country must be two capital letters (ISO 3166-1), for example "US"'],
    ['client.country in ["CH", "ch"]', 'client.country must be two capital letters (ISO 3166-1), for example "US"'],
    ['client.country == constants.list', 'client.country must be two capital letters (ISO 3166-1), for example "US"'],
    ['client.region == "ZH"', 'client.region must be a country and a region (ISO 3166-2), for example "US-NY"'],
    [
      'client.city == "Bern"',
      'client has no field "city"; valid fields: ip, located, country, region_known, region, anonymity_known, anonymous, vpn, proxy, tor, hosting',
    ],
  ])('%s is refused', (expression, message) => {
    expect(refusal(expression)).toBe(message)
  })
})

describe('identity', () => {
  const person = told({
    identity: { verified: true, type: 'individual', level: 2, verifiedAtSeconds: 1_767_225_600 - 86_400 },
  })
  const nobody = told({ identity: { verified: false, type: null, level: 0, verifiedAtSeconds: null } })

  test.each([
    ['identity.verified && identity.type == "individual" && identity.level == 2', person, true],
    ['request.time - identity.verified_at == days(1)', person, true],
    ['identity.verified', nobody, false],
    ['identity.type == "" && identity.level == 0', nobody, true],
  ] as const)('%s', (expression, changes, expected) => {
    expect(holds(expression, changes)).toBe(expected)
  })

  test('that is not known fails the rule', () => {
    expect(missing('identity.verified_at < request.time', nobody)).toBe('identity.verified_at')
    expect(missing('identity.verified', told({ identity: null }))).toBe('identity.verified')
    expect(missing('!identity.verified')).toBe('identity.verified')
    expect(policyOf('identity.verified').needs).toEqual([{ kind: 'identity' }])
  })

  describe('details', () => {
    const details = (country: string | null, age: number | null) => told({ identityDetails: { country, age } })

    test.each([
      ['identity.details_known && identity.country == "CH" && identity.age >= 18', details('CH', 18), true],
      ['identity.details_known && identity.age >= 18', details('CH', 17), false],
      ['identity.details_known', details(null, null), false],
      ['identity.details_known && identity.country == "CH"', details(null, null), false],
    ] as const)('%s', (expression, changes, expected) => {
      expect(holds(expression, changes)).toBe(expected)
    })

    test('that are unknown fail the rule, also a denial; and only their own query gives them', () => {
      for (const expression of [
        'identity.country == "CH"',
        'identity.country != "CH"',
        '!(identity.country in ["CH"])',
      ]) {
        expect(missing(expression, details(null, null))).toBe('identity.country')
      }
      expect(missing('identity.age < 18', details(null, null))).toBe('identity.age')
      expect(missing('!(identity.age < 18)', details(null, null))).toBe('identity.age')
      // Without an answer, even the agreement is unknown.
      expect(missing('identity.details_known', { external: { ...person.external, identityDetails: null } })).toBe(
        'identity.details_known',
      )
      expect(policyOf('identity.age > 17').needs).toEqual([{ kind: 'identity-details' }])
    })

    test('have a country of two letters', () => {
      expect(refusal('identity.country == "Cuba"')).toBe(
        'identity.country must be two capital letters (ISO 3166-1), for example "CH"',
      )
    })
  })

  test('has two types', () => {
    expect(refusal('identity.type == "person"')).toBe('identity.type must be "individual", "business" or empty')
  })
})

describe('screeners', () => {
  const answer = told({ screeners: { stub: { flagged: true, score: -5, categories: ['mixer'] }, mute: null } })

  test('say what they say', () => {
    expect(holds('screener("stub").flagged && screener("stub").score < 0', answer)).toBe(true)
    expect(holds('"mixer" in screener("stub").categories && screener("stub").categories.size() == 1', answer)).toBe(
      true,
    )
    expect(policyOf('screener("b").flagged || screener("a").flagged || screener("b").score > 1').needs).toEqual([
      { kind: 'screener', screener: 'a' },
      { kind: 'screener', screener: 'b' },
    ])
  })

  test('that do not answer, or not this, fail the rule', () => {
    expect(missing('screener("mute").flagged', answer)).toBe('screener mute flagged')
    expect(missing('screener("other").flagged', answer)).toBe('screener other flagged')
    const half = told({ screeners: { stub: { flagged: null, score: null, categories: null } } })
    expect(missing('screener("stub").flagged', half)).toBe('screener stub flagged')
    expect(missing('screener("stub").categories.size() == 0', half)).toBe('screener stub categories')
  })

  test.each([
    ['screener("stub")', 'add a field of the result, for example screener("name").flagged'],
    ['screener("stub").risk > 1', 'a screener has no field "risk"; valid fields: flagged, score, categories'],
    ['screener(chain.name).flagged', 'the name of a screener must be a string literal'],
    ['screener("a", "b").flagged', 'screener() takes the name of a screener and, optionally, onBehalf.address'],
    [
      'screener("Stub").flagged',
      'the name of a screener must consist of a-z, 0-9 and "_", begin with a letter and have at most 64 characters',
    ],
    [
      Array.from({ length: 5 }, (_, i) => `screener("s${i}").flagged`).join(' || '),
      'a policy can use at most 4 different screeners',
    ],
  ])('%s is refused', (expression, message) => {
    expect(refusal(expression)).toBe(message)
  })
})

describe('reads', () => {
  const values = told({
    reads: { balance: '2000000000000000000', owner: EVM_WALLET, paused: false, tick: '-7', label: 'gold' },
  })

  test('have the type of what is read', () => {
    expect(holds('reads.balance >= constants.limit && reads.owner == wallet.address', values)).toBe(true)
    expect(holds('!reads.paused && reads.tick == -7 && reads.label == "gold"', values)).toBe(true)
    const { needs } = policyOf('reads.owner == wallet.address')
    expect(needs).toEqual([
      {
        kind: 'read',
        read: 'owner',
        definition: { kind: 'erc721-owner', chain: null, contract: CONTRACT.toLowerCase(), tokenId: '7' },
      },
    ])
  })

  test.each([
    ['balance', null],
    ['balance', true],
    ['balance', '-1'],
    ['balance', '01'],
    ['balance', '1e3'],
    ['balance', '9'.repeat(79)],
    ['owner', '0x00'],
    ['paused', 'false'],
    ['tick', '9223372036854775808'],
    ['label', 'x'.repeat(1025)],
  ] as const)('%s of %p is not available', (name, value) => {
    const expressions = {
      balance: 'reads.balance > 0',
      owner: 'reads.owner == wallet.address',
      paused: 'reads.paused',
      tick: 'reads.tick > 0',
      label: 'reads.label == ""',
    }
    expect(() => holds(expressions[name], told({ reads: { [name]: value } }))).toThrow(PolicyEvaluationError)
  })

  test('have names', () => {
    expect(refusal('reads.total > 0')).toBe('unknown read "total"; defined reads: balance, owner, paused, tick, label')
    expect(refusal('reads.balance == "1"')).toContain('no such overload: uint256 == string')
  })
})

describe('velocity', () => {
  const counted = told({
    velocity: { '3600': { count: 4, value: '7' }, '86400': { count: 9, value: '1500000000000000000' } },
  })

  test('counts and adds up', () => {
    expect(holds('velocity.count(hours(1)) == 4 && velocity.count(days(1)) == 9', counted)).toBe(true)
    expect(
      holds('velocity.value(hours(24)) + tx.value <= constants.limit', { ...counted, value: '500000000000000000' }),
    ).toBe(true)
    expect(
      holds('velocity.value(duration("24h")) + tx.value <= constants.limit', {
        ...counted,
        value: '500000000000000001',
      }),
    ).toBe(false)
    expect(policyOf('velocity.count(days(1)) + velocity.count(minutes(1)) > 1').needs).toEqual([
      { kind: 'velocity', windowSeconds: 60 },
      { kind: 'velocity', windowSeconds: 86_400 },
    ])
  })

  test('that is not counted fails the rule', () => {
    expect(missing('velocity.count(hours(2)) == 0', counted)).toBe('velocity over 2 h')
    expect(missing('velocity.count(hours(1)) == 0', told({ velocity: null }))).toBe('velocity over 1 h')
  })

  test.each([
    ['velocity.count(5) == 0', 'velocity.count() takes a literal duration, for example velocity.count(hours(24))'],
    [
      'velocity.count(request.time_of_day) == 0',
      'velocity.count() takes a literal duration, for example velocity.count(hours(24))',
    ],
    ['velocity.count() == 0', 'velocity.count() takes a literal duration, for example velocity.count(hours(24))'],
    ['velocity.count(minutes(0)) == 0', 'a window must be from one minute to 31 days long'],
    ['velocity.count(days(32)) == 0', 'a window must be from one minute to 31 days long'],
    ['velocity.mean(days(1)) == 0', 'velocity has no method "mean"; valid methods: count, value'],
    ['velocity.count == 0', 'velocity has no field "count"; valid fields: count(), value()'],
    ['velocity == 0', 'add a field of velocity: count(), value()'],
    [
      Array.from({ length: 9 }, (_, i) => `velocity.count(hours(${i + 1})) > 0`).join(' || '),
      'a policy can use at most 8 different velocity windows',
    ],
  ])('%s is refused', (expression, message) => {
    expect(refusal(expression)).toBe(message)
  })
})

describe('the time', () => {
  // 2026-01-01T00:00:00Z, a Thursday.
  const midnight = 1_767_225_600
  test.each([
    ['request.hour == 0 && request.weekday == "thursday" && request.time_of_day == duration("0s")', midnight],
    ['request.hour == 23 && request.weekday == "thursday"', midnight + 86_399],
    ['request.hour == 0 && request.weekday == "friday"', midnight + 86_400],
    ['request.time_of_day >= duration("9h30m") && request.time_of_day < hours(17)', midnight + 9 * 3600 + 1800],
    ['!(request.time_of_day >= duration("9h30m"))', midnight + 9 * 3600 + 1799],
    ['request.weekday in ["saturday", "sunday"]', midnight + 3 * 86_400],
  ] as const)('%s', (expression, nowSeconds) => {
    expect(holds(expression, { nowSeconds })).toBe(true)
  })

  test.each([
    [
      'request.weekday == "Monday"',
      'request.weekday must be one of sunday, monday, tuesday, wednesday, thursday, friday, saturday',
    ],
    ['request.time_of_day < days(chain.id)', 'days() takes one number literal'],
    ['request.time_of_day < days("1")', 'days() takes one number literal'],
    ['request.time_of_day < days(36526)', 'days() takes a number from 0 to 36525'],
  ])('%s is refused', (expression, message) => {
    expect(refusal(expression)).toBe(message)
  })
})

describe('constants', () => {
  test('are what they are everywhere', () => {
    expect(holds('tx.value <= constants.limit && wallet.address != constants.whale')).toBe(true)
    expect(holds('constants.countries.exists(c, c == "IR") && constants.countries.size() == 2')).toBe(true)
    expect(holds('constants.age == hours(2) && "CU" in constants.countries')).toBe(true)
  })

  test.each([
    ['constants.total > 1', 'unknown constant "total"; defined constants: limit, countries, age, list, whale'],
    [
      'constants.limit == "2"',
      'no such overload: uint256 == string: write large numbers as uint256("…") and amounts as ether("…")',
    ],
    ['constants == 1', 'add a field of constants: limit, countries, age, list, whale'],
    ['[1].exists(constants, constants == 1)', '"constants" is a reserved name: rename the variable'],
  ])('%s is refused', (expression, message) => {
    expect(refusal(expression)).toBe(message)
  })
})

test('a policy that asks for nothing needs nothing', () => {
  const { needs, requires } = policyOf('wallet.address != constants.whale && request.hour < 24')
  expect({ needs, requires }).toEqual({ needs: [], requires: [] })
})

describe('a source that says something else than it may has not answered', () => {
  const odd = (external: unknown): FactChanges => ({ external: external as ExternalFacts })
  test.each([
    ['!client.anonymous', { geography: {} }],
    ['!client.anonymous', { geography: { anonymous: 'no' } }],
    ['client.country != "CH"', { geography: { country: 5 } }],
    ['client.country != "CH"', { geography: { country: 'C'.repeat(3) } }],
    ['!identity.verified', { identity: {} }],
    ['!identity.verified', { identity: 'yes' }],
    ['identity.level < 1', { identity: { level: 0.5 } }],
    ['identity.type != "business"', { identity: { type: 7 } }],
    ['!(identity.verified_at > request.time)', { identity: { verifiedAtSeconds: Number.NaN } }],
    ['!(identity.verified_at > request.time)', { identity: { verifiedAtSeconds: 1e18 } }],
    ['!screener("constructor").flagged', { screeners: {} }],
    ['!screener("a").flagged', { screeners: { a: {} } }],
    ['!screener("a").flagged', { screeners: { a: { flagged: 0 } } }],
    ['screener("a").score < 5', { screeners: { a: { score: '4' } } }],
    ['screener("a").score < 5', { screeners: { a: { score: 4.5 } } }],
    ['screener("a").categories.size() == 0', { screeners: { a: { categories: {} } } }],
    ['screener("a").categories.size() == 1', { screeners: { a: { categories: [5] } } }],
    ['screener("a").categories.size() == 65', { screeners: { a: { categories: Array(65).fill('a') } } }],
    ['velocity.count(hours(1)) < 5', { velocity: { 3600: {} } }],
    ['velocity.value(hours(1)) < 5', { velocity: { 3600: { value: '-1' } } }],
    ['velocity.value(hours(1)) < 5', { velocity: { 3600: { value: 1 } } }],
    ['!reads.paused', { reads: { paused: 0 } }],
    ['reads.balance < 5', { reads: { balance: 4 } }],
  ] as [string, unknown][])('%s of %p', (expression, external) => {
    expect(() => missing(expression, odd(external))).not.toThrow()
  })
})

describe('a rule that fails', () => {
  const failureOf = (expression: string, changes: FactChanges): unknown => {
    const { code, reason, subject } = thrownBy(() => holds(expression, changes)) as PolicyEvaluationError
    return [code, reason, subject]
  }
  const absent = (fact: string) => ['POLICY_FAILED', 'absent', fact]
  const unavailable = (fact: string) => ['DEPENDENCY_UNAVAILABLE', 'unavailable', fact]
  const silent = at({})
  const { external: half } = told({
    geography: NOWHERE,
    screeners: { stub: { flagged: false, score: null, categories: null }, mute: null },
  })

  test.each([
    ['client.country == "CH"', silent, absent('client.country')],
    ['client.country == "CH"', told({ geography: null }), unavailable('client.country')],
    ['screener("stub").score > 1', { external: half }, absent('screener stub score')],
    ['screener("mute").score > 1', { external: half }, unavailable('screener mute score')],
    ['reads.tick == 1', told({ reads: { tick: null } }), unavailable('reads.tick')],
    ['velocity.count(hours(1)) < 5', told({ velocity: null }), unavailable('velocity over 1 h')],
    ['in_list(wallet.address, "gone")', {}, unavailable('list gone')],
    ['1 / tx.data_size > 1', {}, ['POLICY_FAILED', 'expression', 'division_by_zero']],
    ['tx.value - 1 > 5', { value: '0' }, ['POLICY_FAILED', 'expression', 'uint256 below zero']],
  ] as const)('by %s with %p', (expression, changes, expected) => {
    expect(failureOf(expression, changes)).toEqual([...expected])
  })

  test('can be retried if one of its facts is unavailable', () => {
    const [country, mute] = ['client.country == "CH"', 'screener("mute").flagged']
    for (const expression of [`${country} || ${mute}`, `${mute} || ${country}`]) {
      expect(failureOf(expression, { external: half })).toEqual(unavailable('screener mute flagged'))
    }
  })

  test('is not retried because of a fact of another rule', () => {
    const policy = compilePolicy(
      `${HEAD}rules: ${JSON.stringify([
        { id: 'first', allow: 'screener("mute").flagged && tx.value > 5' },
        { id: 'second', allow: 'client.country == "CH"' },
      ])}`,
    )
    const { ruleId, code } = thrownBy(() =>
      policy.evaluate(facts({ value: '0', external: half })),
    ) as PolicyEvaluationError
    expect([ruleId, code]).toEqual(['second', 'POLICY_FAILED'])
  })
})

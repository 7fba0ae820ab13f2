// Facts from outside the request: lists, geography, identity, screeners, reads, velocity, and the time. A rule fails if a
// fact is unavailable, because an unknown fact never means "no".
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

/** The unavailable fact that fails a rule. */
const missing = (expression: string, changes: FactChanges = {}): string => {
  const error = thrownBy(() => holds(expression, changes))
  if (!(error instanceof PolicyEvaluationError) || !(error.cause instanceof FactUnavailableError)) throw error
  expect(error.ruleId).toBe('only')
  return error.cause.fact
}

const UNKNOWN = { region: null, anonymous: null, vpn: null, proxy: null, tor: null, hosting: null }
const NOWHERE: GeographyFacts = { country: null, ...UNKNOWN }
const at = (changes: Partial<GeographyFacts>): FactChanges => ({ external: { geography: { ...NOWHERE, ...changes } } })
const given = (external: ExternalFacts): FactChanges => ({ external })

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
  ] as const)('%s', (expression, expected) => expect(holds(expression, { lists })).toBe(expected))

  test.each<[string, FactChanges, string]>([
    ['in_list(wallet.address, "missing")', { lists }, 'list missing'],
    ['in_list(wallet.address, "sanctions")', {}, 'list sanctions'],
  ])('fail the rule if they are missing: %s', (expression, changes, fact) => {
    expect(missing(expression, changes)).toBe(fact)
  })

  test('fail the rule if they are too old', () => {
    expect(missing('in_list(wallet.address, "sanctions", minutes(119))', { lists })).toContain('list sanctions')
  })

  test('can be missing if the other side of || is true, as in CEL', () => {
    expect(holds('in_list(wallet.address, "missing") || true', { lists })).toBe(true)
  })

  test('are each required once, with their lowest maximum age', () => {
    const lookups = [
      'wallet.address, "b"',
      'wallet.address, "a", days(2)',
      'target.address, "a", hours(1)',
      'wallet.address, "a"',
    ]
    const { needs } = policyOf(lookups.map((lookup) => `in_list(${lookup})`).join(' || '))
    expect(needs).toEqual([
      { kind: 'list', list: 'a', maxAgeSeconds: 3_600 },
      { kind: 'list', list: 'b', maxAgeSeconds: null },
    ])
  })

  const MAXIMUM_AGE = 'the maximum age must be a literal duration, for example days(2)'
  const many = Array.from({ length: 17 }, (_, i) => `in_list(wallet.address, "l${i}")`).join(' || ')
  test.each([
    ['in_list(wallet.address)', 'in_list() takes an address, a list name and, optionally, a maximum age'],
    ['in_list(chain.name, "a")', 'this must be of type address, not string'],
    ['in_list("0x00", "a")', 'this must be of type address, not string'],
    ['in_list(wallet.address, chain.name)', 'the name of a list must be a string literal'],
    ['in_list(wallet.address, "A B")', `the name of a list must be ${LIST_NAME_RULE}`],
    ['in_list(wallet.address, "a", 5)', MAXIMUM_AGE],
    ['in_list(wallet.address, "a", request.time_of_day)', MAXIMUM_AGE],
    [many, 'a policy can use at most 16 different lists'],
  ])('%s is refused', (expression, message) => expect(refusal(expression)).toBe(message))
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
  ] as const)('%s with %p', (expression, place, expected) => expect(holds(expression, at(place))).toBe(expected))

  test.each<[string, FactChanges, string]>([
    ['client.country == "CH"', at({}), 'client.country'],
    ['client.country != "CH"', at({}), 'client.country'],
    ['client.region == "CH-ZH"', at({ country: 'CH' }), 'client.region'],
    ['client.vpn', at({ anonymous: false }), 'client.vpn'],
    // Without data, even "not located" is unknown.
    ['client.located', given({ geography: null }), 'client.located'],
    ['client.located', {}, 'client.located'],
  ])('fails %s if it is unknown', (expression, changes, fact) => expect(missing(expression, changes)).toBe(fact))

  test('requires the IP address', () => {
    const { needs, requires } = policyOf('client.located && client.country == "CH"')
    expect({ needs, requires }).toEqual({ needs: [{ kind: 'geography' }], requires: ['user_ip'] })
  })

  const COUNTRY = 'client.country must be two capital letters (ISO 3166-1), for example "US"'
  const FIELDS = 'located, country, region_known, region, anonymity_known, anonymous, vpn, proxy, tor, hosting'
  test.each([
    ['client.country == "Switzerland"', COUNTRY],
    ['client.country in ["CH", "ch"]', COUNTRY],
    ['client.country == constants.list', COUNTRY],
    ['client.region == "ZH"', 'client.region must be a country and a region (ISO 3166-2), for example "US-NY"'],
    ['client.city == "Bern"', `client has no field "city"; valid fields: ip, ${FIELDS}`],
  ])('%s is refused', (expression, message) => expect(refusal(expression)).toBe(message))
})

describe('identity', () => {
  const verifiedAtSeconds = 1_767_225_600 - 86_400
  const person = given({ identity: { verified: true, type: 'individual', level: 2, verifiedAtSeconds } })
  const stranger = given({ identity: { verified: false, type: null, level: 0, verifiedAtSeconds: null } })
  const details = (country: string | null, age: number | null) => given({ identityDetails: { country, age } })
  const noDetails = details(null, null)

  test.each([
    ['identity.verified && identity.type == "individual" && identity.level == 2', person, true],
    ['request.time - identity.verified_at == days(1)', person, true],
    ['identity.verified', stranger, false],
    ['identity.type == "" && identity.level == 0', stranger, true],
    ['identity.details_known && identity.country == "CH" && identity.age >= 18', details('CH', 18), true],
    ['identity.details_known && identity.age >= 18', details('CH', 17), false],
    ['identity.details_known', noDetails, false],
    ['identity.details_known && identity.country == "CH"', noDetails, false],
  ] as const)('%s', (expression, changes, expected) => expect(holds(expression, changes)).toBe(expected))

  test.each<[string, FactChanges, string]>([
    ['identity.verified_at < request.time', stranger, 'identity.verified_at'],
    ['identity.verified', given({ identity: null }), 'identity.verified'],
    ['!identity.verified', {}, 'identity.verified'],
    ['identity.country == "CH"', noDetails, 'identity.country'],
    ['identity.country != "CH"', noDetails, 'identity.country'],
    ['!(identity.country in ["CH"])', noDetails, 'identity.country'],
    ['identity.age < 18', noDetails, 'identity.age'],
    ['!(identity.age < 18)', noDetails, 'identity.age'],
    // Without a result, even the agreement is unknown.
    ['identity.details_known', given({ ...person.external, identityDetails: null }), 'identity.details_known'],
  ])('fails %s if it is unknown', (expression, changes, fact) => expect(missing(expression, changes)).toBe(fact))

  test('is a separate need from its details', () => {
    expect(policyOf('identity.verified').needs).toEqual([{ kind: 'identity' }])
    expect(policyOf('identity.age > 17').needs).toEqual([{ kind: 'identity-details' }])
  })

  test.each([
    ['identity.country == "Cuba"', 'identity.country must be two capital letters (ISO 3166-1), for example "CH"'],
    ['identity.type == "person"', 'identity.type must be "individual", "business" or empty'],
  ])('%s is refused', (expression, message) => expect(refusal(expression)).toBe(message))
})

describe('screeners', () => {
  const answer = given({ screeners: { stub: { flagged: true, score: -5, categories: ['mixer'] }, mute: null } })
  const partial = given({ screeners: { stub: { flagged: null, score: null, categories: null } } })

  test.each([
    'screener("stub").flagged && screener("stub").score < 0',
    '"mixer" in screener("stub").categories && screener("stub").categories.size() == 1',
  ])('%s', (expression) => expect(holds(expression, answer)).toBe(true))

  test('are each required once', () => {
    const { needs } = policyOf('screener("b").flagged || screener("a").flagged || screener("b").score > 1')
    expect(needs).toEqual(['a', 'b'].map((screener) => ({ kind: 'screener', screener })))
  })

  test.each([
    ['screener("mute").flagged', answer, 'screener mute flagged'],
    ['screener("other").flagged', answer, 'screener other flagged'],
    ['screener("stub").flagged', partial, 'screener stub flagged'],
    ['screener("stub").categories.size() == 0', partial, 'screener stub categories'],
  ])('fail %s without a result', (expression, changes, fact) => expect(missing(expression, changes)).toBe(fact))

  const NAME =
    'the name of a screener must consist of a-z, 0-9 and "_", begin with a letter and have at most 64 characters'
  const many = Array.from({ length: 5 }, (_, i) => `screener("s${i}").flagged`).join(' || ')
  test.each([
    ['screener("stub")', 'add a field of the result, for example screener("name").flagged'],
    ['screener("stub").risk > 1', 'a screener has no field "risk"; valid fields: flagged, score, categories'],
    ['screener(chain.name).flagged', 'the name of a screener must be a string literal'],
    ['screener("a", "b").flagged', 'screener() takes the name of a screener and, optionally, onBehalf.address'],
    ['screener("Stub").flagged', NAME],
    [many, 'a policy can use at most 4 different screeners'],
  ])('%s is refused', (expression, message) => expect(refusal(expression)).toBe(message))
})

describe('reads', () => {
  const values = { balance: '2000000000000000000', owner: EVM_WALLET, paused: false, tick: '-7', label: 'gold' }

  test('have the type of their value', () => {
    const external = { reads: values }
    expect(holds('reads.balance >= constants.limit && reads.owner == wallet.address', { external })).toBe(true)
    expect(holds('!reads.paused && reads.tick == -7 && reads.label == "gold"', { external })).toBe(true)
  })

  test('are required with their definition', () => {
    const definition = { kind: 'erc721-owner', chain: null, contract: CONTRACT.toLowerCase(), tokenId: '7' } as const
    expect(policyOf('reads.owner == wallet.address').needs).toEqual([{ kind: 'read', read: 'owner', definition }])
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
  ] as const)('%s with the value %p is unavailable', (name, value) => {
    const expressions = {
      balance: 'reads.balance > 0',
      owner: 'reads.owner == wallet.address',
      paused: 'reads.paused',
      tick: 'reads.tick > 0',
      label: 'reads.label == ""',
    }
    expect(() => holds(expressions[name], given({ reads: { [name]: value } }))).toThrow(PolicyEvaluationError)
  })

  test.each([
    ['reads.total > 0', 'unknown read "total"; defined reads: balance, owner, paused, tick, label'],
    ['reads.balance == "1"', 'no such overload: uint256 == string'],
  ])('%s is refused', (expression, message) => expect(refusal(expression)).toContain(message))
})

describe('velocity', () => {
  const hour = { count: 4, value: '7' }
  const counted = given({ velocity: { '3600': hour, '86400': { count: 9, value: '1500000000000000000' } } })

  test.each([
    ['velocity.count(hours(1)) == 4 && velocity.count(days(1)) == 9', '0', true],
    ['velocity.value(hours(24)) + tx.value <= constants.limit', '500000000000000000', true],
    ['velocity.value(duration("24h")) + tx.value <= constants.limit', '500000000000000001', false],
  ])('%s with the value %s', (expression, value, expected) => {
    expect(holds(expression, { ...counted, value })).toBe(expected)
  })

  test('is required once per window', () => {
    const { needs } = policyOf('velocity.count(days(1)) + velocity.count(minutes(1)) > 1')
    expect(needs).toEqual([60, 86_400].map((windowSeconds) => ({ kind: 'velocity', windowSeconds })))
  })

  test('fails the rule if it is not counted', () => {
    expect(missing('velocity.count(hours(2)) == 0', counted)).toBe('velocity over 2 h')
    expect(missing('velocity.count(hours(1)) == 0', given({ velocity: null }))).toBe('velocity over 1 h')
  })

  const DURATION = 'velocity.count() takes a literal duration, for example velocity.count(hours(24))'
  const WINDOW = 'a window must be from one minute to 31 days long'
  const many = Array.from({ length: 9 }, (_, i) => `velocity.count(hours(${i + 1})) > 0`).join(' || ')
  test.each([
    ['velocity.count(5) == 0', DURATION],
    ['velocity.count(request.time_of_day) == 0', DURATION],
    ['velocity.count() == 0', DURATION],
    ['velocity.count(minutes(0)) == 0', WINDOW],
    ['velocity.count(days(32)) == 0', WINDOW],
    ['velocity.mean(days(1)) == 0', 'velocity has no method "mean"; valid methods: count, value'],
    ['velocity.count == 0', 'velocity has no field "count"; valid fields: count(), value()'],
    ['velocity == 0', 'add a field of velocity: count(), value()'],
    [many, 'a policy can use at most 8 different velocity windows'],
  ])('%s is refused', (expression, message) => expect(refusal(expression)).toBe(message))
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
  ] as const)('%s', (expression, nowSeconds) => expect(holds(expression, { nowSeconds })).toBe(true))

  const WEEKDAYS = 'sunday, monday, tuesday, wednesday, thursday, friday, saturday'
  test.each([
    ['request.weekday == "Monday"', `request.weekday must be one of ${WEEKDAYS}`],
    ['request.time_of_day < days(chain.id)', 'days() takes one number literal'],
    ['request.time_of_day < days("1")', 'days() takes one number literal'],
    ['request.time_of_day < days(36526)', 'days() takes a number from 0 to 36525'],
  ])('%s is refused', (expression, message) => expect(refusal(expression)).toBe(message))
})

describe('constants', () => {
  test.each([
    'tx.value <= constants.limit && wallet.address != constants.whale',
    'constants.countries.exists(c, c == "IR") && constants.countries.size() == 2',
    'constants.age == hours(2) && "CU" in constants.countries',
  ])('%s', (expression) => expect(holds(expression)).toBe(true))

  const OVERLOAD = 'no such overload: uint256 == string: write large numbers as uint256("…") and amounts as ether("…")'
  test.each([
    ['constants.total > 1', 'unknown constant "total"; defined constants: limit, countries, age, list, whale'],
    ['constants.limit == "2"', OVERLOAD],
    ['constants == 1', 'add a field of constants: limit, countries, age, list, whale'],
    ['[1].exists(constants, constants == 1)', '"constants" is a reserved name: rename the variable'],
  ])('%s is refused', (expression, message) => expect(refusal(expression)).toBe(message))
})

test('a policy without external facts has no needs', () => {
  const { needs, requires } = policyOf('wallet.address != constants.whale && request.hour < 24')
  expect({ needs, requires }).toEqual({ needs: [], requires: [] })
})

describe('a malformed result counts as unavailable', () => {
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
  ] as [string, ExternalFacts][])('%s of %p', (expression, external) => {
    expect(() => missing(expression, { external })).not.toThrow()
  })
})

describe('a rule that fails', () => {
  const failureOf = (expression: string, changes: FactChanges): unknown => {
    const { code, reason, subject } = thrownBy(() => holds(expression, changes)) as PolicyEvaluationError
    return [code, reason, subject]
  }
  const absent = (fact: string) => ['POLICY_FAILED', 'absent', fact]
  const unavailable = (fact: string) => ['DEPENDENCY_UNAVAILABLE', 'unavailable', fact]
  const stub = { flagged: false, score: null, categories: null }
  const partial = { external: { geography: NOWHERE, screeners: { stub, mute: null } } }

  test.each([
    ['client.country == "CH"', at({}), absent('client.country')],
    ['client.country == "CH"', given({ geography: null }), unavailable('client.country')],
    ['screener("stub").score > 1', partial, absent('screener stub score')],
    ['screener("mute").score > 1', partial, unavailable('screener mute score')],
    ['reads.tick == 1', given({ reads: { tick: null } }), unavailable('reads.tick')],
    ['velocity.count(hours(1)) < 5', given({ velocity: null }), unavailable('velocity over 1 h')],
    ['in_list(wallet.address, "gone")', {}, unavailable('list gone')],
    ['1 / tx.data_size > 1', {}, ['POLICY_FAILED', 'expression', 'division_by_zero']],
    ['tx.value - 1 > 5', { value: '0' }, ['POLICY_FAILED', 'expression', 'uint256 below zero']],
  ] as const)('%s', (expression, changes, expected) => expect(failureOf(expression, changes)).toEqual([...expected]))

  const [country, mute] = ['client.country == "CH"', 'screener("mute").flagged']
  test.each([`${country} || ${mute}`, `${mute} || ${country}`])('can be retried if a fact is unavailable: %s', (rule) =>
    expect(failureOf(rule, partial)).toEqual(unavailable('screener mute flagged')),
  )

  test('cannot be retried because of a fact of another rule', () => {
    const first = { id: 'first', allow: `${mute} && tx.value > 5` }
    const policy = compilePolicy(`${HEAD}rules: ${JSON.stringify([first, { id: 'second', allow: country }])}`)
    const failure = thrownBy(() => policy.evaluate(facts({ value: '0', ...partial })))
    expect(failure).toMatchObject({ ruleId: 'second', code: 'POLICY_FAILED' })
  })
})

// Unsupported parts of CEL, refused with a clear message when a policy is saved (threats row 13).
import { describe, expect, test } from 'bun:test'
import { compilePolicy } from '../../src/policy/cel/compile.ts'
import { createPolicyEnvironment } from '../../src/policy/cel/environment.ts'
import { FACTS } from '../../src/policy/facts.ts'
import { FUNCTIONS, METHODS } from '../../src/policy/tools/language.ts'
import { facts, holds, issuesOf, policyOf, refusalOf, thrownBy } from './support.ts'

const REGEX = 'the policy language does not support regular expressions: use ==, in, startsWith, endsWith or contains'
const KNOWN =
  'size, timestamp, duration, days, hours, minutes, address, uint256, ether, gwei, sol, lamports, in_list, screener'
const GROUPS = [...Object.keys(FACTS), 'constants', 'reads', 'velocity'].join(', ')
const OF_WALLETS = `valid fields: ${Object.keys(FACTS['wallet'] ?? {}).join(', ')}`
const SELECTOR = 'tx.selector must be 0x followed by 8 lowercase hex digits, or empty'
const ZONE = 'getMonth() takes a time zone as a string literal: getMonth("Europe/Zurich")'
const PLUS = 'the policy language cannot join strings or lists with +'
const UNSUPPORTED = 'the policy language does not support'
const NESTED = 'cannot be used inside another loop'
const INT = 'the number is too large for int: write uint256("9223372036854775808")'
const WEEKDAY = 'for a time zone, write request.time.getDayOfWeek("Europe/Zurich")'
const TIMESTAMP_TYPE = 'this must be of type google.protobuf.Timestamp, not google.protobuf.Duration'
const NEW_YORK = 'unknown time zone "America/NewYork": did you mean America/New_York?'
const IANA = 'unknown time zone "PST": use an IANA name such as Europe/Zurich'
const MIXED = `List elements must have the same type, expected type 'string' but found 'int'`
const RANGE = `Expression of type 'string' cannot be range of a comprehension (must be list, map, or dynamic).`
const TX = 'add a field of tx: value, data_size, selector'

describe('refused', () => {
  test.each([
    ['a regular expression', 'client.ip.matches("1.*")', REGEX],
    ['a regular expression on a literal', '"aaaa".matches("(a+)+$")', REGEX],
    ['a regular expression as a function', 'matches(client.ip, "1.*")', REGEX],
    ['a regular expression in a loop', '["a"].exists(x, x.matches("a"))', REGEX],
    ['a loop in a loop', '[1].exists(x, [2].exists(y, x == y))', `exists() ${NESTED}`],
    ['a loop in the list of a loop in a loop', '[1].map(x, [2].map(y, y).size()).size() == 1', `map() ${NESTED}`],
    ['a binding', 'cel.bind(x, client.ip, x == x)', `${UNSUPPORTED} cel.bind`],
    ['has()', 'has(client.ip)', `${UNSUPPORTED} has(): every fact is always present`],
    ['joined texts', 'client.ip + "a" == "b"', PLUS],
    ['joined lists', '[1] + [2] == [1, 2]', PLUS],
    ['floating point', '1.5 > 0.5', `${UNSUPPORTED} floating-point numbers`],
    ['null', 'client.ip == null', `${UNSUPPORTED} null, bytes and uint`],
    ['bytes', 'b"a" == b"a"', `${UNSUPPORTED} null, bytes and uint`],
    ['uint', '1u == 1u', `${UNSUPPORTED} null, bytes and uint`],
    ['a map', '{"a": 1}["a"] == 1', `${UNSUPPORTED} maps`],
    ['an empty map', '{} == {}', `${UNSUPPORTED} maps`],
    ['a list of lists', '[[1]].size() == 1', `${UNSUPPORTED} values of type list<list<int>>`],
    ['a list of lists from a loop', '[1].map(x, [x]).size() == 1', `${UNSUPPORTED} values of type list<list<int>>`],
    ['an empty list', 'client.ip in []', 'the list is empty'],
    ['a list of mixed types', 'client.ip in ["a", 1]', MIXED],
    ['dyn()', 'dyn(client.ip) == 1', `"dyn" is not a policy function; known names: ${KNOWN}`],
    ['a type', 'type(client.ip) == string', `"type" is not a policy function; known names: ${KNOWN}`],
    ['an unknown time zone', 'request.time.getHours("America/NewYork") == 1', NEW_YORK],
    ['an abbreviated time zone', 'request.time.getHours("PST") == 1', IANA],
    ['a fact in a time zone', 'request.weekday("Europe/Zurich") == 1', WEEKDAY],
    ['a time zone of the request', 'request.time.getMonth(client.ip) == 1', ZONE],
    ['a number as a time zone', 'request.time.getMonth(1) == 1', ZONE],
    ['two time zones', 'request.time.getMonth("UTC", "UTC") == 1', ZONE],
    ['a duration in a time zone', 'request.time_of_day.getHours("UTC") == 1', TIMESTAMP_TYPE],
    [
      'the day of the year',
      'request.time.getDayOfYear() == 1',
      `${UNSUPPORTED} getDayOfYear: compare with timestamp("…")`,
    ],
    ['a whole group of facts', 'tx == tx', TX],
    ['a group of facts in a list', '[tx].exists(t, t.value > 0)', TX],
    ['a group of facts by index', 'tx["value"] > 0', TX],
    ['an unknown fact', 'tx.gas > 0', 'tx has no field "gas"; valid fields: value, data_size, selector'],
    ['an unknown name', 'sender == client.ip', `unknown name "sender"; known names: ${GROUPS}`],
    ['a name of every object', 'constructor == client.ip', `unknown name "constructor"; known names: ${GROUPS}`],
    ['a field of every object', 'wallet.constructor == client.ip', `wallet has no field "constructor"; ${OF_WALLETS}`],
    ['the prototype', 'wallet.__proto__ == client.ip', `wallet has no field "__proto__"; ${OF_WALLETS}`],
    ['a field of a value', 'wallet.address.text == "a"', 'No such key: text'],
    ['a loop variable that hides a fact', '[1].exists(tx, tx == 1)', '"tx" is a reserved name: rename the variable'],
    ['a loop with too many arguments', '[1].all(x, true, true)', `all() takes a variable name and an expression`],
    ['a loop without a name', '[1].all(1, true)', 'all(var, predicate) invalid predicate iteration variable'],
    ['a loop over a text', '"abc".all(x, true)', RANGE],
    ['a number beyond int', '9223372036854775808 > chain.id', INT],
    ['a selector that is never equal', 'tx.selector == "0xA9059CBB"', SELECTOR],
    ['a selector that is never in a list', 'tx.selector in ["0xa9059cbb", "transfer"]', SELECTOR],
    ['a chain family that does not exist', '"EVM" != chain.family', 'chain.family must be "evm" or "solana"'],
    ['a number as a rule', 'tx.value', 'a rule must be of type bool, but this is uint256'],
    ['a text as a rule', '"true"', 'a rule must be of type bool, but this is string'],
    ['half an expression', 'chain.id ==', 'unexpected end of the expression'],
    ['an optional selection', 'tx.?value == 1', 'Expected IDENTIFIER, got QUESTION'],
  ])('%s', (_name, expression, message) => expect(refusalOf(expression)).toBe(message))

  test('every other function and method of the library', () => {
    const others = createPolicyEnvironment()
      .getDefinitions()
      .functions.filter(({ name, receiverType }) => !(receiverType === null ? FUNCTIONS : METHODS).has(name))
    // If this fails, the library has a new function: decide whether policies may use it.
    expect([...new Set(others.map(({ name }) => name))].sort().join(' ')).toBe(
      'at base64 bind bool bytes double dyn getDayOfYear has hasValue hex indexOf int join json lastIndexOf ' +
        'lowerAscii matches none of or orValue split string substring trim type uint upperAscii value',
    )
    for (const { name, receiverType, params } of others) {
      const parameters = params.map(() => 'chain.id').join(', ')
      const call = receiverType === null ? `${name}(${parameters})` : `client.ip.${name}(${parameters})`
      // The message comes from this repository, or from the parser if a macro rejects its arguments first.
      expect(refusalOf(`${call} == 1`)).toMatch(/ is not a policy |the policy language |invalid/)
    }
  })
})

describe('times', () => {
  const TIMESTAMP = 'a timestamp must be in RFC 3339 format in whole seconds, for example "2026-01-31T00:00:00Z"'
  const dates = ['2026-01-01', 'January 1, 2026 00:00:00 UTC', '1767225600', '2026-01-01t00:00:00z']
  const instants = ['01-01T00:00:00', '01-01T00:00Z', '01-01T00:00:00.5Z', '02-29T00:00:00Z', '13-01T00:00:00Z']
  const others = ['00-01T00:00:00Z', '01-00T00:00:00Z', '01-01T24:00:00Z', '01-01T00:60:00Z', '01-01T00:00:60Z']
  test.each([...dates, ...[...instants, ...others, '01-01T00:00:00+24:00'].map((text) => `2026-${text}`)])(
    'timestamp("%s") is refused',
    (text) => expect(refusalOf(`request.time == timestamp("${text}")`)).toBe(TIMESTAMP),
  )

  const DURATION = 'a duration must be whole hours, minutes and seconds of at most a century, for example "36h"'
  test.each(['', '1', 'h', '1.5h', '-1h', '+1h', '1d', '1ms', '1h ', '1h1h1h1h', '9999999h', '99999999999s'])(
    'duration("%s") is refused',
    (text) => expect(refusalOf(`request.time - request.time < duration("${text}")`)).toBe(DURATION),
  )

  test.each([
    ['timestamp', 'request.time > timestamp(1767225600)'],
    ['timestamp', 'request.time > timestamp(client.ip)'],
    ['duration', 'duration(client.ip) == duration("1s")'],
    ['timestamp', 'request.time > timestamp("2026-01-01T00:00:00Z", "x")'],
  ])('%s() takes one literal: %s', (name, expression) => {
    expect(refusalOf(expression)).toBe(`${name}() takes one string literal`)
  })

  test.each([
    'timestamp("2026-01-01T05:30:00+05:30") == request.time',
    'timestamp("2024-02-29T00:00:00Z") < request.time',
    'duration("1h30m") == duration("90m") && duration("60s") == duration("1m")',
  ])('%s', (expression) => expect(holds(expression)).toBe(true))

  test('an unknown time zone is reported at its position', () => {
    const source = 'name: P\nrules:\n  - id: hours\n    deny: request.time.getHours("Europe/Zuerich") < 9\n'
    expect(issuesOf(() => compilePolicy(source))).toMatchObject([{ line: 4, column: 33, pointer: '/rules/0/deny' }])
  })

  const AT_NEW_YEAR_UTC = facts({ nowSeconds: Date.parse('2026-01-01T00:30:15Z') / 1000 })
  test.each([
    ['getFullYear', [2026, 2026, 2025]],
    ['getMonth', [0, 0, 11]],
    ['getDate', [1, 1, 31]],
    ['getDayOfMonth', [0, 0, 30]],
    ['getDayOfWeek', [4, 4, 3]],
    ['getHours', [1, 6, 17]],
    ['getMinutes', [30, 15, 30]],
    ['getSeconds', [15, 15, 15]],
    ['getMilliseconds', [0, 0, 0]],
  ])('%s() takes a time zone', (method, parts) => {
    for (const [index, zone] of ['Europe/Zurich', 'Asia/Kathmandu', 'America/Denver'].entries()) {
      const policy = policyOf(`request.time.${method}("${zone}") == ${parts[index]}`)
      expect(policy.evaluate(AT_NEW_YEAR_UTC).compliant).toBe(true)
    }
  })

  test('a time zone can be a constant, and the time any timestamp', () => {
    const policy = compilePolicy(`name: P
constants: { office: { type: string, value: Europe/Zurich } }
rules: [{ id: hours, allow: (request.time + hours(8)).getHours(constants.office) == 9 }]`)
    expect(policy.evaluate(AT_NEW_YEAR_UTC).compliant).toBe(true)
  })

  test('a rule fails for a time outside the supported years of time zones', () => {
    const policy = policyOf('(request.time + days(36525)).getHours("Europe/Zurich") >= 0')
    const subject = 'a time in a time zone must be in the years 2000 to 2099'
    expect(thrownBy(() => policy.evaluate(AT_NEW_YEAR_UTC))).toMatchObject({ code: 'POLICY_FAILED', subject })
  })

  test('an evaluation in a time zone uses neither Intl nor Temporal', () => {
    const policy = policyOf('request.time.getHours("America/Denver") == 17')
    const globals = { Intl: globalThis.Intl, Temporal: globalThis.Temporal }
    Object.assign(globalThis, { Intl: undefined, Temporal: undefined })
    try {
      expect(policy.evaluate(AT_NEW_YEAR_UTC).compliant).toBe(true)
    } finally {
      Object.assign(globalThis, globals)
    }
  })

  test('the largest sums are still dates', () => {
    const sum = Array(100).fill('duration("876599h")').join(' + ')
    expect(holds(`request.time + (${sum}) > request.time`)).toBe(true)
    expect(holds(`request.time - (${sum}) < request.time`)).toBe(true)
  })
})

describe('sizes', () => {
  const list = (elements: number) => `chain.id in [${Array.from({ length: elements }, (_, i) => i).join(', ')}]`
  const text = (length: number) => `client.ip != "${'a'.repeat(length)}"`
  const parentheses = (count: number) => `${'('.repeat(count)}true${')'.repeat(count)}`
  const operators = (count: number) => Array(count).fill('true').join(' && ')
  const DEEP = 'the expression is nested too deeply'
  test.each([
    ['list elements', list(128), list(129), 'a list can have at most 128 elements'],
    ['text characters', text(256), text(257), 'a string can have at most 256 characters'],
    ['nested parentheses', parentheses(31), parentheses(32), DEEP],
    ['a chain of operators', operators(256), operators(257), `${DEEP}: use lists, or several rules`],
    ['call arguments', 'size("a") == 1', 'size(1, 2, 3, 4, 5) == 1', 'a call can have at most 4 arguments'],
  ])('%s', (_name, accepted, refused, message) => {
    expect(refusalOf(refused)).toBe(message)
    expect(() => holds(accepted)).not.toThrow()
  })

  const many = `chain.id in [${Array(128).fill('chain.id').join(', ')}]`
  const PARTS = 'an expression can have at most 1024 parts'
  test.each([
    ['lists', Array(4).fill(many).join(' || '), PARTS],
    ['negations', `${'!'.repeat(7000)}true`, PARTS],
    ['signs', `${'-'.repeat(7000)}1 == 1`, PARTS],
    ['brackets', '['.repeat(7000), DEEP],
    ['fields', `wallet${'.address'.repeat(900)}`, DEEP],
  ])('parts of an expression: %s', (_name, expression, message) => expect(refusalOf(expression)).toBe(message))
})

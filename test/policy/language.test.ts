// What the policy language leaves out is refused when a policy is saved, in plain words (threats row 13).
import { describe, expect, test } from 'bun:test'
import { compilePolicy } from '../../src/policy/cel/compile.ts'
import { createPolicyEnvironment } from '../../src/policy/cel/environment.ts'
import { POLICY_LIMITS } from '../../src/policy/cel/limits.ts'
import { FACTS } from '../../src/policy/facts.ts'
import { FUNCTIONS, METHODS } from '../../src/policy/tools/language.ts'
import { facts, holds, issuesOf, policyOf, refusalOf, thrownBy } from './support.ts'

const REGEX = 'the policy language does not support regular expressions: use ==, in, startsWith, endsWith or contains'
const KNOWN =
  'size, timestamp, duration, days, hours, minutes, address, uint256, ether, gwei, sol, lamports, in_list, screener'
const GROUPS = [...Object.keys(FACTS), 'constants', 'reads', 'velocity'].join(', ')
const OF_WALLETS = Object.keys(FACTS['wallet'] ?? {}).join(', ')
const SELECTOR = 'tx.selector must be 0x followed by 8 lowercase hex digits, or empty'
const ZONE = 'getMonth() takes a time zone as a string literal: getMonth("Europe/Zurich")'
const JOINING = 'the policy language cannot join strings or lists with +'

describe('refused', () => {
  test.each([
    ['a regular expression', 'client.ip.matches("1.*")', REGEX],
    ['a regular expression on a literal', '"aaaa".matches("(a+)+$")', REGEX],
    ['a regular expression as a function', 'matches(client.ip, "1.*")', REGEX],
    ['a regular expression in a loop', '["a"].exists(x, x.matches("a"))', REGEX],
    ['a loop in a loop', '[1].exists(x, [2].exists(y, x == y))', 'exists() cannot be used inside another loop'],
    [
      'a loop in the list of a loop in a loop',
      '[1].map(x, [2].map(y, y).size()).size() == 1',
      'map() cannot be used inside another loop',
    ],
    ['a binding', 'cel.bind(x, client.ip, x == x)', 'the policy language does not support cel.bind'],
    ['has()', 'has(client.ip)', 'the policy language does not support has(): every fact is always present'],
    ['joined texts', 'client.ip + "a" == "b"', JOINING],
    ['joined lists', '[1] + [2] == [1, 2]', JOINING],
    ['floating point', '1.5 > 0.5', 'the policy language does not support floating-point numbers'],
    ['null', 'client.ip == null', 'the policy language does not support null, bytes and uint'],
    ['bytes', 'b"a" == b"a"', 'the policy language does not support null, bytes and uint'],
    ['uint', '1u == 1u', 'the policy language does not support null, bytes and uint'],
    ['a map', '{"a": 1}["a"] == 1', 'the policy language does not support maps'],
    ['an empty map', '{} == {}', 'the policy language does not support maps'],
    ['a list of lists', '[[1]].size() == 1', 'the policy language does not support values of type list<list<int>>'],
    [
      'a list of lists from a loop',
      '[1].map(x, [x]).size() == 1',
      'the policy language does not support values of type list<list<int>>',
    ],
    ['an empty list', 'client.ip in []', 'the list is empty'],
    [
      'a list of mixed types',
      'client.ip in ["a", 1]',
      `List elements must have the same type, expected type 'string' but found 'int'`,
    ],
    ['dyn()', 'dyn(client.ip) == 1', `"dyn" is not a policy function; known names: ${KNOWN}`],
    ['a type', 'type(client.ip) == string', `"type" is not a policy function; known names: ${KNOWN}`],
    [
      'an unknown time zone',
      'request.time.getHours("America/NewYork") == 1',
      'unknown time zone "America/NewYork": did you mean America/New_York?',
    ],
    [
      'an abbreviated time zone',
      'request.time.getHours("PST") == 1',
      'unknown time zone "PST": use an IANA name such as Europe/Zurich',
    ],
    [
      'a fact in a time zone',
      'request.weekday("Europe/Zurich") == 1',
      'for a time zone, write request.time.getDayOfWeek("Europe/Zurich")',
    ],
    ['a time zone of the request', 'request.time.getMonth(client.ip) == 1', ZONE],
    ['a time zone that is no text', 'request.time.getMonth(1) == 1', ZONE],
    ['two time zones', 'request.time.getMonth("UTC", "UTC") == 1', ZONE],
    [
      'a duration in a time zone',
      'request.time_of_day.getHours("UTC") == 1',
      'this must be of type google.protobuf.Timestamp, not google.protobuf.Duration',
    ],
    [
      'the day of the year',
      'request.time.getDayOfYear() == 1',
      'the policy language does not support getDayOfYear: compare with timestamp("…")',
    ],
    ['a whole group of facts', 'tx == tx', 'add a field of tx: value, data_size, selector'],
    ['a group of facts in a list', '[tx].exists(t, t.value > 0)', 'add a field of tx: value, data_size, selector'],
    ['a group of facts by index', 'tx["value"] > 0', 'add a field of tx: value, data_size, selector'],
    ['an unknown fact', 'tx.gas > 0', 'tx has no field "gas"; valid fields: value, data_size, selector'],
    ['an unknown name', 'sender == client.ip', `unknown name "sender"; known names: ${GROUPS}`],
    ['a name of every object', 'constructor == client.ip', `unknown name "constructor"; known names: ${GROUPS}`],
    [
      'a field of every object',
      'wallet.constructor == client.ip',
      `wallet has no field "constructor"; valid fields: ${OF_WALLETS}`,
    ],
    ['the prototype', 'wallet.__proto__ == client.ip', `wallet has no field "__proto__"; valid fields: ${OF_WALLETS}`],
    ['a field of a value', 'wallet.address.text == "a"', 'No such key: text'],
    ['a loop variable that hides a fact', '[1].exists(tx, tx == 1)', '"tx" is a reserved name: rename the variable'],
    ['a loop with too many arguments', '[1].all(x, true, true)', `all() takes a variable name and an expression`],
    ['a loop without a name', '[1].all(1, true)', 'all(var, predicate) invalid predicate iteration variable'],
    [
      'a loop over a text',
      '"abc".all(x, true)',
      `Expression of type 'string' cannot be range of a comprehension (must be list, map, or dynamic).`,
    ],
    [
      'a number beyond int',
      '9223372036854775808 > chain.id',
      'the number is too large for int: write uint256("9223372036854775808")',
    ],
    ['a selector that is never equal', 'tx.selector == "0xA9059CBB"', SELECTOR],
    ['a selector that is never in a list', 'tx.selector in ["0xa9059cbb", "transfer"]', SELECTOR],
    ['a chain family that does not exist', '"EVM" != chain.family', 'chain.family must be "evm" or "solana"'],
    ['a rule that is no condition', 'tx.value', 'a rule must be of type bool, but this is uint256'],
    ['a rule that is a text', '"true"', 'a rule must be of type bool, but this is string'],
    ['half an expression', 'chain.id ==', 'unexpected end of the expression'],
    ['an optional selection', 'tx.?value == 1', 'Expected IDENTIFIER, got QUESTION'],
  ])('%s', (_name, expression, message) => {
    expect(refusalOf(expression)).toBe(message)
  })

  test('every function and method of the library that is not on the list', () => {
    const definitions = createPolicyEnvironment().getDefinitions().functions
    const others = definitions.filter(
      ({ name, receiverType }) => !(receiverType === null ? FUNCTIONS : METHODS).has(name),
    )
    // The library has grown a function when this fails: decide whether policies may use it.
    expect([...new Set(others.map(({ name }) => name))].sort().join(' ')).toBe(
      'at base64 bind bool bytes double dyn getDayOfYear has hasValue hex indexOf int join json lastIndexOf ' +
        'lowerAscii matches none of or orValue split string substring trim type uint upperAscii value',
    )
    for (const { name, receiverType, params } of others) {
      const parameters = params.map(() => 'chain.id').join(', ')
      const call = receiverType === null ? `${name}(${parameters})` : `client.ip.${name}(${parameters})`
      // The message is ours, or the parser's where a macro refuses its arguments first.
      expect(refusalOf(`${call} == 1`)).toMatch(/ is not a policy |the policy language |invalid/)
    }
  })
})

describe('times', () => {
  const TIMESTAMP = 'a timestamp must be in RFC 3339 format in whole seconds, for example "2026-01-31T00:00:00Z"'
  test.each([
    '2026-01-01',
    '2026-01-01T00:00:00',
    '2026-01-01T00:00Z',
    '2026-01-01T00:00:00.5Z',
    '2026-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01T00:00:60Z',
    '2026-01-01T00:00:00+24:00',
    '2026-01-01t00:00:00z',
    'January 1, 2026 00:00:00 UTC',
    '1767225600',
  ])('timestamp("%s") is refused', (text) => {
    expect(refusalOf(`request.time == timestamp("${text}")`)).toBe(TIMESTAMP)
  })

  const DURATION = 'a duration must be whole hours, minutes and seconds of at most a century, for example "36h"'
  test.each(['', '1', 'h', '1.5h', '-1h', '+1h', '1d', '1ms', '1h ', '1h1h1h1h', '9999999h', '99999999999s'])(
    'duration("%s") is refused',
    (text) => {
      expect(refusalOf(`request.time - request.time < duration("${text}")`)).toBe(DURATION)
    },
  )

  test('both take one literal', () => {
    expect(refusalOf('request.time > timestamp(1767225600)')).toBe('timestamp() takes one string literal')
    expect(refusalOf('request.time > timestamp(client.ip)')).toBe('timestamp() takes one string literal')
    expect(refusalOf('duration(client.ip) == duration("1s")')).toBe('duration() takes one string literal')
    expect(refusalOf('request.time > timestamp("2026-01-01T00:00:00Z", "x")')).toBe(
      'timestamp() takes one string literal',
    )
  })

  test('zones and leap days are understood', () => {
    expect(holds('timestamp("2026-01-01T05:30:00+05:30") == request.time')).toBe(true)
    expect(holds('timestamp("2024-02-29T00:00:00Z") < request.time')).toBe(true)
    expect(holds('duration("1h30m") == duration("90m") && duration("60s") == duration("1m")')).toBe(true)
  })

  test('an unknown time zone has a position', () => {
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

  test('the zone may be a constant of the document, and the time any timestamp', () => {
    const policy = compilePolicy(`name: P
constants:
  office: { type: string, value: Europe/Zurich }
rules:
  - id: hours
    allow: (request.time + hours(8)).getHours(constants.office) == 9`)
    expect(policy.evaluate(AT_NEW_YEAR_UTC).compliant).toBe(true)
  })

  test('a rule fails for a time outside of the years that zones cover', () => {
    const policy = policyOf('(request.time + days(36525)).getHours("Europe/Zurich") >= 0')
    const error = thrownBy(() => policy.evaluate(AT_NEW_YEAR_UTC))
    expect(error).toMatchObject({
      code: 'POLICY_FAILED',
      subject: 'a time in a time zone must be in the years 2000 to 2099',
    })
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

  test('the longest sums are still dates', () => {
    const sum = Array(100).fill('duration("876599h")').join(' + ')
    expect(holds(`request.time + (${sum}) > request.time`)).toBe(true)
    expect(holds(`request.time - (${sum}) < request.time`)).toBe(true)
  })
})

describe('sizes', () => {
  const list = (elements: number) => `[${Array.from({ length: elements }, (_, i) => i).join(', ')}]`
  test.each([
    [
      'list elements',
      `chain.id in ${list(POLICY_LIMITS.listElements)}`,
      `chain.id in ${list(POLICY_LIMITS.listElements + 1)}`,
      'a list can have at most 128 elements',
    ],
    [
      'text characters',
      `client.ip != "${'a'.repeat(256)}"`,
      `client.ip != "${'a'.repeat(257)}"`,
      'a string can have at most 256 characters',
    ],
    [
      'nested parentheses',
      `${'('.repeat(31)}true${')'.repeat(31)}`,
      `${'('.repeat(32)}true${')'.repeat(32)}`,
      'the expression is nested too deeply',
    ],
    [
      'a chain of operators',
      Array(256).fill('true').join(' && '),
      Array(257).fill('true').join(' && '),
      'the expression is nested too deeply: use lists, or several rules',
    ],
    ['call arguments', 'size("a") == 1', 'size(1, 2, 3, 4, 5) == 1', 'a call can have at most 4 arguments'],
  ])('%s', (_name, accepted, refused, message) => {
    expect(refusalOf(refused)).toBe(message)
    expect(() => holds(accepted)).not.toThrow()
  })

  test('parts of an expression, however they are put', () => {
    const many = `chain.id in [${Array(128).fill('chain.id').join(', ')}]`
    expect(refusalOf(Array(4).fill(many).join(' || '))).toBe('an expression can have at most 1024 parts')
    expect(refusalOf(`${'!'.repeat(7000)}true`)).toBe('an expression can have at most 1024 parts')
    expect(refusalOf(`${'-'.repeat(7000)}1 == 1`)).toBe('an expression can have at most 1024 parts')
    expect(refusalOf(`${'['.repeat(7000)}`)).toBe('the expression is nested too deeply')
    expect(refusalOf(`wallet${'.address'.repeat(900)}`)).toBe('the expression is nested too deeply')
  })
})

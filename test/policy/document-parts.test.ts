// Constants, abi, idl, reads and tests of a document. Each invalid form is refused at its position.
import { describe, expect, test } from 'bun:test'
import { parseEvmAddress, SOLANA_ZERO_ADDRESS } from '../../src/domain/address.ts'
import { compilePolicy } from '../../src/policy/cel/compile.ts'
import { parsePolicyDocument } from '../../src/policy/document/document.ts'
import { draftRevision } from '../../src/policy/revision.ts'
import { FACT_SOURCES } from '../../src/policy/sources/all.ts'
import { issuesOf } from './support.ts'

const CONTRACT = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
const read = (text: string) => parsePolicyDocument(`name: P\nrules: []\n${text}`)
/** `line:column message` of the first mistake; the part begins in line 1. */
const mistake = (text: string): string => {
  const [issue] = issuesOf(() => compilePolicy(`name: P\nrules: []\n${text}`))
  return issue === undefined ? '' : `${issue.line - 2}:${issue.column} ${issue.message}`
}

describe('constants', () => {
  test('keep their spelling', () => {
    const { constants } = read(`constants:
  a: { type: address, value: ${CONTRACT} }
  b: { type: uint256, value: 115792089237316195423570985008687907853269984665640564039457584007913129639935 }
  c: { type: string, value: [CU, "IR"] }
  d: { type: ether, value: 1.50 }
  e: { type: bool, value: true }
  f: { type: int, value: -7 }
  g: { type: timestamp, value: 2026-01-01T00:00:00Z }
`)
    const single = (name: string, type: string, value: string) => ({ name, type, values: [value], isList: false })
    expect(constants as readonly unknown[]).toEqual([
      single('a', 'address', CONTRACT),
      single('b', 'uint256', `${2n ** 256n - 1n}`),
      { name: 'c', type: 'string', values: ['CU', 'IR'], isList: true },
      single('d', 'ether', '1.50'),
      single('e', 'bool', 'true'),
      single('f', 'int', '-7'),
      single('g', 'timestamp', '2026-01-01T00:00:00Z'),
    ])
  })

  const constant = (fields: string): string => `constants: { a: { ${fields} } }`
  const INT = 'an int must be a whole number of at most 64 bits in decimal digits'
  const NAME =
    'the name of a constant must consist of a-z, 0-9 and "_", begin with a letter and have at most 64 characters'
  const UINT256 = 'a uint256 must be a whole number in decimal digits or 0x hex, without a sign or separators'
  const ADDRESS = 'an address must be 0x followed by 40 hex digits (EVM), or 32 bytes in base58 (Solana)'
  const DURATION = 'a duration must be whole hours, minutes and seconds of at most a century, for example "36h"'
  const TYPES = 'bool, int, uint256, string, address, duration, timestamp, ether, gwei, sol, lamports'
  test.each([
    ['constants: 5', '1:12 constants must be a mapping'],
    ['constants: { a: 5 }', '1:17 a must be a mapping'],
    ['constants: { A: { type: int, value: 5 } }', `1:17 ${NAME}`],
    [constant('value: 5'), '1:17 the constant has no type'],
    [constant('type: int'), '1:17 the constant has no value'],
    [constant('type: float, value: 5'), `1:25 a constant's type must be one of ${TYPES}`],
    [constant('type: int, value: 5, unit: x'), '1:40 "unit" is not a key of a constant; valid keys: type, value'],
    [constant('type: int, value: 1.5'), `1:37 ${INT}`],
    [constant('type: int, value: 9223372036854775808'), `1:37 ${INT}`],
    [constant('type: bool, value: yes'), '1:38 a bool must be true or false'],
    [constant('type: uint256, value: -1'), `1:41 ${UINT256}`],
    [constant('type: address, value: 0x00'), `1:41 ${ADDRESS}`],
    [constant('type: duration, value: 1d'), `1:42 ${DURATION}`],
    [constant('type: string, value: []'), '1:40 the list is empty'],
    [constant('type: string, value: [x, { y: 1 }]'), '1:44 a value must be text, a number, true or false'],
    [constant('type: string, value: null'), '1:40 a value must be text, a number, true or false'],
    [constant(`type: string, value: [${'x, '.repeat(128)}x]`), '1:40 a list can have at most 128 elements'],
    [constant(`type: string, value: ${'x'.repeat(257)}`), '1:40 a string can have at most 256 characters'],
  ])('%s', (text, expected) => expect(mistake(text)).toBe(expected))
})

describe('abi', () => {
  test('accepts text and JSON, and ignores items other than functions', () => {
    const { abi } = read(`abi:
  - function transfer(address to, uint amount) returns (bool)
  - { type: function, name: submit, stateMutability: payable,
      inputs: [{ name: order, type: "tuple[]", components: [{ name: maker, type: address, internalType: address }] }] }
  - { type: event, name: Transfer, inputs: [] }
  - { type: constructor, inputs: [] }
`)
    const orders = { name: 'order', type: 'tuple[]', components: [{ name: 'maker', type: 'address' }] }
    const to = { name: 'to', type: 'address' }
    expect(abi).toMatchObject([
      { name: 'transfer', inputs: [to, { name: 'amount', type: 'uint256' }] },
      { name: 'submit', inputs: [orders], stateMutability: 'payable' },
    ])
    expect(JSON.stringify(abi)).not.toContain('internalType')
  })

  const UNUSABLE = 'cannot be used in an expression: rename the parameter'
  const inputs = (value: string): string => `abi: [{ type: function, name: f, inputs: ${value} }]`
  const QUOTE = 'in a list with brackets, quote a signature that contains a comma'
  const pair = 'abi: ["function f(uint x)", "function f(uint256 y)"]'
  test.each([
    ['abi: function f()', '1:6 abi must be a list'],
    ['abi: [5]', '1:7 a function must be text or an item of a JSON ABI'],
    ['abi: [[]]', '1:7 a function must be text or an item of a JSON ABI'],
    ['abi: ["function f(address to"]', `1:29 expected ")": ${QUOTE}`],
    ['abi:\n  - function f(\n      address to,\n      uint256 uint256 x)', '4:23 expected ")"'],
    ['abi: ["function f(word x)"]', '1:7 f: unknown type word'],
    ['abi: ["function f(uint7 x)"]', '1:7 f: unknown type uint7'],
    ['abi: ["function f(bytes33 x)"]', '1:7 f: unknown type bytes33'],
    ['abi: ["function f(fixed128x18 x)"]', '1:7 f: unknown type fixed128x18'],
    ['abi: ["function f(() x)"]', '1:7 f: a tuple has no components'],
    ['abi: ["function f(uint256 in)"]', `1:7 "in" ${UNUSABLE}`],
    ['abi: ["function f(uint256 $x)"]', `1:7 "$x" ${UNUSABLE}`],
    ['abi: ["function f(uint256 constructor)"]', `1:7 "constructor" ${UNUSABLE}`],
    ['abi: ["function f(uint256 a, uint256 a)"]', '1:7 f has two parameters "a": rename one of them'],
    [pair, '1:29 f(uint256) and f(uint256) cannot be distinguished by their data'],
    ['abi: [{ type: function, inputs: [] }]', '1:7 the function has no name'],
    ['abi: [{ type: method, name: f }]', '1:15 each item of an abi must be a function'],
    [inputs('5'), '1:42 inputs must be a list'],
    [inputs('[5]'), '1:42 inputs must be a list of parameters with name and type'],
    [inputs('[{ name: x }]'), '1:43 the parameter has no type'],
    [inputs('[{ name: "a b", type: bool }]'), '1:51 this is not a valid parameter name'],
    ['abi: [{ type: function, name: "f()", inputs: [] }]', '1:31 name is not a valid function name'],
    [`abi: ["function f(${'('.repeat(10)}bool x${')'.repeat(10)} x)"]`, '1:7 f: its types are nested too deeply'],
    [`abi: ["function f(bool${'[]'.repeat(10)} x)"]`, '1:7 f: its types are nested too deeply'],
    [`abi: [${'"function f(bool x)", '.repeat(513)}]`, '1:6 an abi can have at most 512 functions'],
  ])('%s', (text, expected) => expect(mistake(text)).toBe(expected))

  test('has at most 4,096 parameters in total', () => {
    const abiOf = (...counts: readonly number[]): string =>
      `abi: ${JSON.stringify(counts.map((count, at) => `function f${at}(${Array(count).fill('bool')})`))}`
    compilePolicy(`name: P\nrules: []\n${abiOf(1_024, 1_024, 1_024, 1_024)}`)
    expect(mistake(abiOf(1_024, 1_024, 1_024, 1_025))).toEndWith('the abi has more than 4096 parameters')
  })
})

describe('idl', () => {
  const argument = (type: string): string =>
    `idl: { instructions: [{ name: a, args: [{ name: x, type: ${type} }] }], types: [{ name: Y, type: ${RECURSIVE} }] }`
  const RECURSIVE = '{ kind: struct, fields: [{ name: x, type: { defined: Y } }] }'
  test.each([
    ['idl: 5', 'idl must be the content of an Anchor IDL file'],
    ['idl: {}', 'the idl has no instructions'],
    ['idl: { instructions: 5 }', 'instructions is not a list'],
    ['idl: { instructions: [5] }', '`instructions` contains an entry that is not an instruction'],
    ['idl: { instructions: [{ args: [] }] }', 'an instruction has no name'],
    ['idl: { instructions: [{ name: a, discriminator: [1] }] }', 'the discriminator of a must be eight bytes'],
    [argument('u7'), 'unknown type u7'],
    [argument('{ defined: X }'), 'the type X is not defined'],
    [argument('{ defined: Y }'), 'its types are nested too deeply'],
    [argument('{ coption: u8 }'), 'the type {"coption":"u8"} is not supported'],
    [argument('constructor'), 'unknown type constructor'],
  ])('%s', (text, expected) => expect(mistake(text)).toBe(`1:6 the idl cannot be used: ${expected}`))
})

describe('reads', () => {
  test('define the queries of the collector', () => {
    const { reads } = read(`reads:
  gas: { kind: native-balance, chain: base }
  badge: { kind: erc1155-balance, contract: ${CONTRACT}, token_id: 0x10, of: target.address }
  tier:
    kind: view
    contract: ${CONTRACT}
    function: function tierOf(address who, uint256 min, bytes4 kind, bool strict) view returns (uint8)
    arguments: [wallet.address, tx.value, 0xDEADBEEF, true]
`)
    expect(reads.map(({ name, type }) => `${name} ${type}`)).toEqual(['gas uint256', 'badge uint256', 'tier uint256'])
    const fact = (name: string) => ({ kind: 'request', fact: name }) as const
    expect(reads.map(({ definition }) => definition)).toMatchObject([
      { kind: 'native-balance', chain: 'base', of: fact('wallet.address') },
      { tokenId: '16', of: fact('target.address') },
      {
        contract: CONTRACT.toLowerCase(),
        arguments: [
          fact('wallet.address'),
          fact('tx.value'),
          { kind: 'literal', value: '0xdeadbeef' },
          { kind: 'literal', value: true },
        ],
      },
    ])
    expect(Object.keys(reads[0]?.definition ?? {})).toEqual(['kind', 'chain', 'of'])
  })

  const ONE_VALUE = '1:91 the function must return one value: a number, an address, a bool, a string or bytes'
  const view = (fragment: string, args = '[]'): string =>
    `reads: { a: { kind: view, contract: ${CONTRACT}, function: "${fragment}", arguments: ${args} } }`
  const takes = (type: string, args?: string): string => view(`function f(${type} x) view returns (bool)`, args)
  const readOf = (fields: string): string => `reads: { a: { ${fields} } }`
  const NAME = 'the name of a read must consist of a-z, 0-9 and "_", begin with a letter and have at most 64 characters'
  const UINT256 = 'a uint256 must be a whole number in decimal digits or 0x hex, without a sign or separators'
  const KINDS = 'native-balance, token-balance, erc721-owner, erc1155-balance, view'
  const OF = 'of must be wallet.address, onBehalf.address, target.address or an address'
  const HEX = 'a contract must be 0x followed by 40 hex digits'
  test.each([
    ['reads: []', '1:8 reads must be a mapping'],
    ['reads: { a: 5 }', '1:13 a must be a mapping'],
    ['reads: { a-b: { kind: native-balance } }', `1:15 ${NAME}`],
    ['reads: { a: {} }', '1:13 the read has no kind'],
    [readOf('kind: balance'), `1:21 a read's kind must be one of ${KINDS}`],
    [
      readOf('kind: native-balance, contract: 0x00'),
      '1:37 "contract" is not a key of a read; valid keys: kind, chain, of',
    ],
    [readOf('kind: token-balance'), '1:13 the read has no contract'],
    [readOf('kind: token-balance, contract: 0x00'), `1:46 ${HEX}`],
    [readOf(`kind: token-balance, contract: "0x${'0'.repeat(40)}"`), `1:46 ${HEX}`],
    [readOf('kind: native-balance, of: tx.value'), `1:41 ${OF}`],
    [readOf('kind: native-balance, chain: Base'), '1:44 chain must be the name of a chain'],
    [readOf(`kind: erc721-owner, contract: ${CONTRACT}`), '1:13 the read has no token_id'],
    [view('function f() view'), ONE_VALUE],
    [view('function f() view returns (bool, bool)'), ONE_VALUE],
    [view('function f() view returns (int256)'), ONE_VALUE],
    [view('function f() view returns (uint256[])'), ONE_VALUE],
    [takes('uint8'), '1:145 the function takes 1 arguments'],
    [takes('uint8', '[wallet.address]'), '1:146 wallet.address is not of type uint8'],
    [takes('uint8', '[abc]'), `1:146 ${UINT256}`],
    [takes('bytes4', '[0xabcdef]'), '1:147 this is not of type bytes4, or reads do not support that type'],
    [takes('uint8[]', '[1]'), '1:148 this is not of type uint8[], or reads do not support that type'],
    [takes('bool', '[[]]'), '1:145 an argument must be text, a number, true or false'],
  ])('%s', (text, expected) => expect(mistake(text)).toBe(expected))
})

const WALLET = '0x00000000000000000000000000000000000000b2'

describe('tests', () => {
  test('are read with each field', () => {
    const { tests } = read(`reads: { balance: { kind: native-balance } }
tests:
  - name: everything
    request:
      { from: "${WALLET.toUpperCase().replace('0X', '0x')}", chain: base, to: "${CONTRACT}", msg_value: 1.5 gwei, data: 0xAB,
        user_ip: 192.0.2.1, time: "2026-01-02T00:00:00Z" }
    facts:
      client: { country: CH, region: CH-ZH, vpn: true }
      identity: { verified: true, type: business, level: 3, verified_at: "2026-01-01T00:00:00Z" }
      screeners: { stub: { flagged: false, score: -2, categories: [a] } }
      reads: { balance: 2 ether }
      velocity: { 24h: { count: 3, value: 1 ether }, 60m: {} }
      lists: { a: ["${CONTRACT}"], b: { addresses: [], age: 2h } }
    verdict: allow
    rule: default
  - { request: { from: 4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T, chain: solana }, verdict: deny }
`)
    expect(tests[0]).toEqual({
      name: 'everything',
      request: {
        chain: { name: 'base', family: 'evm', chainId: 8453 },
        from: parseEvmAddress(WALLET)!,
        to: parseEvmAddress(CONTRACT)!,
        onBehalf: '',
        value: '1500000000',
        data: '0xAB',
        userIp: '192.0.2.1',
        nowSeconds: 1_767_312_000,
      },
      external: {
        // The test does not set the other sources.
        ...Object.fromEntries(FACT_SOURCES.map(({ part }) => [part, null])),
        geography: {
          country: 'CH',
          region: 'CH-ZH',
          anonymous: null,
          vpn: true,
          proxy: null,
          tor: null,
          hosting: null,
        },
        identity: { verified: true, type: 'business', level: 3, verifiedAtSeconds: 1_767_225_600 },
        identityDetails: { country: null, age: null },
        screeners: { stub: { flagged: false, score: -2, categories: ['a'] } },
        reads: { balance: '2000000000000000000' },
        velocity: { '3600': { count: 0, value: '0' }, '86400': { count: 3, value: '1000000000000000000' } },
      },
      lists: { a: { addresses: [CONTRACT.toLowerCase()], ageSeconds: 0 }, b: { addresses: [], ageSeconds: 7_200 } },
      expected: { outcome: 'allow', ruleId: null },
    })
    const solana = { chain: { name: 'solana', family: 'solana' }, to: SOLANA_ZERO_ADDRESS }
    expect(tests[1]).toMatchObject({
      name: 'test 2',
      request: { ...solana, value: '0', data: '0x', userIp: '' },
      lists: {},
      expected: { outcome: 'deny', ruleId: undefined },
    })
  })

  test.each([
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['"0x10"', 16],
  ])('read the chain id %s exactly', (text, chainId) => {
    const { tests } = read(`tests: [{ request: { from: "${WALLET}", chain: mine, chain_id: ${text} }, verdict: deny }]`)
    expect(tests[0]?.request?.chain).toEqual({ name: 'mine', family: 'evm', chainId })
  })

  const testOf = (text: string): string => `tests: [{ ${text} }]`
  const request = `request: { from: "${WALLET}" }`
  const withRequest = (fields: string): string => testOf(`request: { from: "${WALLET}", ${fields} }, verdict: deny`)
  const withFacts = (facts: string): string => testOf(`${request}, verdict: deny, facts: { ${facts} }`)
  const verified = (fields: string): string => withFacts(`identity: { verified: true, ${fields} }`)
  const REQUEST_KEYS = 'from, on_behalf, chain, chain_id, to, msg_value, data, user_ip, time'
  const IDENTITY_KEYS = 'verified, type, level, verified_at, country, age'
  const TIMESTAMP = 'a timestamp must be in RFC 3339 format in whole seconds, for example "2026-01-31T00:00:00Z"'
  const AMOUNT = 'an amount must be a number, or a number and one of ether, gwei, sol, lamports'
  const groups = [...new Set(FACT_SOURCES.map(({ group }) => group)), 'screeners', 'reads', 'velocity', 'lists']
  const VELOCITY = 'write velocity per window in h, m or s: velocity: { 24h: { count: 3, value: 1 ether } }'
  test.each([
    ['tests: 5', '8 tests must be a list'],
    ['tests: [5]', '9 a test must be a mapping with name, request, facts, verdict, rule'],
    [testOf('verdict: deny'), '9 the test has no request'],
    [testOf('request: {}, verdict: deny'), '20 the request has no "from"'],
    [testOf('request: { from: 0x00 }, verdict: deny'), '28 an address must be 0x followed by 40 hex digits'],
    [testOf('request: { from: abc, chain: solana }, verdict: deny'), '28 an address must be 32 bytes in base58'],
    [withRequest('chain: mine'), '81 a chain that is not built in also needs a chain_id'],
    [withRequest('chain: mine, chain_id: 9007199254740993'), '97 the number must be at most 9007199254740991'],
    [withRequest('value: 1'), `74 "value" is not a key of a request; valid keys: ${REQUEST_KEYS}`],
    [withRequest('msg_value: 1 eth'), `85 ${AMOUNT}`],
    [withRequest('data: 0xa'), '80 data must be 0x followed by an even number of hex digits, at most 64 KiB'],
    [withRequest('time: yesterday'), `80 ${TIMESTAMP}`],
    [testOf(request), '9 the test has no verdict'],
    [testOf(`${request}, verdict: maybe`), '85 verdict must be one of allow, deny, failure'],
    [testOf(`${request}, verdict: deny, rule: gone`), '97 unknown rule "gone"'],
    [testOf(`${request}, verdict: failure, rule: default`), '100 unknown rule "default"'],
    [withFacts('ip: 1'), `100 "ip" is not a key of facts; valid keys: ${groups.join(', ')}`],
    [withFacts('client: { country: Cuba }'), '119 a country must be two capital letters (ISO 3166-1)'],
    [withFacts('client: { vpn: maybe }'), '115 vpn must be true or false'],
    [withFacts('identity: { level: 1 }'), '110 the identity has no field verified'],
    [verified('level: 4'), '135 level must be 1, 2 or 3'],
    [verified('country: CH'), '137 country and age must be given together'],
    [verified('age: 30'), '133 country and age must be given together'],
    [verified('country: ch, age: 30'), '137 a country must be two capital letters (ISO 3166-1)'],
    [verified('country: CH, age: 151'), '146 age must be 0 to 150'],
    [verified('zodiac: 1'), `128 "zodiac" is not a key of identity; valid keys: ${IDENTITY_KEYS}`],
    [withFacts('reads: { x: 1 }'), '112 unknown read "x"'],
    [withFacts('velocity: { 1d: {} }'), `116 ${VELOCITY}`],
    [withFacts('velocity: { 24h: 3 }'), `117 ${VELOCITY}`],
    [withFacts('velocity: { count: { 24h: 3 } }'), `119 ${VELOCITY}`],
    [withFacts('24h: { count: 3 }'), `105 ${VELOCITY}`],
    [withFacts('lists: { a: [0x00] }'), '112 a list can contain only addresses'],
    [withFacts('screeners: { s: { score: 1.5 } }'), '125 a score must be a whole number'],
  ])('%s', (text, expected) => expect(mistake(text)).toBe(`1:${expected}`))
})

const UNAVAILABLE = 'failure by rule listed: list members is not available'
describe('a draft', () => {
  const policy = `name: P
rules:
  - { id: limit, deny: tx.value > ether(1), code: LIMIT }
  - { id: listed, require: 'in_list(wallet.address, "members")' }
tests:
  - name: too much
    request: { from: "${WALLET}", msg_value: 2 ether }
    verdict: deny
    rule: limit
`
  test('runs the tests', () => expect(draftRevision(policy).tests).toEqual([{ name: 'too much', failure: null }]))

  const large = `request: { from: "${WALLET}", msg_value: 2 ether }`
  const small = `request: { from: "${WALLET}" }`
  test.each([
    [`{ name: a, ${large}, verdict: allow }`, 'expected allow, got deny by rule limit'],
    [`{ name: a, ${large}, verdict: deny, rule: listed }`, 'expected deny by rule listed, got deny by rule limit'],
    [`{ name: a, ${small}, verdict: deny, rule: default }`, `expected deny by default, got ${UNAVAILABLE}`],
    [`{ name: a, ${large}, verdict: failure }`, 'expected failure, got deny by rule limit'],
  ])('is refused at its failing test %s', (text, message) => {
    const source = `${policy}  - ${text}\n`
    const issues = issuesOf(() => draftRevision(source))
    expect(issues).toEqual([{ line: 10, column: 5, message: `a: ${message}`, pointer: '/tests/1' }])
    // A stored revision is compiled without its tests.
    expect(compilePolicy(source).document.tests).toHaveLength(2)
  })

  test('is refused for an unknown list if the lists are known', () => {
    const known = { lists: new Set(['sanctions', 'vips']) }
    const message =
      'unknown list "members"; known lists: sanctions, vips. To create it, run countersign list create members'
    expect(issuesOf(() => draftRevision(policy, known))[0]).toMatchObject({ line: 4, message })
    expect(draftRevision(policy, { lists: new Set(['members']) }).compiled.needs).toHaveLength(1)
  })
})

test('kinds, answer parts, and names of facts and test keys are unique per source', () => {
  const parameterized = ['list', 'screener', 'read', 'velocity', 'lists', 'screeners', 'reads']
  const inGroups = (member: 'fields' | 'testSchema') =>
    FACT_SOURCES.flatMap(({ group, fields, testSchema }) =>
      Object.keys(member === 'fields' ? fields : (testSchema['properties'] as object)).map(
        (name) => `${group}.${name}`,
      ),
    )
  expect(FACT_SOURCES.filter(({ group }) => parameterized.includes(group))).toEqual([])
  for (const names of [
    [...parameterized, ...FACT_SOURCES.map(({ kind }) => kind)],
    [...parameterized, ...FACT_SOURCES.map(({ part }) => part)],
    inGroups('fields'),
    inGroups('testSchema'),
  ])
    expect(new Set(names).size).toBe(names.length)
})

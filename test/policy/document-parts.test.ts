// The parts of a document beside its rules: constants, abi, idl, reads and tests. Every wrong shape is refused where it
// stands.
import { describe, expect, test } from 'bun:test'
import { parseEvmAddress, SOLANA_ZERO_ADDRESS } from '../../src/domain/address.ts'
import { compilePolicy } from '../../src/policy/cel/compile.ts'
import { parsePolicyDocument } from '../../src/policy/document/document.ts'
import { draftRevision } from '../../src/policy/revision.ts'
import { FACT_SOURCES } from '../../src/policy/sources/all.ts'
import { issuesOf } from './support.ts'

const CONTRACT = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
const read = (text: string) => parsePolicyDocument(`name: P\nrules: []\n${text}`)
/** `line:column message` of the first mistake, lines counted from the part's own first. */
const mistake = (text: string): string => {
  const [issue] = issuesOf(() => compilePolicy(`name: P\nrules: []\n${text}`))
  return issue === undefined ? '' : `${issue.line - 2}:${issue.column} ${issue.message}`
}

describe('constants', () => {
  test('are kept as they are written', () => {
    const { constants } = read(`constants:
  a: { type: address, value: ${CONTRACT} }
  b: { type: uint256, value: 115792089237316195423570985008687907853269984665640564039457584007913129639935 }
  c: { type: string, value: [CU, "IR"] }
  d: { type: ether, value: 1.50 }
  e: { type: bool, value: true }
  f: { type: int, value: -7 }
  g: { type: timestamp, value: 2026-01-01T00:00:00Z }
`)
    expect(constants).toEqual([
      { name: 'a', type: 'address', values: [CONTRACT], isList: false },
      {
        name: 'b',
        type: 'uint256',
        values: ['115792089237316195423570985008687907853269984665640564039457584007913129639935'],
        isList: false,
      },
      { name: 'c', type: 'string', values: ['CU', 'IR'], isList: true },
      { name: 'd', type: 'ether', values: ['1.50'], isList: false },
      { name: 'e', type: 'bool', values: ['true'], isList: false },
      { name: 'f', type: 'int', values: ['-7'], isList: false },
      { name: 'g', type: 'timestamp', values: ['2026-01-01T00:00:00Z'], isList: false },
    ])
  })

  test.each([
    ['constants: 5', '1:12 constants must be a mapping'],
    ['constants: { a: 5 }', '1:17 a must be a mapping'],
    [
      'constants: { A: { type: int, value: 5 } }',
      '1:17 the name of a constant must consist of a-z, 0-9 and "_", begin with a letter and have at most 64 characters',
    ],
    ['constants: { a: { value: 5 } }', '1:17 the constant has no type'],
    ['constants: { a: { type: int } }', '1:17 the constant has no value'],
    [
      'constants: { a: { type: float, value: 5 } }',
      `1:25 a constant's type must be one of bool, int, uint256, string, address, duration, timestamp, ether, gwei, sol, lamports`,
    ],
    [
      'constants: { a: { type: int, value: 5, unit: x } }',
      '1:40 "unit" is not a key of a constant; valid keys: type, value',
    ],
    [
      'constants: { a: { type: int, value: 1.5 } }',
      '1:37 an int must be a whole number of at most 64 bits in decimal digits',
    ],
    [
      'constants: { a: { type: int, value: 9223372036854775808 } }',
      '1:37 an int must be a whole number of at most 64 bits in decimal digits',
    ],
    ['constants: { a: { type: bool, value: yes } }', '1:38 a bool must be true or false'],
    [
      'constants: { a: { type: uint256, value: -1 } }',
      '1:41 a uint256 must be a whole number in decimal digits or 0x hex, without sign or separators',
    ],
    [
      'constants: { a: { type: address, value: 0x00 } }',
      '1:41 an address must be 0x followed by 40 hex digits (EVM), or 32 bytes in base58 (Solana)',
    ],
    [
      'constants: { a: { type: duration, value: 1d } }',
      '1:42 a duration must be whole hours, minutes and seconds of at most a century, for example "36h"',
    ],
    ['constants: { a: { type: string, value: [] } }', '1:40 the list is empty'],
    ['constants: { a: { type: string, value: [x, { y: 1 }] } }', '1:44 a value must be text, a number, true or false'],
    ['constants: { a: { type: string, value: null } }', '1:40 a value must be text, a number, true or false'],
    [`constants: { a: { type: string, value: [${'x, '.repeat(128)}x] } }`, '1:40 a list can have at most 128 elements'],
    [`constants: { a: { type: string, value: ${'x'.repeat(257)} } }`, '1:40 a string can have at most 256 characters'],
    [
      `constants: {${Array.from({ length: 129 }, (_, i) => `a${i}: {type: int, value: 1}`).join(', ')}}`,
      '1:12 a policy can have at most 128 constants',
    ],
  ])('%s', (text, expected) => {
    expect(mistake(text)).toBe(expected)
  })
})

describe('abi', () => {
  test('takes words and JSON, and passes over what is no function', () => {
    const { abi } = read(`abi:
  - function transfer(address to, uint amount) returns (bool)
  - { type: function, name: submit, stateMutability: payable,
      inputs: [{ name: order, type: "tuple[]", components: [{ name: maker, type: address, internalType: address }] }] }
  - { type: event, name: Transfer, inputs: [] }
  - { type: constructor, inputs: [] }
`)
    expect(abi.map(({ name, inputs }) => ({ name, inputs }))).toEqual([
      {
        name: 'transfer',
        inputs: [
          { name: 'to', type: 'address' },
          { name: 'amount', type: 'uint256' },
        ],
      },
      {
        name: 'submit',
        inputs: [{ name: 'order', type: 'tuple[]', components: [{ name: 'maker', type: 'address' }] }],
      },
    ])
    expect(abi[1]?.stateMutability).toBe('payable')
  })

  test.each([
    ['abi: function f()', '1:6 abi must be a list'],
    ['abi: [5]', '1:7 a function must be text or an item of a JSON ABI'],
    ['abi: [[]]', '1:7 a function must be text or an item of a JSON ABI'],
    [
      'abi: ["function f(address to"]',
      '1:29 expected ")": in a list with brackets, quote a signature that contains a comma',
    ],
    ['abi:\n  - function f(\n      address to,\n      uint256 uint256 x)', '4:23 expected ")"'],
    ['abi: ["function f(word x)"]', '1:7 f: unknown type word'],
    ['abi: ["function f(uint7 x)"]', '1:7 f: unknown type uint7'],
    ['abi: ["function f(bytes33 x)"]', '1:7 f: unknown type bytes33'],
    ['abi: ["function f(fixed128x18 x)"]', '1:7 f: unknown type fixed128x18'],
    ['abi: ["function f(() x)"]', '1:7 f: a tuple has no components'],
    ['abi: ["function f(uint256 in)"]', '1:7 "in" cannot be used in an expression: rename the parameter'],
    ['abi: ["function f(uint256 $x)"]', '1:7 "$x" cannot be used in an expression: rename the parameter'],
    [
      'abi: ["function f(uint256 constructor)"]',
      '1:7 "constructor" cannot be used in an expression: rename the parameter',
    ],
    ['abi: ["function f(uint256 a, uint256 a)"]', '1:7 f has two parameters "a": rename one of them'],
    [
      'abi: ["function f(uint x)", "function f(uint256 y)"]',
      '1:29 f(uint256) and f(uint256) cannot be distinguished by their data',
    ],
    ['abi: [{ type: function, inputs: [] }]', '1:7 the function has no name'],
    ['abi: [{ type: method, name: f }]', '1:15 each item of an abi must be a function'],
    ['abi: [{ type: function, name: f, inputs: 5 }]', '1:42 inputs must be a list'],
    ['abi: [{ type: function, name: f, inputs: [5] }]', '1:42 inputs must be a list of parameters with name and type'],
    ['abi: [{ type: function, name: f, inputs: [{ name: x }] }]', '1:43 the parameter has no type'],
    [
      'abi: [{ type: function, name: f, inputs: [{ name: "a b", type: bool }] }]',
      '1:51 this is not a valid parameter name',
    ],
    ['abi: [{ type: function, name: "f()", inputs: [] }]', '1:31 name is not a valid function name'],
    [`abi: ["function f(${'('.repeat(10)}bool x${')'.repeat(10)} x)"]`, '1:7 f: its types are nested too deeply'],
    [`abi: ["function f(bool${'[]'.repeat(10)} x)"]`, '1:7 f: its types are nested too deeply'],
    [`abi: [${'"function f(bool x)", '.repeat(513)}]`, '1:6 an abi can have at most 512 functions'],
  ])('%s', (text, expected) => {
    expect(mistake(text)).toBe(expected)
  })

  test('has at most 4,096 parameters in total', () => {
    const abiOf = (...counts: readonly number[]): string =>
      `abi: ${JSON.stringify(counts.map((count, at) => `function f${at}(${Array(count).fill('bool')})`))}`
    compilePolicy(`name: P\nrules: []\n${abiOf(1_024, 1_024, 1_024, 1_024)}`)
    expect(mistake(abiOf(1_024, 1_024, 1_024, 1_025))).toEndWith('the abi has more than 4096 parameters')
  })
})

describe('idl', () => {
  test.each([
    ['idl: 5', '1:6 the idl cannot be used: idl must be the content of an Anchor IDL file'],
    ['idl: {}', '1:6 the idl cannot be used: the idl has no instructions'],
    ['idl: { instructions: 5 }', '1:6 the idl cannot be used: instructions is not a list'],
    [
      'idl: { instructions: [5] }',
      '1:6 the idl cannot be used: `instructions` contains an entry that is not an instruction',
    ],
    ['idl: { instructions: [{ args: [] }] }', '1:6 the idl cannot be used: an instruction has no name'],
    [
      'idl: { instructions: [{ name: a, discriminator: [1] }] }',
      '1:6 the idl cannot be used: the discriminator of a must be eight bytes',
    ],
    [
      'idl: { instructions: [{ name: a, args: [{ name: x, type: u7 }] }] }',
      '1:6 the idl cannot be used: unknown type u7',
    ],
    [
      'idl: { instructions: [{ name: a, args: [{ name: x, type: { defined: X } }] }] }',
      '1:6 the idl cannot be used: the type X is not defined',
    ],
    [
      'idl: { instructions: [{ name: a, args: [{ name: x, type: { defined: X } }] }], types: [{ name: X, type: { kind: struct, fields: [{ name: x, type: { defined: X } }] } }] }',
      '1:6 the idl cannot be used: its types are nested too deeply',
    ],
    [
      'idl: { instructions: [{ name: a, args: [{ name: x, type: { coption: u8 } }] }] }',
      '1:6 the idl cannot be used: the type {"coption":"u8"} is not supported',
    ],
    [
      'idl: { instructions: [{ name: a, args: [{ name: x, type: constructor }] }] }',
      '1:6 the idl cannot be used: unknown type constructor',
    ],
  ])('%s', (text, expected) => {
    expect(mistake(text)).toBe(expected)
  })
})

describe('reads', () => {
  test('are what a collector is asked for', () => {
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
    expect(reads[0]?.definition).toEqual({
      kind: 'native-balance',
      chain: 'base',
      of: { kind: 'request', fact: 'wallet.address' },
    })
    expect(reads[1]?.definition).toMatchObject({ tokenId: '16', of: { kind: 'request', fact: 'target.address' } })
    expect(reads[2]?.definition).toMatchObject({
      contract: CONTRACT.toLowerCase(),
      arguments: [
        { kind: 'request', fact: 'wallet.address' },
        { kind: 'request', fact: 'tx.value' },
        { kind: 'literal', value: '0xdeadbeef' },
        { kind: 'literal', value: true },
      ],
    })
  })

  const ONE_VALUE = '1:91 the function must return one value: a number, an address, a bool, a string or bytes'
  const view = (fragment: string, args = '[]'): string =>
    `reads: { a: { kind: view, contract: ${CONTRACT}, function: "${fragment}", arguments: ${args} } }`
  test.each([
    ['reads: []', '1:8 reads must be a mapping'],
    ['reads: { a: 5 }', '1:13 a must be a mapping'],
    [
      'reads: { a-b: { kind: native-balance } }',
      '1:15 the name of a read must consist of a-z, 0-9 and "_", begin with a letter and have at most 64 characters',
    ],
    ['reads: { a: {} }', '1:13 the read has no kind'],
    [
      'reads: { a: { kind: balance } }',
      "1:21 a read's kind must be one of native-balance, token-balance, erc721-owner, erc1155-balance, view",
    ],
    [
      'reads: { a: { kind: native-balance, contract: 0x00 } }',
      '1:37 "contract" is not a key of a read; valid keys: kind, chain, of',
    ],
    ['reads: { a: { kind: token-balance } }', '1:13 the read has no contract'],
    ['reads: { a: { kind: token-balance, contract: 0x00 } }', '1:46 a contract must be 0x followed by 40 hex digits'],
    [
      `reads: { a: { kind: token-balance, contract: "0x${'0'.repeat(40)}" } }`,
      '1:46 a contract must be 0x followed by 40 hex digits',
    ],
    [
      'reads: { a: { kind: native-balance, of: tx.value } }',
      '1:41 of must be wallet.address, onBehalf.address, target.address or an address',
    ],
    ['reads: { a: { kind: native-balance, chain: Base } }', '1:44 chain must be the name of a chain'],
    [`reads: { a: { kind: erc721-owner, contract: ${CONTRACT} } }`, '1:13 the read has no token_id'],
    [view('function f() view'), ONE_VALUE],
    [view('function f() view returns (bool, bool)'), ONE_VALUE],
    [view('function f() view returns (int256)'), ONE_VALUE],
    [view('function f() view returns (uint256[])'), ONE_VALUE],
    [view('function f(uint8 x) view returns (bool)'), '1:145 the function takes 1 arguments'],
    [view('function f(uint8 x) view returns (bool)', '[wallet.address]'), '1:146 wallet.address is not of type uint8'],
    [
      view('function f(uint8 x) view returns (bool)', '[abc]'),
      '1:146 a uint256 must be a whole number in decimal digits or 0x hex, without sign or separators',
    ],
    [
      view('function f(bytes4 x) view returns (bool)', '[0xabcdef]'),
      '1:147 this is not of type bytes4, or reads do not support that type',
    ],
    [
      view('function f(uint8[] x) view returns (bool)', '[1]'),
      '1:148 this is not of type uint8[], or reads do not support that type',
    ],
    [view('function f(bool x) view returns (bool)', '[[]]'), '1:145 an argument must be text, a number, true or false'],
  ])('%s', (text, expected) => {
    expect(mistake(text)).toBe(expected)
  })
})

const WALLET = '0x00000000000000000000000000000000000000b2'

describe('tests', () => {
  test('are read whole', () => {
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
        // The test says nothing of the other sources.
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
    expect(tests[1]).toMatchObject({
      name: 'test 2',
      request: {
        chain: { name: 'solana', family: 'solana' },
        to: SOLANA_ZERO_ADDRESS,
        value: '0',
        data: '0x',
        userIp: '',
      },
      lists: {},
      expected: { outcome: 'deny', ruleId: undefined },
    })
  })

  test('give chain ids exactly', () => {
    const chainOf = (chainId: string) =>
      read(`tests: [{ request: { from: "${WALLET}", chain: mine, chain_id: ${chainId} }, verdict: deny }]`).tests[0]
        ?.request?.chain
    expect(chainOf('9007199254740991')).toEqual({ name: 'mine', family: 'evm', chainId: Number.MAX_SAFE_INTEGER })
    expect(chainOf('"0x10"')).toEqual({ name: 'mine', family: 'evm', chainId: 16 })
  })

  const test_ = (text: string): string => `tests: [{ ${text} }]`
  const request = `request: { from: "${WALLET}" }`
  test.each([
    ['tests: 5', '1:8 tests must be a list'],
    ['tests: [5]', '1:9 a test must be a mapping with name, request, facts, verdict, rule'],
    [test_('verdict: deny'), '1:9 the test has no request'],
    [test_('request: {}, verdict: deny'), '1:20 the request has no "from"'],
    [test_('request: { from: 0x00 }, verdict: deny'), '1:28 an address must be 0x followed by 40 hex digits'],
    [test_('request: { from: abc, chain: solana }, verdict: deny'), '1:28 an address must be 32 bytes in base58'],
    [
      test_(`request: { from: "${WALLET}", chain: mine }, verdict: deny`),
      '1:81 a chain that is not built in also needs a chain_id',
    ],
    [
      test_(`request: { from: "${WALLET}", chain: mine, chain_id: 9007199254740993 }, verdict: deny`),
      '1:97 the number must be at most 9007199254740991',
    ],
    [
      test_(`request: { from: "${WALLET}", value: 1 }, verdict: deny`),
      '1:74 "value" is not a key of a request; valid keys: from, on_behalf, chain, chain_id, to, msg_value, data, user_ip, time',
    ],
    [
      test_(`request: { from: "${WALLET}", msg_value: 1 eth }, verdict: deny`),
      '1:85 an amount must be a number, or a number and one of ether, gwei, sol, lamports',
    ],
    [
      test_(`request: { from: "${WALLET}", data: 0xa }, verdict: deny`),
      '1:80 data must be 0x followed by an even number of hex digits, at most 64 KiB',
    ],
    [
      test_(`request: { from: "${WALLET}", time: yesterday }, verdict: deny`),
      '1:80 a timestamp must be in RFC 3339 format in whole seconds, for example "2026-01-31T00:00:00Z"',
    ],
    [test_(request), '1:9 the test has no verdict'],
    [test_(`${request}, verdict: maybe`), '1:85 verdict must be one of allow, deny, failure'],
    [test_(`${request}, verdict: deny, rule: gone`), '1:97 unknown rule "gone"'],
    [test_(`${request}, verdict: failure, rule: default`), '1:100 unknown rule "default"'],
    [
      test_(`${request}, verdict: deny, facts: { ip: 1 }`),
      `1:100 "ip" is not a key of facts; valid keys: ${[...new Set(FACT_SOURCES.map(({ group }) => group)), 'screeners', 'reads', 'velocity', 'lists'].join(', ')}`,
    ],
    [
      test_(`${request}, verdict: deny, facts: { client: { country: Cuba } }`),
      '1:119 a country must be two capital letters (ISO 3166-1)',
    ],
    [test_(`${request}, verdict: deny, facts: { client: { vpn: maybe } }`), '1:115 vpn must be true or false'],
    [test_(`${request}, verdict: deny, facts: { identity: { level: 1 } }`), '1:110 the identity has no field verified'],
    [
      test_(`${request}, verdict: deny, facts: { identity: { verified: true, level: 4 } }`),
      '1:135 level must be 1, 2 or 3',
    ],
    ...[
      ['country: CH', '137 country and age must be given together'],
      ['age: 30', '133 country and age must be given together'],
      ['country: ch, age: 30', '137 a country must be two capital letters (ISO 3166-1)'],
      ['country: CH, age: 151', '146 age must be 0 to 150'],
      [
        'zodiac: 1',
        '128 "zodiac" is not a key of identity; valid keys: verified, type, level, verified_at, country, age',
      ],
    ].map(
      ([text, problem]) =>
        [test_(`${request}, verdict: deny, facts: { identity: { verified: true, ${text} } }`), `1:${problem}`] as const,
    ),
    [test_(`${request}, verdict: deny, facts: { reads: { x: 1 } }`), '1:112 unknown read "x"'],
    ...[
      ['velocity: { 1d: {} }', 116],
      ['velocity: { 24h: 3 }', 117],
      ['velocity: { count: { 24h: 3 } }', 119],
      ['24h: { count: 3 }', 105],
    ].map(
      ([text, column]) =>
        [
          test_(`${request}, verdict: deny, facts: { ${text} }`),
          `1:${column} write velocity per window: velocity: { 24h: { count: 3, value: 1 ether } }`,
        ] as const,
    ),
    [test_(`${request}, verdict: deny, facts: { lists: { a: [0x00] } }`), '1:112 a list can contain only addresses'],
    [
      test_(`${request}, verdict: deny, facts: { screeners: { s: { score: 1.5 } } }`),
      '1:125 a score must be a whole number',
    ],
  ])('%s', (text, expected) => {
    expect(mistake(text)).toBe(expected)
  })
})

describe('saving', () => {
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
  const more = (text: string): string => `${policy}${text}`

  test('runs the tests', () => {
    expect(draftRevision(policy).tests).toEqual([{ name: 'too much', failure: null }])
  })

  test.each([
    [
      `  - name: wrong verdict\n    request: { from: "${WALLET}", msg_value: 2 ether }\n    verdict: allow\n`,
      'wrong verdict: expected allow, got deny by rule limit',
    ],
    [
      `  - name: wrong rule\n    request: { from: "${WALLET}", msg_value: 2 ether }\n    verdict: deny\n    rule: listed\n`,
      'wrong rule: expected deny by rule listed, got deny by rule limit',
    ],
    [
      `  - name: no list\n    request: { from: "${WALLET}" }\n    verdict: deny\n    rule: default\n`,
      'no list: expected deny by default, got failure by rule listed: list members is not available',
    ],
    [
      `  - name: not a failure\n    request: { from: "${WALLET}", msg_value: 2 ether }\n    verdict: failure\n`,
      'not a failure: expected failure, got deny by rule limit',
    ],
  ])('is refused by a failing one, where it stands', (text, message) => {
    const issues = issuesOf(() => draftRevision(more(text)))
    expect(issues).toEqual([{ line: 10, column: 5, message, pointer: '/tests/1' }])
    // A stored revision is compiled without them.
    expect(compilePolicy(more(text)).document.tests).toHaveLength(2)
  })

  test('is refused for a list that is not there, where that is known', () => {
    const known = { lists: new Set(['sanctions', 'vips']) }
    expect(issuesOf(() => draftRevision(policy, known))[0]).toMatchObject({
      line: 4,
      message:
        'unknown list "members"; known lists: sanctions, vips. To create it, run countersign list create members',
    })
    expect(draftRevision(policy, { lists: new Set(['members']) }).compiled.needs).toHaveLength(1)
  })
})

test('no two sources have the same kind, the same place for their answer, or the same name of a fact or of a key in tests', () => {
  const parameterized = ['list', 'screener', 'read', 'velocity', 'lists', 'screeners', 'reads']
  const inGroups = (member: 'fields' | 'properties') =>
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
    inGroups('properties'),
  ]) {
    expect(new Set(names).size).toBe(names.length)
  }
})

// Decoding of attestation requests: accepted fields, refusals in their order, and properties.
import { describe, expect, test } from 'bun:test'
import bs58 from 'bs58'
import fc from 'fast-check'
import { decodeAttestationRequest } from '../../src/attestation/decode-attestation.ts'
import { refuseMisspeltFields } from '../../src/attestation/schema.ts'
import {
  EVM_ZERO_ADDRESS,
  parseEvmAddress,
  parseSolanaAddress,
  SOLANA_ZERO_ADDRESS,
  solanaAddressBytes,
} from '../../src/domain/address.ts'
import { BUILT_IN_CHAINS, createChainTable } from '../../src/domain/chain.ts'
import { type JsonObject, type JsonValue, parseStrictJsonObject } from '../../src/server/strict-json.ts'
import { CONTRACT, invalid, missing, refusalOf, SOLANA_WALLET, WALLET, without } from './fixtures.ts'

const chains = createChainTable()
const PROGRAM = 'GjXtvmWihnf22Bg48srpzYrs6iGhSUvu1tzsf9L4u9Ck'
const HASH = 'x-0123456789abcdef'

const onChain: JsonObject = { from: WALLET, chain: 'base', to: CONTRACT }
const offChain: JsonObject = { from: WALLET, chain: 'base', verification_hash: HASH }
const onSolana: JsonObject = { from: SOLANA_WALLET, chain: 'solana', to: PROGRAM }

const NOW_SECONDS = 1_800_000_000
const decode = (body: JsonObject) => decodeAttestationRequest(body, chains, NOW_SECONDS)
const requestOf = (body: JsonObject) => decode(body).request
const refusal = (body: JsonObject) => refusalOf(() => decode(body))
const detailOf = (body: JsonObject) => refusal(body)?.detail

const ADDRESS_RULE = 'must be an EVM address: 0x followed by 40 hex digits'
const DATA_RULE = 'must be 0x followed by an even number of hex digits'
const VALUE_RULE = 'must be a decimal string of an integer below 2^256'
const IP_RULE = 'must be an IPv4 or IPv6 address'
const HASH_RULE = 'must be 1 to 64 visible ASCII characters'
const SOLANA_ADDRESS_RULE = 'must be a Solana address: 32 bytes in base58'
const LAMPORTS_RULE = 'must be a decimal string of an integer below 2^64'

describe('accepts', () => {
  test('a request with only the required fields', () => {
    expect(decode(onChain)).toEqual({
      request: {
        chain: { name: 'base', family: 'evm', chainId: 8453 },
        from: parseEvmAddress(WALLET)!,
        onBehalf: '',
        to: parseEvmAddress(CONTRACT)!,
        value: '0',
        data: '0x',
        userIp: '',
        nowSeconds: NOW_SECONDS,
      },
      targetBy: 'address',
      targetText: CONTRACT,
      missing: ['data', 'msg_value', 'user_ip'],
    })
  })

  test('a request without a contract', () => {
    const target = { targetBy: 'verification hash', targetText: HASH }
    expect(decode(offChain)).toMatchObject({ ...target, request: { to: EVM_ZERO_ADDRESS } })
    const solana = decode({ from: SOLANA_WALLET, chain: 'solana', verification_hash: HASH })
    expect(solana).toMatchObject({ ...target, request: { to: SOLANA_ZERO_ADDRESS } })
  })

  test('every field', () => {
    const value = '1000000000000000000'
    const body = { ...onChain, data: '0xA9059cbb', msg_value: value, user_ip: '::FFFF:203.0.113.9' }
    const request = { data: '0xA9059cbb', value, userIp: '203.0.113.9' }
    expect(decode(body)).toMatchObject({ request, missing: [] })
  })

  test('Solana addresses without changing their case', () => {
    const value = '18446744073709551615'
    const addresses = { from: parseSolanaAddress(SOLANA_WALLET)!, to: parseSolanaAddress(PROGRAM)! }
    expect(decode({ ...onSolana, msg_value: value })).toMatchObject({
      request: { chain: { name: 'solana', family: 'solana' }, ...addresses, value },
      targetText: PROGRAM,
      missing: ['data', 'user_ip'],
    })
  })

  test.each([...BUILT_IN_CHAINS])('the chain $name', (chain) => {
    const from = chain.family === 'evm' ? WALLET : SOLANA_WALLET
    expect(requestOf({ from, chain: chain.name, verification_hash: HASH }).chain).toEqual(chain)
  })

  test.each([
    ['megaeth_testnet', 'megaeth-testnet'],
    ['ethereum-mainnet', 'ethereum'],
    ['ethereum-sepolia', 'sepolia'],
  ])('the alternative name %s of %s', (alias, name) => {
    expect(requestOf({ ...offChain, chain: alias }).chain.name).toBe(name)
  })

  test('an address in any case as the same address', () => {
    const spellings = [WALLET, WALLET.toLowerCase(), `0x${WALLET.slice(2).toUpperCase()}`]
    expect(new Set(spellings.map((from) => requestOf({ ...onChain, from }).from)).size).toBe(1)
  })

  test('a represented user in any case, or null', () => {
    const onBehalf = parseEvmAddress(CONTRACT)!
    expect(requestOf({ ...onChain, on_behalf: CONTRACT })).toEqual({ ...requestOf(onChain), onBehalf })
    expect(requestOf({ ...onChain, on_behalf: CONTRACT.toLowerCase() }).onBehalf).toBe(onBehalf)
    expect(requestOf({ ...onSolana, on_behalf: PROGRAM }).onBehalf).toBe(parseSolanaAddress(PROGRAM)!)
    expect(requestOf({ ...onChain, on_behalf: null }).onBehalf).toBe('')
  })

  test('a represented user in 32 bytes: an EVM address after twelve zero bytes, or a Solana key', () => {
    const onBehalf = (text: string) => requestOf({ ...onChain, on_behalf: text }).onBehalf
    const key = `0x${Buffer.from(solanaAddressBytes(parseSolanaAddress(PROGRAM)!)).toString('hex')}`
    expect(onBehalf(`0x${'00'.repeat(12)}${CONTRACT.slice(2)}`)).toBe(parseEvmAddress(CONTRACT)!)
    expect(onBehalf(key)).toBe(parseSolanaAddress(PROGRAM)!)
    expect(onBehalf(`0x${key.slice(2).toUpperCase()}`)).toBe(parseSolanaAddress(PROGRAM)!)
    // A key can begin with eleven zero bytes.
    const eleven = `0x${'00'.repeat(11)}01${CONTRACT.slice(2)}`
    expect(onBehalf(eleven)).toBe(parseSolanaAddress(bs58.encode(Buffer.from(eleven.slice(2), 'hex')))!)
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        const address = onBehalf(`0x${Buffer.from(bytes).toString('hex')}`)
        const padded = address.startsWith('0x') ? [...Buffer.alloc(12), ...Buffer.from(address.slice(2), 'hex')] : null
        expect(padded ?? [...bs58.decode(address)]).toEqual([...bytes])
      }),
    )
  })

  test.each<[string, JsonObject, JsonObject]>([
    ['unknown fields', onChain, { policy_id: null, nonce: 1, constructor: {} }],
    ['null for optional fields', onChain, { data: null, msg_value: null, user_ip: null, verification_hash: null }],
    ['null for the address', offChain, { data: null, msg_value: null, user_ip: null, to: null }],
    ['an empty verification hash', onChain, { verification_hash: '' }],
    ['an empty address', offChain, { to: '' }],
  ])('%s', (_name, body, fields) => expect(decode({ ...body, ...fields })).toEqual(decode(body)))

  test.each(['0x', '0xAbCd', `0x${'aB'.repeat(65_536)}`])('data without changing its case: %s', (data) => {
    expect(requestOf({ ...onChain, data }).data).toBe(data)
  })

  test.each([
    ['0', '0'],
    ['1', '1'],
    [(2n ** 256n - 1n).toString(), (2n ** 256n - 1n).toString()],
    ['0x0', '0'],
    ['0x00ff', '255'],
    ['0xFf', '255'],
    [`0x${'f'.repeat(64)}`, (2n ** 256n - 1n).toString()],
  ])('msg_value %s is %s', (sent, value) => expect(requestOf({ ...onChain, msg_value: sent }).value).toBe(value))

  test('a verification hash of 64 bytes', () => {
    expect(decode({ ...offChain, verification_hash: '~'.repeat(64) }).targetText).toBe('~'.repeat(64))
  })
})

describe('reports as missing', () => {
  const absent = [undefined, null, '']
  test.each(['from', 'chain'])('%s: absent, null or empty', (field) => {
    for (const body of [onChain, offChain]) {
      expect(refusal(without(body, field))).toEqual(missing(field))
      for (const value of absent) expect(refusal({ ...body, [field]: value })).toEqual(missing(field))
    }
  })

  test('both targets: absent, null or empty', () => {
    for (const to of absent) {
      for (const verification_hash of absent) {
        const body = { from: WALLET, chain: 'base', to, verification_hash }
        expect(refusal(body)).toEqual(missing('to or verification_hash'))
      }
    }
  })

  test('from in an empty request', () => expect(refusal({})).toEqual(missing('from')))
})

test.each([CONTRACT, 'nonsense'])('two targets are ambiguous: %s', (to) => {
  const detail = 'request validation failed: specify either to or verification_hash, not both'
  expect(refusal({ ...offChain, to })).toEqual({ code: 'AMBIGUOUS_TARGET', detail })
})

test.each(['from', 'chain', 'to', 'data', 'msg_value', 'user_ip', 'verification_hash'])(
  '%s must be a string',
  (field) => {
    for (const value of [7, 0, true, false, [], {}, ['x'], { a: 'x' }] as JsonValue[]) {
      const body = field === 'verification_hash' ? offChain : onChain
      expect(refusal({ ...body, [field]: value })).toEqual(invalid(field, 'must be a string'))
    }
  },
)

describe('refuses', () => {
  const long = 'x'.repeat(200_000)
  const digits = WALLET.slice(2)

  test.each([
    ' ',
    '0x',
    WALLET.slice(0, -1),
    `${WALLET}0`,
    digits,
    `0X${digits}`,
    ` ${WALLET.slice(1)}`,
    `${WALLET} `,
    `${WALLET}\n`,
    `${WALLET.slice(0, -1)}g`,
    `${WALLET.slice(0, -1)}\u212a`,
    SOLANA_WALLET,
    'vitalik.eth',
    long,
  ])('the EVM address %p', (value) => {
    for (const field of ['from', 'to']) {
      expect(refusal({ ...onChain, [field]: value })).toEqual(invalid(field, ADDRESS_RULE))
    }
  })

  test.each([
    ' ',
    WALLET,
    SOLANA_WALLET.slice(0, -2),
    `${SOLANA_WALLET}1`,
    `1${SOLANA_WALLET}`,
    `${SOLANA_WALLET} `,
    long,
    `0${SOLANA_WALLET.slice(1)}`,
    'l'.repeat(43),
    ...[31, 33].map((length) => bs58.encode(new Uint8Array(length).fill(7))),
  ])('the Solana address %p', (value) => {
    for (const field of ['from', 'to']) {
      expect(refusal({ ...onSolana, [field]: value })).toEqual(invalid(field, SOLANA_ADDRESS_RULE))
    }
  })

  test('data other than hex bytes', () => {
    for (const data of ['', ' ', '0', 'abcd', '0xabc', '0xzz', '0x 1', '0X00', '0x0\u0661', `0x${'0'.repeat(100)}g0`]) {
      expect(refusal({ ...onChain, data })).toEqual(invalid('data', DATA_RULE))
    }
    // Long data is decoded natively. Buffer accepts U+0130 as "0".
    for (const length of [68, 8_192, 8_194, 20_000]) {
      for (const at of [0, 1, length - 1]) {
        for (const wrong of ['g', '\u0130', ' ', '\u0000', '"']) {
          const data = `0x${'a'.repeat(at)}${wrong}${'a'.repeat(length - at - 1)}`
          expect(refusal({ ...onChain, data })).toEqual(invalid('data', DATA_RULE))
        }
      }
      expect(requestOf({ ...onChain, data: `0x${'aF'.repeat(length / 2)}` }).data).toHaveLength(2 + length)
    }
    for (const data of [`0x${'ab'.repeat(65_537)}`, `0x${'z'.repeat(200_000)}`]) {
      expect(refusal({ ...onChain, data })).toEqual(invalid('data', 'must not exceed 65536 bytes'))
    }
  })

  test.each<{ kind: string; values: readonly string[] }>([
    { kind: 'blank or with spaces', values: ['', ' ', '  ', ' 12 ', '12 ', '1\n', ' 0x1', '0x1 '] },
    { kind: 'with a sign', values: ['+1', '-1', '-0', '0x-1'] },
    { kind: 'with leading zeros', values: ['00', '01'] },
    { kind: 'other than a whole number', values: ['1.0', '1.', '.5', '1e18', 'Infinity', 'NaN', 'ten', 'null'] },
    { kind: 'in other notations', values: ['1_000', '1,000', '1n', '0b1', '0o7', '0X10', '0x', '0xg', '١٢'] },
    { kind: 'over 2^256', values: [(2n ** 256n).toString(), `0x1${'0'.repeat(64)}`, '9'.repeat(78), '9'.repeat(79)] },
    { kind: 'that is too long', values: [`0x${'0'.repeat(65)}`, '9'.repeat(200_000), `0x${'f'.repeat(200_000)}`] },
  ])('msg_value $kind', ({ values }) => {
    for (const value of values) {
      expect(refusal({ ...onChain, msg_value: value })).toEqual(invalid('msg_value', VALUE_RULE))
      expect(refusal({ ...onSolana, msg_value: value })).toEqual(invalid('msg_value', LAMPORTS_RULE))
    }
  })

  test('msg_value over 2^64 only on Solana', () => {
    for (const value of [(2n ** 64n).toString(), '0x10000000000000000', '99999999999999999999']) {
      expect(refusal({ ...onSolana, msg_value: value })).toEqual(invalid('msg_value', LAMPORTS_RULE))
      expect(refusal({ ...onChain, msg_value: value })).toBeNull()
    }
  })

  test.each([
    '',
    ' ',
    'localhost',
    '999.1.1.1',
    '1.2.3',
    '01.2.3.4',
    '::1%eth0',
    '[::1]',
    '1.2.3.4:80',
    '10.0.0.0/8',
    long,
  ])('the user_ip %p', (address) => {
    expect(refusal({ ...onChain, user_ip: address })).toEqual(invalid('user_ip', IP_RULE))
  })

  test.each([' ', 'a b', 'é', 'x'.repeat(65), 'x\n', '\u007f', long])('the verification_hash %p', (hash) => {
    expect(refusal({ ...offChain, verification_hash: hash })).toEqual(invalid('verification_hash', HASH_RULE))
  })

  test.each([
    ...['dogecoin', 'Base', 'base ', '1', '__proto__', 'constructor'].map((chain) => [chain, chain]),
    ['a\u0000b\nc\u2028d\u001b[31m', 'abcd[31m'],
    ['böse', 'bse'],
    ['x'.repeat(200_000), 'x'.repeat(64)],
    [`${'\n'.repeat(100)}end`, 'end'],
  ])('the chain %p', (chain, shown) => {
    expect(refusal({ ...onChain, chain })).toEqual({
      code: 'UNSUPPORTED_CHAIN',
      detail: `unsupported chain ID ${shown}`,
    })
  })
})

test('the first failing rule is reported', () => {
  // Each step corrects the field that the previous step reported; all later fields are still wrong.
  const steps: readonly [JsonObject, string][] = [
    [{ data: 1, msg_value: 1, user_ip: 1 }, 'Missing required field: from'],
    [{ from: 'x' }, 'Missing required field: chain'],
    [{ chain: 'x' }, 'Missing required field: to or verification_hash'],
    [{ to: 'x' }, 'unsupported chain ID x'],
    [{ chain: 'base' }, `request validation failed: from ${ADDRESS_RULE}`],
    [{ from: WALLET }, `request validation failed: to ${ADDRESS_RULE}`],
    [{ to: CONTRACT }, 'request validation failed: data must be a string'],
    [{ data: '0x' }, 'request validation failed: msg_value must be a string'],
    [{ msg_value: '0' }, 'request validation failed: user_ip must be a string'],
  ]
  let body: JsonObject = {}
  for (const [change, detail] of steps) {
    body = { ...body, ...change }
    expect(detailOf(body)).toBe(detail)
  }
  expect(refusal({ ...body, user_ip: '::1' })).toBeNull()
})

describe('a property', () => {
  test('any JSON object is decoded or refused with 400, and a refusal repeats only the name of a chain', () => {
    const anything = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom(WALLET, CONTRACT, SOLANA_WALLET, 'base', 'solana', '0x', '0', HASH, 'canary-7f3a'),
    )
    const fields = ['from', 'chain', 'to', 'verification_hash', 'data', 'msg_value', 'user_ip']
    const bodies = fc.record(Object.fromEntries(fields.map((field) => [field, anything])), { requiredKeys: [] })
    fc.assert(
      fc.property(bodies, (body) => {
        const refused = refusal(parseStrictJsonObject(JSON.stringify(body).replaceAll('__proto__', 'proto')))
        if (refused === null) return
        const codes = ['MISSING_REQUIRED_FIELD', 'INVALID_FIELD', 'AMBIGUOUS_TARGET', 'UNSUPPORTED_CHAIN'] as const
        expect(refused.code).toBeOneOf([...codes])
        if (refused.code !== 'UNSUPPORTED_CHAIN') expect(refused.detail).not.toContain('canary')
        expect(refused.detail).toMatch(/^[\x20-\x7e]{1,140}$/)
      }),
      { numRuns: 1_000 },
    )
  })

  test('a decoded request is canonical: decoding it again yields the same request', () => {
    const hex = (length: number) =>
      fc
        .string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), minLength: length, maxLength: length })
        .map((digits) => `0x${digits}`)
    const bodies = fc.record(
      {
        from: hex(40),
        chain: fc.constantFrom('base', 'ethereum', 'megaeth_testnet'),
        to: hex(40),
        data: fc.integer({ min: 0, max: 100 }).chain((bytes) => hex(2 * bytes)),
        msg_value: fc
          .bigInt({ min: 0n, max: 2n ** 256n - 1n })
          .chain((value) => fc.constantFrom(value.toString(), `0x${value.toString(16)}`)),
        user_ip: fc.oneof(fc.ipV4(), fc.ipV6()),
      },
      { requiredKeys: ['from', 'chain', 'to'] },
    )
    fc.assert(
      fc.property(bodies, (body) => {
        const first = decode(body)
        const { chain, from, to, data, value, userIp } = first.request
        const again = decode({ chain: chain.name, from, to, data, msg_value: value, user_ip: userIp || null })
        expect(again.request).toEqual(first.request)
        expect(again.targetText).toBe(to)
        expect(first.targetText).toBe(body.to)
        expect(data).toBe(body.data ?? '0x')
        expect(BigInt(value)).toBe(BigInt(body.msg_value ?? 0))
        const sent = new Map(Object.entries(body))
        expect(first.missing).toEqual((['data', 'msg_value', 'user_ip'] as const).filter((field) => !sent.has(field)))
      }),
      { numRuns: 300 },
    )
  })
})

test('a represented user must be an address of the chain', () => {
  const padded = `0x${'00'.repeat(12)}${CONTRACT.slice(2)}`
  const near = [padded.slice(0, -2), `${padded}00`, `${padded.slice(0, -1)}g`, ` ${padded.slice(0, -1)}`]
  for (const on_behalf of ['', ' ', 'x', '0x', PROGRAM, `${CONTRACT}0`, `${CONTRACT} `, ...near]) {
    const rule = 'must be 0x followed by 40 or 64 hex digits'
    expect(refusal({ ...onChain, on_behalf })).toEqual(invalid('on_behalf', rule))
  }
  for (const on_behalf of [0, false, [], {}]) {
    expect(refusal({ ...onChain, on_behalf })).toEqual(invalid('on_behalf', 'must be a string'))
  }
  expect(detailOf({ ...onSolana, on_behalf: CONTRACT })).toContain(SOLANA_ADDRESS_RULE)
})

describe('a misspelled field', () => {
  test.each([
    ['msgvalue', 'msg_value'],
    ['msgValue', 'msg_value'],
    ['MSG_VALUE', 'msg_value'],
    ['msg_valu', 'msg_value'],
    ['verificationHash', 'verification_hash'],
    ['form', 'from'],
    ['dta', 'data'],
    ['Chain', 'chain'],
    ['chian', 'chain'],
    ['userIp', 'user_ip'],
    ['onBehalf', 'on_behalf'],
    ['on_behlaf', 'on_behalf'],
    ['To', 'to'],
    ['idempotencyKey', 'idempotency_key'],
  ])('%s is refused, with %s as suggestion', (sent, known) => {
    const detail = `request validation failed: unknown field ${sent}; did you mean ${known}?`
    expect(refusal({ ...onChain, [sent]: '1' })).toEqual({ code: 'INVALID_FIELD', detail })
  })

  test.each(['too', 't', 'tp', 'ot'])('%s is refused only if a target is missing', (sent) => {
    const body = without(onChain, 'to')
    const detail = `request validation failed: unknown field ${sent}; did you mean to?`
    expect(detailOf({ ...body, [sent]: CONTRACT })).toBe(detail)
    expect(detailOf({ ...body, token: CONTRACT })).toBe('Missing required field: to or verification_hash')
    expect(decode({ ...onChain, [sent]: '1' })).toEqual(decode(onChain))
  })

  test('is reported before the missing field', () => {
    expect(detailOf({ form: WALLET, chain: 'base', to: CONTRACT })).toContain('unknown field form')
  })

  test('is shortened and stripped of control characters', () => {
    expect(detailOf({ ...onChain, [`msg${'_'.repeat(1_000)}value`]: '1' })?.length).toBeLessThan(128)
    expect(detailOf({ ...onChain, 'dat\na': '1' })).toContain('unknown field data; did you mean data?')
  })

  test.each(['nonce', 'gas', 'tx', 'id', 'value', 'policy_id', 'metadata', 'message', '', '__proto_'])(
    'is not %p',
    (name) => expect(decode({ ...onChain, [name]: '1' })).toEqual(decode(onChain)),
  )
})

test('more than 256 fields are refused before their names are compared', () => {
  const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`x${index}`, 1]))
  expect(() => refuseMisspeltFields(fields(256), new Set(['from']))).not.toThrow()
  expect(() => refuseMisspeltFields(fields(257), new Set(['from']))).toThrow('at most 256 fields')
})

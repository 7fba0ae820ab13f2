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
import type { ErrorCode } from '../../src/domain/errors.ts'
import { type JsonObject, type JsonValue, parseStrictJsonObject } from '../../src/server/strict-json.ts'
import { refusalOf } from './refusal.ts'

const chains = createChainTable()
const WALLET = '0x8ba1f109551bD432803012645Ac136ddd64DBA72'
const CONTRACT = '0xdAC17F958D2ee523a2206206994597C13D831ec7'
const SOLANA_WALLET = 'DeZVDBizsEVYvCDyLDLU8MPgE6ndYE2dDA1MXaL2neJC'
const PROGRAM = 'GjXtvmWihnf22Bg48srpzYrs6iGhSUvu1tzsf9L4u9Ck'
const HASH = 'x-0123456789abcdef'

const onChain: JsonObject = { from: WALLET, chain: 'base', to: CONTRACT }
const offChain: JsonObject = { from: WALLET, chain: 'base', verification_hash: HASH }
const onSolana: JsonObject = { from: SOLANA_WALLET, chain: 'solana', to: PROGRAM }

const NOW_SECONDS = 1_800_000_000
const decode = (body: JsonObject) => decodeAttestationRequest(body, chains, NOW_SECONDS)
const requestOf = (body: JsonObject) => decode(body).request
const refusal = (body: JsonObject) => refusalOf(() => decode(body))
const without = (body: JsonObject, field: string): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([name]) => name !== field))

const missing = (field: string) => ({
  code: 'MISSING_REQUIRED_FIELD' as ErrorCode,
  detail: `Missing required field: ${field}`,
})
const invalid = (field: string, rule: string) => ({
  code: 'INVALID_FIELD' as ErrorCode,
  detail: `request validation failed: ${field} ${rule}`,
})

const RULES: Readonly<Record<string, string>> = {
  from: 'must be an EVM address: 0x followed by 40 hex digits',
  to: 'must be an EVM address: 0x followed by 40 hex digits',
  data: 'must be 0x followed by an even number of hex digits',
  msg_value: 'must be a decimal string of an integer below 2^256',
  user_ip: 'must be an IPv4 or IPv6 address',
  verification_hash: 'must be 1 to 64 visible ASCII characters',
}
const SOLANA_ADDRESS_RULE = 'must be a Solana address: 32 bytes in base58'
const LAMPORTS_RULE = 'must be a decimal string of an integer below 2^64'

describe('accepted', () => {
  test('the smallest on-chain request', () => {
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

  test('the smallest interface-only request', () => {
    const target = { targetBy: 'verification hash', targetText: HASH }
    expect(decode(offChain)).toMatchObject({ ...target, request: { to: EVM_ZERO_ADDRESS } })
    const onSolanaToo = decode({ from: SOLANA_WALLET, chain: 'solana', verification_hash: HASH })
    expect(onSolanaToo).toMatchObject({ ...target, request: { to: SOLANA_ZERO_ADDRESS } })
  })

  test('every field', () => {
    expect(
      decode({ ...onChain, data: '0xA9059cbb', msg_value: '1000000000000000000', user_ip: '::FFFF:203.0.113.9' }),
    ).toMatchObject({
      request: { data: '0xA9059cbb', value: '1000000000000000000', userIp: '203.0.113.9' },
      missing: [],
    })
  })

  test('on Solana, addresses keep their case', () => {
    expect(decode({ ...onSolana, msg_value: '18446744073709551615' })).toMatchObject({
      request: {
        chain: { name: 'solana', family: 'solana' },
        from: parseSolanaAddress(SOLANA_WALLET)!,
        to: parseSolanaAddress(PROGRAM)!,
        value: '18446744073709551615',
      },
      targetText: PROGRAM,
      missing: ['data', 'user_ip'],
    })
  })

  test.each([...BUILT_IN_CHAINS])('chain $name', (chain) => {
    const from = chain.family === 'evm' ? WALLET : SOLANA_WALLET
    expect(requestOf({ from, chain: chain.name, verification_hash: HASH }).chain).toEqual(chain)
  })

  test.each([
    ['megaeth_testnet', 'megaeth-testnet'],
    ['ethereum-mainnet', 'ethereum'],
    ['ethereum-sepolia', 'sepolia'],
  ])('the older name %s is %s', (alias, name) => {
    expect(requestOf({ ...offChain, chain: alias }).chain.name).toBe(name)
  })

  test('addresses in any case, without a checksum, are one address', () => {
    const spellings = [WALLET, WALLET.toLowerCase(), `0x${WALLET.slice(2).toUpperCase()}`]
    expect(new Set(spellings.map((from) => requestOf({ ...onChain, from }).from)).size).toBe(1)
  })

  test('the user whom the wallet represents, in any case; null and absent: nobody', () => {
    const onBehalf = parseEvmAddress(CONTRACT)!
    expect(requestOf({ ...onChain, on_behalf: CONTRACT })).toEqual({ ...requestOf(onChain), onBehalf })
    expect(requestOf({ ...onChain, on_behalf: CONTRACT.toLowerCase() }).onBehalf).toBe(onBehalf)
    expect(requestOf({ ...onSolana, on_behalf: PROGRAM }).onBehalf).toBe(parseSolanaAddress(PROGRAM)!)
    expect(requestOf({ ...onChain, on_behalf: null }).onBehalf).toBe('')
  })

  test('a represented user in 32 bytes: an EVM address after twelve zero bytes, otherwise a Solana key', () => {
    const onBehalf = (text: string) => requestOf({ ...onChain, on_behalf: text }).onBehalf
    const key = `0x${Buffer.from(solanaAddressBytes(parseSolanaAddress(PROGRAM)!)).toString('hex')}`
    expect(onBehalf(`0x${'00'.repeat(12)}${CONTRACT.slice(2)}`)).toBe(parseEvmAddress(CONTRACT)!)
    expect(onBehalf(key)).toBe(parseSolanaAddress(PROGRAM)!)
    expect(onBehalf(`0x${key.slice(2).toUpperCase()}`)).toBe(parseSolanaAddress(PROGRAM)!)
    // Eleven zero bytes are a key's own.
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

  test('fields that the specification does not name', () => {
    expect(decode({ ...onChain, policy_id: null, nonce: 1, constructor: {} })).toEqual(decode(onChain))
  })

  test('null for a field that may be left out', () => {
    const nulls = { data: null, msg_value: null, user_ip: null }
    expect(decode({ ...onChain, ...nulls, verification_hash: null })).toEqual(decode(onChain))
    expect(decode({ ...offChain, ...nulls, to: null })).toEqual(decode(offChain))
  })

  test('an empty text for the target that is not meant', () => {
    expect(decode({ ...onChain, verification_hash: '' })).toEqual(decode(onChain))
    expect(decode({ ...offChain, to: '' })).toEqual(decode(offChain))
  })

  test('0x is empty data; data stays as it was sent', () => {
    expect(requestOf({ ...onChain, data: '0x' }).data).toBe('0x')
    expect(requestOf({ ...onChain, data: '0xAbCd' }).data).toBe('0xAbCd')
    expect(requestOf({ ...onChain, data: `0x${'aB'.repeat(65_536)}` }).data).toHaveLength(2 + 131_072)
  })

  test.each([
    ['0', '0'],
    ['1', '1'],
    [(2n ** 256n - 1n).toString(), (2n ** 256n - 1n).toString()],
    ['0x0', '0'],
    ['0x00ff', '255'],
    ['0xFf', '255'],
    [`0x${'f'.repeat(64)}`, (2n ** 256n - 1n).toString()],
  ])('msg_value %s is %s', (sent, value) => {
    expect(requestOf({ ...onChain, msg_value: sent }).value).toBe(value)
  })

  test('a verification hash of 64 bytes', () => {
    expect(decode({ ...offChain, verification_hash: '~'.repeat(64) }).targetText).toBe('~'.repeat(64))
  })
})

describe('missing', () => {
  test.each(['from', 'chain'])('%s: left out, null or empty', (field) => {
    for (const body of [onChain, offChain]) {
      expect(refusal(without(body, field))).toEqual(missing(field))
      expect(refusal({ ...body, [field]: null })).toEqual(missing(field))
      expect(refusal({ ...body, [field]: '' })).toEqual(missing(field))
    }
  })

  test('both targets: left out, null or empty', () => {
    for (const to of [undefined, null, '']) {
      for (const hash of [undefined, null, '']) {
        expect(refusal({ from: WALLET, chain: 'base', to, verification_hash: hash })).toEqual(
          missing('to or verification_hash'),
        )
      }
    }
  })

  test('everything', () => {
    expect(refusal({})).toEqual(missing('from'))
  })
})

describe('ambiguous', () => {
  test('both targets, also when one of them is wrong', () => {
    for (const to of [CONTRACT, 'nonsense']) {
      expect(refusal({ ...offChain, to })).toEqual({
        code: 'AMBIGUOUS_TARGET',
        detail: 'request validation failed: specify either to or verification_hash, not both',
      })
    }
  })
})

describe('wrong type', () => {
  const wrong: readonly JsonValue[] = [7, 0, true, false, [], {}, ['x'], { a: 'x' }]
  test.each(['from', 'chain', 'to', 'data', 'msg_value', 'user_ip'])('%s', (field) => {
    for (const value of wrong) {
      expect(refusal({ ...onChain, [field]: value })).toEqual(invalid(field, 'must be a string'))
    }
  })
  test('verification_hash', () => {
    for (const value of wrong) {
      expect(refusal({ ...offChain, verification_hash: value })).toEqual(
        invalid('verification_hash', 'must be a string'),
      )
    }
  })
})

describe('wrong value', () => {
  const long = 'x'.repeat(200_000)

  test.each(['from', 'to'])('%s on an EVM chain', (field) => {
    for (const value of [
      ' ',
      '0x',
      WALLET.slice(0, -1),
      `${WALLET}0`,
      WALLET.slice(2),
      `0X${WALLET.slice(2)}`,
      `${WALLET.slice(0, -1)}g`,
      `${WALLET.slice(0, -1)}\u212a`,
      ` ${WALLET.slice(1)}`,
      `${WALLET} `,
      `${WALLET}\n`,
      SOLANA_WALLET,
      'vitalik.eth',
      long,
    ]) {
      expect(refusal({ ...onChain, [field]: value })).toEqual(invalid(field, RULES[field]!))
    }
  })

  test.each(['from', 'to'])('%s on Solana', (field) => {
    for (const value of [
      ' ',
      WALLET,
      SOLANA_WALLET.slice(0, -2),
      `${SOLANA_WALLET}1`,
      `1${SOLANA_WALLET}`,
      `0${SOLANA_WALLET.slice(1)}`,
      `${SOLANA_WALLET} `,
      'l'.repeat(43),
      bs58.encode(new Uint8Array(31).fill(7)),
      bs58.encode(new Uint8Array(33).fill(7)),
      long,
    ]) {
      expect(refusal({ ...onSolana, [field]: value })).toEqual(invalid(field, SOLANA_ADDRESS_RULE))
    }
  })

  test('data', () => {
    for (const data of ['', ' ', '0', 'abcd', '0xabc', '0xzz', '0x 1', '0X00', '0x0\u0661', `0x${'0'.repeat(100)}g0`]) {
      expect(refusal({ ...onChain, data })).toEqual(invalid('data', RULES['data']!))
    }
    // Long data is decoded natively: one character that is no hex digit anywhere, and U+0130, which Buffer takes for "0".
    for (const length of [68, 8_192, 8_194, 20_000]) {
      for (const at of [0, 1, length - 1]) {
        for (const wrong of ['g', '\u0130', ' ', '\u0000', '"']) {
          const digits = 'a'.repeat(length)
          const data = `0x${digits.slice(0, at)}${wrong}${digits.slice(at + 1)}`
          expect(refusal({ ...onChain, data })).toEqual(invalid('data', RULES['data']!))
        }
      }
      expect(requestOf({ ...onChain, data: `0x${'aF'.repeat(length / 2)}` }).data).toHaveLength(2 + length)
    }
    for (const data of [`0x${'ab'.repeat(65_537)}`, `0x${'z'.repeat(200_000)}`]) {
      expect(refusal({ ...onChain, data })).toEqual(invalid('data', 'must not exceed 65536 bytes'))
    }
  })

  test.each<{ kind: string; values: readonly string[] }>([
    { kind: 'blank or spaced', values: ['', ' ', '  ', ' 12 ', '12 ', '1\n', ' 0x1', '0x1 '] },
    { kind: 'signed', values: ['+1', '-1', '-0', '0x-1'] },
    { kind: 'with leading zeros', values: ['00', '01'] },
    { kind: 'no whole number', values: ['1.0', '1.', '.5', '1e18', 'Infinity', 'NaN', 'ten', 'null'] },
    { kind: 'of other spellings', values: ['1_000', '1,000', '1n', '0b1', '0o7', '0X10', '0x', '0xg', '١٢'] },
    { kind: 'over 2^256', values: [(2n ** 256n).toString(), `0x1${'0'.repeat(64)}`, '9'.repeat(78), '9'.repeat(79)] },
    { kind: 'too long', values: [`0x${'0'.repeat(65)}`, '9'.repeat(200_000), `0x${'f'.repeat(200_000)}`] },
  ])('msg_value $kind', ({ values }) => {
    for (const value of values) {
      expect(refusal({ ...onChain, msg_value: value })).toEqual(invalid('msg_value', RULES['msg_value']!))
      expect(refusal({ ...onSolana, msg_value: value })).toEqual(invalid('msg_value', LAMPORTS_RULE))
    }
  })

  test('msg_value over 2^64 on Solana only', () => {
    for (const value of [(2n ** 64n).toString(), '0x10000000000000000', '99999999999999999999']) {
      expect(refusal({ ...onSolana, msg_value: value })).toEqual(invalid('msg_value', LAMPORTS_RULE))
      expect(refusal({ ...onChain, msg_value: value })).toBeNull()
    }
  })

  test('user_ip', () => {
    for (const address of [
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
    ]) {
      expect(refusal({ ...onChain, user_ip: address })).toEqual(invalid('user_ip', RULES['user_ip']!))
    }
  })

  test('verification_hash', () => {
    for (const hash of [' ', 'a b', 'é', 'x'.repeat(65), 'x\n', '\u007f', long]) {
      expect(refusal({ ...offChain, verification_hash: hash })).toEqual(
        invalid('verification_hash', RULES['verification_hash']!),
      )
    }
  })

  test.each([
    ['dogecoin', 'dogecoin'],
    ['Base', 'Base'],
    ['base ', 'base '],
    ['1', '1'],
    ['__proto__', '__proto__'],
    ['constructor', 'constructor'],
    ['a\u0000b\nc\u2028d\u001b[31m', 'abcd[31m'],
    ['böse', 'bse'],
    ['x'.repeat(200_000), 'x'.repeat(64)],
    [`${'\n'.repeat(100)}end`, 'end'],
  ])('chain %p', (chain, shown) => {
    expect(refusal({ ...onChain, chain })).toEqual({
      code: 'UNSUPPORTED_CHAIN',
      detail: `unsupported chain ID ${shown}`,
    })
  })
})

describe('order', () => {
  test('the first rule that fails is the answer', () => {
    // Each step mends what the step before was refused for; everything after it is still wrong.
    const steps: readonly [JsonObject, string][] = [
      [{ data: 1, msg_value: 1, user_ip: 1 }, 'Missing required field: from'],
      [{ from: 'x' }, 'Missing required field: chain'],
      [{ chain: 'x' }, 'Missing required field: to or verification_hash'],
      [{ to: 'x' }, 'unsupported chain ID x'],
      [{ chain: 'base' }, `request validation failed: from ${RULES['from']}`],
      [{ from: WALLET }, `request validation failed: to ${RULES['to']}`],
      [{ to: CONTRACT }, 'request validation failed: data must be a string'],
      [{ data: '0x' }, 'request validation failed: msg_value must be a string'],
      [{ msg_value: '0' }, 'request validation failed: user_ip must be a string'],
    ]
    let body: JsonObject = {}
    for (const [change, detail] of steps) {
      body = { ...body, ...change }
      expect(refusal(body)?.detail).toBe(detail)
    }
    expect(refusal({ ...body, user_ip: '::1' })).toBeNull()
  })
})

describe('laws', () => {
  test('any JSON object is decoded or refused with one of the 400s, and repeats nothing but a chain name', () => {
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
        expect(refused.code).toBeOneOf([
          'MISSING_REQUIRED_FIELD',
          'INVALID_FIELD',
          'AMBIGUOUS_TARGET',
          'UNSUPPORTED_CHAIN',
        ])
        if (refused.code !== 'UNSUPPORTED_CHAIN') expect(refused.detail).not.toContain('canary')
        expect(refused.detail).toMatch(/^[\x20-\x7e]{1,140}$/)
      }),
      { numRuns: 1_000 },
    )
  })

  test('what is decoded is canonical: decoding it again gives the same', () => {
    const hex = (length: number) =>
      fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), minLength: length, maxLength: length })
    const bodies = fc.record(
      {
        from: hex(40).map((digits) => `0x${digits}`),
        chain: fc.constantFrom('base', 'ethereum', 'megaeth_testnet'),
        to: hex(40).map((digits) => `0x${digits}`),
        data: fc.integer({ min: 0, max: 100 }).chain((bytes) => hex(2 * bytes).map((digits) => `0x${digits}`)),
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

test('a represented user that is no address of the chain: nobody is screened in its place', () => {
  const rule = 'must be 0x followed by 40 or 64 hex digits'
  const detail = `request validation failed: on_behalf ${rule}`
  const padded = `0x${'00'.repeat(12)}${CONTRACT.slice(2)}`
  const near = [padded.slice(0, -2), `${padded}00`, `${padded.slice(0, -1)}g`, ` ${padded.slice(0, -1)}`]
  for (const on_behalf of ['', ' ', 'x', '0x', PROGRAM, `${CONTRACT}0`, `${CONTRACT} `, ...near]) {
    expect(refusal({ ...onChain, on_behalf })).toEqual({ code: 'INVALID_FIELD', detail })
  }
  for (const on_behalf of [0, false, [], {}]) {
    expect(refusal({ ...onChain, on_behalf })?.detail).toBe('request validation failed: on_behalf must be a string')
  }
  expect(refusal({ ...onSolana, on_behalf: CONTRACT })?.detail).toContain(SOLANA_ADDRESS_RULE)
})

describe('a field that is a known one in another spelling', () => {
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
  ])('%s is refused, naming %s', (sent, known) => {
    expect(refusal({ ...onChain, [sent]: '1' })).toEqual({
      code: 'INVALID_FIELD',
      detail: `request validation failed: unknown field ${sent}; did you mean ${known}?`,
    })
  })

  test.each(['too', 't', 'tp', 'ot'])('%s is refused only if a target is missing', (sent) => {
    const { to: _to, ...without } = onChain
    expect(refusal({ ...without, [sent]: CONTRACT })?.detail).toBe(
      `request validation failed: unknown field ${sent}; did you mean to?`,
    )
    expect(refusal({ ...without, token: CONTRACT })?.detail).toBe('Missing required field: to or verification_hash')
    expect(decode({ ...onChain, [sent]: '1' })).toEqual(decode(onChain))
  })

  test('comes before what is missing for its sake', () => {
    expect(refusal({ form: WALLET, chain: 'base', to: CONTRACT })?.detail).toContain('unknown field form')
  })

  test('is named without what no log or page should hold', () => {
    const detail = refusal({ ...onChain, [`msg${'_'.repeat(1_000)}value`]: '1' })?.detail ?? ''
    expect(detail.length).toBeLessThan(128)
    expect(refusal({ ...onChain, 'dat\na': '1' })?.detail).toContain('unknown field data; did you mean data?')
  })

  test('other fields are nobody’s', () => {
    for (const name of ['nonce', 'gas', 'tx', 'id', 'value', 'policy_id', 'metadata', 'message', '', '__proto_']) {
      expect(decode({ ...onChain, [name]: '1' })).toEqual(decode(onChain))
    }
  })
})

test('more than 256 fields are refused before their names are compared', () => {
  const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`x${index}`, 1]))
  expect(() => refuseMisspeltFields(fields(256), new Set(['from']))).not.toThrow()
  expect(() => refuseMisspeltFields(fields(257), new Set(['from']))).toThrow('at most 256 fields')
})

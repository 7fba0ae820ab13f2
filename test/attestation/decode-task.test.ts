import { describe, expect, test } from 'bun:test'
import { decodeTaskRequest } from '../../src/attestation/decode-task.ts'
import { parseEvmAddress } from '../../src/domain/address.ts'
import { BUILT_IN_CHAINS, createChainTable } from '../../src/domain/chain.ts'
import { type JsonObject, type JsonValue, parseStrictJsonObject } from '../../src/server/strict-json.ts'
import { refusalOf } from './refusal.ts'

const chains = createChainTable([{ name: 'mine', family: 'evm', chainId: Number.MAX_SAFE_INTEGER }])
const WALLET = '0x8ba1f109551bD432803012645Ac136ddd64DBA72'
const CONTRACT = '0xdAC17F958D2ee523a2206206994597C13D831ec7'
const SOLANA = 'DeZVDBizsEVYvCDyLDLU8MPgE6ndYE2dDA1MXaL2neJC'
const good: JsonObject = { from: WALLET, to: CONTRACT, data: '0x', msg_value: '0' }

const NOW_SECONDS = 1_800_000_000
const decode = (body: JsonObject) => decodeTaskRequest(body, chains, NOW_SECONDS).request
const refusal = (body: JsonObject) => refusalOf(() => decode(body))
const without = (body: JsonObject, field: string): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([name]) => name !== field))

describe('accepted', () => {
  test('the four mandatory fields, on Ethereum mainnet', () => {
    expect(decodeTaskRequest(good, chains, NOW_SECONDS)).toEqual({
      request: {
        chain: { name: 'ethereum', family: 'evm', chainId: 1 },
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
      missing: ['user_ip'],
    })
  })

  test('every EVM chain by its id, as a number or as decimal text', () => {
    for (const chain of BUILT_IN_CHAINS) {
      if (chain.family !== 'evm') continue
      expect(decode({ ...good, chain_id: chain.chainId }).chain).toEqual(chain)
      expect(decode({ ...good, chain_id: String(chain.chainId) }).chain).toEqual(chain)
    }
  })

  test('the largest id that a number can hold', () => {
    expect(decode({ ...good, chain_id: Number.MAX_SAFE_INTEGER }).chain.name).toBe('mine')
    expect(decode({ ...good, chain_id: String(Number.MAX_SAFE_INTEGER) }).chain.name).toBe('mine')
  })

  test('null for chain_id is the default; other spellings of a whole number are that number', () => {
    expect(decode({ ...good, chain_id: null }).chain.name).toBe('ethereum')
    const text = JSON.stringify(good).replace('}', ',"chain_id":8.453e3}')
    expect(decode(parseStrictJsonObject(text)).chain.name).toBe('base')
  })

  test('value stands in for msg_value, and may repeat it', () => {
    expect(decode({ ...without(good, 'msg_value'), value: '7' }).value).toBe('7')
    expect(decode({ ...good, msg_value: null, value: '7' }).value).toBe('7')
    expect(decode({ ...good, msg_value: '7', value: '7' }).value).toBe('7')
    expect(decode({ ...good, msg_value: '255', value: '0xfF' }).value).toBe('255')
    for (const value of ['', null]) expect(decode({ ...good, msg_value: '7', value }).value).toBe('7')
  })

  test('fields that the specification does not name', () => {
    expect(decode({ ...good, chain: 'base', verification_hash: 'x', user_ip: 9 })).toEqual(decode(good))
  })
})

describe('missing', () => {
  test.each(['from', 'to', 'data', 'msg_value'])('%s: left out, null or empty', (field) => {
    const expected = { code: 'MISSING_REQUIRED_FIELD' as const, detail: `Missing required field: ${field}` }
    expect(refusal(without(good, field))).toEqual(expected)
    expect(refusal({ ...good, [field]: null })).toEqual(expected)
    expect(refusal({ ...good, [field]: '' })).toEqual(expected)
  })

  test('an empty value is as missing as msg_value, under its name', () => {
    for (const value of ['', null]) {
      expect(refusal({ ...without(good, 'msg_value'), value })?.detail).toBe('Missing required field: msg_value')
    }
  })
})

describe('wrong', () => {
  test.each(['from', 'to', 'data', 'msg_value'])('type of %s', (field) => {
    for (const value of [0, 1, true, [], {}]) {
      expect(refusal({ ...good, [field]: value })).toEqual({
        code: 'INVALID_FIELD',
        detail: `request validation failed: ${field} must be a string`,
      })
    }
  })

  test.each([
    ['from', [SOLANA, WALLET.slice(1), `${WALLET}0`, 'x']],
    ['to', [SOLANA, CONTRACT.slice(1), `${CONTRACT}0`, 'x']],
    ['data', ['00', '0x0', '0xzz', `0x${'00'.repeat(65_537)}`]],
    ['msg_value', [' ', '-1', '1e18', '01', (2n ** 256n).toString()]],
  ])('value of %s', (field, values) => {
    for (const value of values) expect(refusal({ ...good, [field]: value })?.code).toBe('INVALID_FIELD')
  })
})

test('a value that differs from msg_value', () => {
  for (const value of ['7', '1', '0x1', '-0', 'x', ' ', 0, 7, false, [], {}]) {
    expect(refusal({ ...good, value })).toEqual({
      code: 'INVALID_FIELD',
      detail: 'request validation failed: value must be equal to msg_value',
    })
  }
  // Not before msg_value itself is right.
  expect(refusal({ ...good, msg_value: 'x', value: 'x' })?.detail).toContain('msg_value must be')
})

describe('chain_id', () => {
  test.each<[number | string, string]>([
    [0, '0'],
    [2, '2'],
    [900, '900'],
    ['0', '0'],
    ['5', '5'],
    [2 ** 53 - 2, '9007199254740990'],
    ['9007199254740993', '9007199254740993'],
    ['18446744073709551615', '18446744073709551615'],
    // A table entry is at 2^53 - 1: nothing rounds down to it.
    ['9007199254740992', '9007199254740992'],
  ])('%p is unsupported', (chainId, shown) => {
    expect(refusal({ ...good, chain_id: chainId })).toEqual({
      code: 'UNSUPPORTED_CHAIN',
      detail: `unsupported chain ID ${shown}`,
    })
  })

  test.each<{ kind: string; values: readonly JsonValue[] }>([
    { kind: 'out of range', values: [-1, '18446744073709551616'] },
    { kind: 'no whole number', values: ['1.0', '1e3', 'ethereum', ''] },
    { kind: 'of other spellings', values: [' 1', '1 ', '+1', '-1', '01', '0x1', '9'.repeat(100_000)] },
    { kind: 'of the wrong type', values: [true, false, [1], { id: 1 }] },
  ])('$kind is 400', ({ values }) => {
    for (const chainId of values) {
      expect(refusal({ ...good, chain_id: chainId })).toEqual({
        code: 'INVALID_FIELD',
        detail: 'request validation failed: chain_id must be an integer from 0 to 18446744073709551615',
      })
    }
  })
})

test.each([2 ** 53, 2 ** 64, 1e300, Number.POSITIVE_INFINITY, -(2 ** 53), 1.5])(
  'the number %p is no chain id, and is not repeated as it was rounded',
  (chainId) => {
    expect(refusal({ ...good, chain_id: chainId })).toEqual({
      code: 'INVALID_FIELD',
      detail: 'request validation failed: chain_id must be an integer up to 2^53, or a decimal string',
    })
  },
)

test('the first rule that fails is the answer', () => {
  const steps: readonly [JsonObject, string][] = [
    [{ chain_id: -1 }, 'Missing required field: from'],
    [{ from: 'x' }, 'Missing required field: to'],
    [{ to: 'x' }, 'Missing required field: data'],
    [{ data: 'x' }, 'Missing required field: msg_value'],
    [{ msg_value: 'x' }, 'chain_id'],
    [{ chain_id: 4 }, 'unsupported chain ID 4'],
    [{ chain_id: 1 }, 'from'],
    [{ from: WALLET }, 'to'],
    [{ to: CONTRACT }, 'data'],
    [{ data: '0x' }, 'msg_value'],
  ]
  let body: JsonObject = {}
  for (const [change, text] of steps) {
    body = { ...body, ...change }
    const { detail } = refusal(body)!
    if (text.includes(' ')) expect(detail).toBe(text)
    else expect(detail).toStartWith(`request validation failed: ${text} `)
  }
})

test('the user whom the sender represents', () => {
  expect(decode({ ...good, on_behalf: CONTRACT }).onBehalf).toBe(parseEvmAddress(CONTRACT)!)
  expect(decode({ ...good, on_behalf: null }).onBehalf).toBe('')
  for (const on_behalf of ['', 'x', SOLANA]) {
    expect(refusal({ ...good, on_behalf })?.detail).toStartWith('request validation failed: on_behalf must be 0x')
  }
})

test('a chain in another spelling of the field is refused: without it, it would be Ethereum', () => {
  expect(refusal({ ...good, chainId: 8453 })?.detail).toBe(
    'request validation failed: unknown field chainId; did you mean chain_id?',
  )
})

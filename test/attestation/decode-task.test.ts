// Decoding of v1 tasks: accepted fields, chain ids, and refusals in their order.
import { describe, expect, test } from 'bun:test'
import { decodeTaskRequest } from '../../src/attestation/decode-task.ts'
import { parseEvmAddress } from '../../src/domain/address.ts'
import { BUILT_IN_CHAINS, createChainTable } from '../../src/domain/chain.ts'
import { type JsonObject, type JsonValue, parseStrictJsonObject } from '../../src/server/strict-json.ts'
import { CONTRACT, invalid, missing, refusalOf, SOLANA_WALLET, WALLET, without } from './fixtures.ts'

const chains = createChainTable([{ name: 'mine', family: 'evm', chainId: Number.MAX_SAFE_INTEGER }])
const good: JsonObject = { from: WALLET, to: CONTRACT, data: '0x', msg_value: '0' }

const NOW_SECONDS = 1_800_000_000
const decode = (body: JsonObject) => decodeTaskRequest(body, chains, NOW_SECONDS).request
const refusal = (body: JsonObject) => refusalOf(() => decode(body))

describe('accepts', () => {
  test('the four required fields, for Ethereum', () => {
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

  test.each(BUILT_IN_CHAINS.flatMap((chain) => (chain.family === 'evm' ? [chain] : [])))(
    'the id of $name as number and text',
    (chain) => {
      expect(decode({ ...good, chain_id: chain.chainId }).chain).toEqual(chain)
      expect(decode({ ...good, chain_id: String(chain.chainId) }).chain).toEqual(chain)
    },
  )

  test.each([Number.MAX_SAFE_INTEGER, String(Number.MAX_SAFE_INTEGER)])('the largest exact id, %p', (chainId) => {
    expect(decode({ ...good, chain_id: chainId }).chain.name).toBe('mine')
  })

  test('null as chain_id, and a whole number in another notation', () => {
    expect(decode({ ...good, chain_id: null }).chain.name).toBe('ethereum')
    const text = JSON.stringify(good).replace('}', ',"chain_id":8.453e3}')
    expect(decode(parseStrictJsonObject(text)).chain.name).toBe('base')
  })

  test.each<[JsonObject, string]>([
    [{ msg_value: null, value: '7' }, '7'],
    [{ msg_value: '7', value: '7' }, '7'],
    [{ msg_value: '255', value: '0xfF' }, '255'],
    [{ msg_value: '7', value: '' }, '7'],
    [{ msg_value: '7', value: null }, '7'],
  ])('value in place of msg_value, or equal to it: %j', (fields, value) => {
    expect(decode({ ...good, ...fields }).value).toBe(value)
  })

  test('a missing msg_value with value, and unknown fields', () => {
    expect(decode({ ...without(good, 'msg_value'), value: '7' }).value).toBe('7')
    expect(decode({ ...good, chain: 'base', verification_hash: 'x', user_ip: 9 })).toEqual(decode(good))
  })
})

describe('refuses', () => {
  test.each(['from', 'to', 'data', 'msg_value'])('a missing %s: absent, null or empty', (field) => {
    expect(refusal(without(good, field))).toEqual(missing(field))
    for (const value of [null, '']) expect(refusal({ ...good, [field]: value })).toEqual(missing(field))
  })

  test.each(['', null])('a missing msg_value with the value %p', (value) => {
    expect(refusal({ ...without(good, 'msg_value'), value })).toEqual(missing('msg_value'))
  })

  test.each(['from', 'to', 'data', 'msg_value'])('another type of %s', (field) => {
    for (const value of [0, 1, true, [], {}]) {
      expect(refusal({ ...good, [field]: value })).toEqual(invalid(field, 'must be a string'))
    }
  })

  test.each([
    ['from', [SOLANA_WALLET, WALLET.slice(1), `${WALLET}0`, 'x']],
    ['to', [SOLANA_WALLET, CONTRACT.slice(1), `${CONTRACT}0`, 'x']],
    ['data', ['00', '0x0', '0xzz', `0x${'00'.repeat(65_537)}`]],
    ['msg_value', [' ', '-1', '1e18', '01', (2n ** 256n).toString()]],
  ])('another value of %s', (field, values) => {
    for (const value of values) expect(refusal({ ...good, [field]: value })?.code).toBe('INVALID_FIELD')
  })

  test('a value that differs from msg_value, unless msg_value is invalid', () => {
    for (const value of ['7', '1', '0x1', '-0', 'x', ' ', 0, 7, false, [], {}]) {
      expect(refusal({ ...good, value })).toEqual(invalid('value', 'must be equal to msg_value'))
    }
    expect(refusal({ ...good, msg_value: 'x', value: 'x' })?.detail).toContain('msg_value must be')
  })
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
    // Not rounded to the chain with the id 2^53 - 1.
    ['9007199254740992', '9007199254740992'],
  ])('%p is unsupported', (chainId, shown) => {
    const expected = { code: 'UNSUPPORTED_CHAIN', detail: `unsupported chain ID ${shown}` } as const
    expect(refusal({ ...good, chain_id: chainId })).toEqual(expected)
  })

  test.each<{ kind: string; values: readonly JsonValue[] }>([
    { kind: 'out of range', values: [-1, '18446744073709551616'] },
    { kind: 'other than a whole number', values: ['1.0', '1e3', 'ethereum', ''] },
    { kind: 'in other notations', values: [' 1', '1 ', '+1', '-1', '01', '0x1', '9'.repeat(100_000)] },
    { kind: 'of another type', values: [true, false, [1], { id: 1 }] },
  ])('$kind is refused', ({ values }) => {
    for (const chain_id of values) {
      const rule = 'must be an integer from 0 to 18446744073709551615'
      expect(refusal({ ...good, chain_id })).toEqual(invalid('chain_id', rule))
    }
  })

  test.each([2 ** 53, 2 ** 64, 1e300, Number.POSITIVE_INFINITY, -(2 ** 53), 1.5])(
    '%p is refused without repeating the rounded number',
    (chain_id) => {
      const rule = 'must be an integer up to 2^53, or a decimal string'
      expect(refusal({ ...good, chain_id })).toEqual(invalid('chain_id', rule))
    },
  )
})

test('the first failing rule is reported', () => {
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

test('the represented user is decoded or refused', () => {
  expect(decode({ ...good, on_behalf: CONTRACT }).onBehalf).toBe(parseEvmAddress(CONTRACT)!)
  expect(decode({ ...good, on_behalf: null }).onBehalf).toBe('')
  for (const on_behalf of ['', 'x', SOLANA_WALLET]) {
    expect(refusal({ ...good, on_behalf })?.detail).toStartWith('request validation failed: on_behalf must be 0x')
  }
})

test('a misspelled chain_id is refused, because the default is Ethereum', () => {
  const detail = 'request validation failed: unknown field chainId; did you mean chain_id?'
  expect(refusal({ ...good, chainId: 8453 })?.detail).toBe(detail)
})

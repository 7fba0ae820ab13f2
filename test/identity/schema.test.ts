// Decoding of identity requests: image sizes, registrations, verifications and session ids.
import { describe, expect, test } from 'bun:test'
import { createChainTable } from '../../src/domain/chain.ts'
import { decodeRegister, decodeSize, decodeVerify, parseSessionId } from '../../src/identity/schema.ts'
import type { JsonObject } from '../../src/server/strict-json.ts'
import { SOLANA_WALLET } from './support.ts'

const EVM = '0xAbCdEf0123456789aBcDeF0123456789abcdef01'
const size = (query: string) => decodeSize(new URLSearchParams(query))
const codeOf = (work: () => unknown): string => {
  try {
    work()
    return 'nothing'
  } catch (error) {
    return (error as { code?: string }).code ?? 'unknown'
  }
}

describe('size', () => {
  test.each([
    ['', 300],
    ['other=1', 300],
    ['size=80', 80],
    ['size=2000', 2_000],
    ['size=0300', 300],
  ])('in %p is %d', (query, pixels) => {
    expect(size(query)).toBe(pixels)
  })

  test.each(['79', '2001', '0', '-300', '+300', '300.0', '3e2', '0x100', ' 300', '300 ', '', 'NaN', '١٠٠', '99999'])(
    '%p is refused with the range',
    (text) => {
      const query = new URLSearchParams({ size: text }).toString()
      expect(() => size(query)).toThrow('size must be a whole number from 80 to 2000')
    },
  )

  test('that is repeated is refused', () => {
    expect(codeOf(() => size('size=300&size=300'))).toBe('INVALID_FIELD')
  })
})

describe('a registration', () => {
  test('requires no fields, and treats null as missing', () => {
    for (const body of [{}, { walletAddress: null, originUrl: null }, { unknown: 1 }]) {
      expect(decodeRegister(body)).toEqual({ walletAddress: null, originUrl: null })
    }
  })

  test('accepts addresses of both families in canonical form', () => {
    expect<string | null>(decodeRegister({ walletAddress: EVM }).walletAddress).toBe(EVM.toLowerCase())
    expect(decodeRegister({ walletAddress: SOLANA_WALLET }).walletAddress).toBe(SOLANA_WALLET)
  })

  test('refuses an invalid walletAddress or originUrl', () => {
    const texts = [EVM.slice(0, -1), `${EVM}0`, EVM.slice(2), `${EVM} `, SOLANA_WALLET.slice(4), `0${SOLANA_WALLET}`]
    for (const walletAddress of [...texts, '', 7, true, [], {}]) {
      expect(codeOf(() => decodeRegister({ walletAddress } as never))).toBe('INVALID_FIELD')
    }
    for (const originUrl of [7, true, [], {}, '']) {
      expect(codeOf(() => decodeRegister({ originUrl } as never))).toBe('INVALID_FIELD')
    }
  })
})

describe('a verification', () => {
  const verifyOf = (body: JsonObject) => decodeVerify(body, createChainTable())

  test('accepts any chain name from a response, and aliases of known chains', () => {
    for (const chain of ['base', 'polygon', 'eip155:123456', 'ourChain']) {
      expect(verifyOf({ address: EVM, chain }).chain).toBe(chain)
    }
    expect(verifyOf({ address: EVM, chain: 'ethereum-mainnet' }).chain).toBe('ethereum')
  })

  test('keeps the address as sent and in canonical form', () => {
    const decoded = verifyOf({ address: EVM })
    expect<string>(decoded.address).toBe(EVM.toLowerCase())
    expect(decoded).toMatchObject({ addressAsSent: EVM, checkType: null, chain: null })
    expect(verifyOf({ address: EVM, type: 'individual' }).checkType).toBe('kyc')
    expect(verifyOf({ address: EVM, type: 'business' }).checkType).toBe('kyb')
    expect(verifyOf({ address: EVM, type: null }).checkType).toBeNull()
  })

  test('without an address has a missing field; other errors are invalid fields', () => {
    for (const body of [{}, { address: null }, { address: '' }]) {
      expect(codeOf(() => verifyOf(body))).toBe('MISSING_REQUIRED_FIELD')
    }
    for (const body of [
      { address: 7 },
      { address: 'x' },
      { address: EVM, type: 'kyc' },
      { address: EVM, type: 1 },
      { address: EVM, chain: 1 },
      { address: EVM, chain: '' },
      { address: EVM, chain: 'a b' },
    ]) {
      expect(codeOf(() => verifyOf(body))).toBe('INVALID_FIELD')
    }
  })
})

test('a session id is a UUID, in lower case', () => {
  const id = '01a1f8ae-78a5-736f-b344-07aea9a52566'
  expect([parseSessionId(id), parseSessionId(id.toUpperCase())]).toEqual([id, id])
  for (const text of ['', 'x', id.slice(1), `${id}0`, id.replaceAll('-', ''), id.replace('0', 'g'), `{${id}}`]) {
    expect(parseSessionId(text)).toBeNull()
  }
})

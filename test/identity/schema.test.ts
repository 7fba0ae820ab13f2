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
  test('is 300 unless given, from 80 to 2000', () => {
    expect(size('')).toBe(300)
    expect(size('other=1')).toBe(300)
    expect(size('size=80')).toBe(80)
    expect(size('size=2000')).toBe(2_000)
    expect(size('size=0300')).toBe(300)
  })

  test.each(['79', '2001', '0', '-300', '+300', '300.0', '3e2', '0x100', ' 300', '300 ', '', 'NaN', '١٠٠', '99999'])(
    '%p is refused, and the range named',
    (text) => {
      const query = new URLSearchParams({ size: text }).toString()
      expect(() => size(query)).toThrow('size must be a whole number from 80 to 2000')
    },
  )

  test('given twice is refused', () => {
    expect(codeOf(() => size('size=300&size=300'))).toBe('INVALID_FIELD')
  })
})

describe('a registration', () => {
  test('needs nothing, and null is nothing', () => {
    for (const body of [{}, { walletAddress: null, originUrl: null }, { unknown: 1 }]) {
      expect(decodeRegister(body)).toEqual({ walletAddress: null, originUrl: null })
    }
  })

  test('takes the canonical address of either family', () => {
    expect<string | null>(decodeRegister({ walletAddress: EVM }).walletAddress).toBe(EVM.toLowerCase())
    expect(decodeRegister({ walletAddress: SOLANA_WALLET }).walletAddress).toBe(SOLANA_WALLET)
  })

  test('refuses a walletAddress that is none', () => {
    const texts = [
      '',
      EVM.slice(0, -1),
      `${EVM}0`,
      EVM.slice(2),
      `${EVM} `,
      SOLANA_WALLET.slice(4),
      `0${SOLANA_WALLET}`,
    ]
    for (const walletAddress of [...texts, 7, true, [], {}]) {
      expect(codeOf(() => decodeRegister({ walletAddress } as never))).toBe('INVALID_FIELD')
    }
  })

  test('refuses an originUrl that is no text', () => {
    for (const originUrl of [7, true, [], {}, '']) {
      expect(codeOf(() => decodeRegister({ originUrl } as never))).toBe('INVALID_FIELD')
    }
  })
})

describe('a verification', () => {
  const verifyOf = (body: JsonObject) => decodeVerify(body, createChainTable())

  test('takes any chain that an answer may name, and the older names of those that it knows', () => {
    for (const chain of ['base', 'polygon', 'eip155:123456', 'ourChain']) {
      expect(verifyOf({ address: EVM, chain }).chain).toBe(chain)
    }
    expect(verifyOf({ address: EVM, chain: 'ethereum-mainnet' }).chain).toBe('ethereum')
  })

  test('keeps the address as sent beside the canonical one', () => {
    const decoded = verifyOf({ address: EVM })
    expect<string>(decoded.address).toBe(EVM.toLowerCase())
    expect(decoded).toMatchObject({ addressAsSent: EVM, checkType: null, chain: null })
    expect(verifyOf({ address: EVM, type: 'individual' }).checkType).toBe('kyc')
    expect(verifyOf({ address: EVM, type: 'business' }).checkType).toBe('kyb')
    expect(verifyOf({ address: EVM, type: null }).checkType).toBeNull()
  })

  test('without an address is a missing field; a bad one an invalid one', () => {
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

describe('a session id', () => {
  test('is a UUID in any case, made canonical', () => {
    const id = '01a1f8ae-78a5-736f-b344-07aea9a52566'
    expect(parseSessionId(id)).toBe(id)
    expect(parseSessionId(id.toUpperCase())).toBe(id)
    for (const text of ['', 'x', id.slice(1), `${id}0`, id.replaceAll('-', ''), id.replace('0', 'g'), `{${id}}`]) {
      expect(parseSessionId(text)).toBeNull()
    }
  })
})

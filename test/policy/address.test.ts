// Addresses in policies compare as bytes: any case of EVM hex, and base58 exactly as written (threats row 11).
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import bs58 from 'bs58'
import fc from 'fast-check'
import { SOLANA_ZERO_ADDRESS } from '../../src/domain/address.ts'
import { EVM_WALLET, holds, issuesOf, policyOf, refusalOf, SOLANA } from './support.ts'

const SOLANA_WALLET = bs58.encode(createHash('sha256').update('countersign test wallet 1').digest())
const MALFORMED = 'an address must be 0x followed by 40 hex digits (EVM), or 32 bytes in base58 (Solana)'

const hexInAnyCase = fc
  .tuple(fc.uint8Array({ minLength: 20, maxLength: 20 }), fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }))
  .map(([bytes, upper]) =>
    [...Buffer.from(bytes).toString('hex')].map((digit, i) => (upper[i] ? digit.toUpperCase() : digit)).join(''),
  )

describe('EVM', () => {
  test('case and checksum do not matter', () => {
    fc.assert(
      fc.property(hexInAnyCase, (digits) => {
        const from = `0x${digits.toLowerCase()}`
        expect(holds(`wallet.address == address("0x${digits}")`, { from })).toBe(true)
        expect(holds(`wallet.address in [address("0x${digits}")]`, { from })).toBe(true)
        expect(holds(`wallet.address != address("0x${digits}")`, { from })).toBe(false)
      }),
      { numRuns: 100 },
    )
  })

  test('one differing byte does', () => {
    const other = `0x${'ab'.repeat(19)}ac`
    expect(holds(`wallet.address == address("${EVM_WALLET}")`, { from: other })).toBe(false)
    expect(holds(`wallet.address in [address("${EVM_WALLET}")]`, { from: other })).toBe(false)
  })
})

describe('Solana', () => {
  test('the same text is the same address', () => {
    expect(holds(`wallet.address == address("${SOLANA_WALLET}")`, { ...SOLANA, from: SOLANA_WALLET })).toBe(true)
    expect(holds(`target.address == address("${SOLANA_ZERO_ADDRESS}")`, { ...SOLANA, to: SOLANA_ZERO_ADDRESS })).toBe(
      true,
    )
  })

  test('base58 is never case-folded', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        const text = bs58.encode(bytes)
        const folded = text.toLowerCase()
        fc.pre(folded !== text && !/[l]/.test(folded))
        const other = bs58.decodeUnsafe(folded)
        const expression = `wallet.address == address("${folded}")`
        if (other?.length === 32) expect(holds(expression, { ...SOLANA, from: text })).toBe(false)
        else expect(refusalOf(expression)).toBe(MALFORMED)
      }),
      { numRuns: 100 },
    )
  })

  test('an EVM literal on Solana is another address, not a mistake', () => {
    expect(holds(`wallet.address == address("${EVM_WALLET}")`, { ...SOLANA, from: SOLANA_WALLET })).toBe(false)
  })

  test('lists may hold both families', () => {
    const list = `[address("${EVM_WALLET}"), address("${SOLANA_WALLET}")]`
    expect(holds(`wallet.address in ${list}`)).toBe(true)
    expect(holds(`wallet.address in ${list}`, { ...SOLANA, from: SOLANA_WALLET })).toBe(true)
  })
})

describe('a literal is refused when it is saved', () => {
  test.each([
    ['""'],
    ['"0x"'],
    [`"${EVM_WALLET.slice(0, -1)}"`],
    [`"${EVM_WALLET}0"`],
    [`"${EVM_WALLET.slice(2)}"`],
    [`"0X${EVM_WALLET.slice(2)}"`],
    [`" ${EVM_WALLET}"`],
    [`"${EVM_WALLET.slice(0, -1)}g"`],
    // The Kelvin sign, which lower-cases to k, and a Cyrillic a.
    [`"${EVM_WALLET.slice(0, -1)}\u212a"`],
    [`"${EVM_WALLET.slice(0, -2)}\u0430b"`],
    [`"${SOLANA_WALLET}1"`],
    [`"${SOLANA_WALLET.slice(0, -3)}"`],
    [`"0${SOLANA_WALLET.slice(1)}"`],
    ['"vitalik.eth"'],
  ])('%s', (literal) => {
    expect(refusalOf(`wallet.address == address(${literal})`)).toBe(MALFORMED)
  })

  test('at the position of the literal', () => {
    const [issue] = issuesOf(() => policyOf('chain.id == 1 || wallet.address == address("0x00")'))
    expect(issue?.column).toBe('chain.id == 1 || wallet.address == address('.length + 1)
  })

  test('when it is not a literal', () => {
    expect(refusalOf('address(client.ip) == wallet.address')).toBe('address() takes a string literal')
    expect(refusalOf('address(5) == wallet.address')).toBe('address() takes a string literal')
    expect(refusalOf('["0x00"].exists(x, address(x) == wallet.address)')).toBe('address() takes a string literal')
  })

  test('when a text stands in its place, with the way to write it', () => {
    const hint = 'write addresses as address("…")'
    expect(refusalOf(`wallet.address == "${EVM_WALLET}"`)).toContain(hint)
    expect(refusalOf(`"${EVM_WALLET}" != wallet.address`)).toContain(hint)
    expect(refusalOf(`wallet.address in ["${EVM_WALLET}"]`)).toContain(hint)
  })

  test('when addresses are ordered', () => {
    expect(refusalOf('wallet.address < target.address')).toBe('no such overload: address < address')
  })
})

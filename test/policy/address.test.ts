// Addresses in policies, compared as bytes: EVM hex in any case, base58 exactly as written (threats row 11).
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
  test('ignores case and checksum', () => {
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

  test('distinguishes addresses by one byte', () => {
    const other = `0x${'ab'.repeat(19)}ac`
    expect(holds(`wallet.address == address("${EVM_WALLET}")`, { from: other })).toBe(false)
    expect(holds(`wallet.address in [address("${EVM_WALLET}")]`, { from: other })).toBe(false)
  })
})

describe('Solana', () => {
  test('accepts equal base58', () => {
    const zero = { ...SOLANA, to: SOLANA_ZERO_ADDRESS }
    expect(holds(`wallet.address == address("${SOLANA_WALLET}")`, { ...SOLANA, from: SOLANA_WALLET })).toBe(true)
    expect(holds(`target.address == address("${SOLANA_ZERO_ADDRESS}")`, zero)).toBe(true)
  })

  test('never ignores the case of base58', () => {
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

  const [evm, solana] = [`address("${EVM_WALLET}")`, `address("${SOLANA_WALLET}")`]
  test('distinguishes an EVM literal, even in lists of both families', () => {
    const fields = { ...SOLANA, from: SOLANA_WALLET }
    expect(holds(`wallet.address == ${evm}`, fields)).toBe(false)
    expect(holds(`wallet.address in [${evm}, ${solana}]`, fields)).toBe(true)
    expect(holds(`wallet.address in [${evm}, ${solana}]`)).toBe(true)
  })
})

describe('a policy is refused for', () => {
  const digits = EVM_WALLET.slice(2)
  test.each(
    [
      ['', '0x', EVM_WALLET.slice(0, -1), `${EVM_WALLET}0`, digits, `0X${digits}`, ` ${EVM_WALLET}`],
      // The Kelvin sign, which lowercases to k, and a Cyrillic a.
      [`${EVM_WALLET.slice(0, -1)}g`, `${EVM_WALLET.slice(0, -1)}\u212a`, `${EVM_WALLET.slice(0, -2)}\u0430b`],
      [`${SOLANA_WALLET}1`, SOLANA_WALLET.slice(0, -3), `0${SOLANA_WALLET.slice(1)}`, 'vitalik.eth'],
    ].flat(),
  )('the address %p', (text) => expect(refusalOf(`wallet.address == address("${text}")`)).toBe(MALFORMED))

  test('a malformed address at its position', () => {
    const [issue] = issuesOf(() => policyOf('chain.id == 1 || wallet.address == address("0x00")'))
    expect(issue?.column).toBe('chain.id == 1 || wallet.address == address('.length + 1)
  })

  const LITERAL = 'address() takes a string literal'
  const TEXT = ': write addresses as address("…")'
  test.each([
    ['address(client.ip) == wallet.address', LITERAL],
    ['address(5) == wallet.address', LITERAL],
    ['["0x00"].exists(x, address(x) == wallet.address)', LITERAL],
    [`wallet.address == "${EVM_WALLET}"`, TEXT],
    [`"${EVM_WALLET}" != wallet.address`, TEXT],
    [`wallet.address in ["${EVM_WALLET}"]`, TEXT],
    ['wallet.address < target.address', 'no such overload: address < address'],
  ])('%s', (expression, message) => expect(refusalOf(expression)).toEndWith(message))
})

import { expect, test } from 'bun:test'
import bs58 from 'bs58'
import fc from 'fast-check'
import { isHexBytes, parseSolanaAddress } from '../../src/domain/address.ts'
import { isBase58Of32Bytes } from '../../src/lib/base58.ts'

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
/** The reference: decode it all and count the bytes. */
const decodesTo32 = (text: string): boolean => bs58.decodeUnsafe(text)?.length === 32

test('the edges of 32 bytes', () => {
  const largest = bs58.encode(new Uint8Array(32).fill(255))
  const tooLarge = bs58.encode(Uint8Array.from([1, ...new Uint8Array(32)]))
  const smallest = bs58.encode(Uint8Array.from([1, ...new Uint8Array(31)]))
  const belowSmallest = bs58.encode(new Uint8Array(31).fill(255))
  for (const text of ['1'.repeat(32), largest, smallest, `1${belowSmallest}`]) {
    expect(isBase58Of32Bytes(text)).toBe(true)
    expect(parseSolanaAddress(text)).toBe(text as never)
  }
  for (const text of [
    '',
    '1'.repeat(31),
    '1'.repeat(33),
    tooLarge,
    belowSmallest,
    `1${smallest}`,
    `1${largest}`,
    'z'.repeat(44),
    '1'.repeat(1_000),
  ]) {
    expect(isBase58Of32Bytes(text)).toBe(false)
    expect(parseSolanaAddress(text)).toBeNull()
  }
})

test('characters outside the alphabet, wherever they stand', () => {
  const good = bs58.encode(new Uint8Array(32).fill(7))
  for (const wrong of ['0', 'O', 'I', 'l', ' ', '\n', '\u0131', '\u0661', '\ud83d']) {
    for (const at of [0, 1, 20, good.length - 1]) {
      expect(isBase58Of32Bytes(good.slice(0, at) + wrong + good.slice(at + 1))).toBe(false)
    }
  }
})

test('agrees with a full decoder on encoded bytes with any number of leading zeros', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 29, maxLength: 35 }), fc.nat(34), (bytes, zeros) => {
      bytes.fill(0, 0, Math.min(zeros, bytes.length))
      const text = bs58.encode(bytes)
      expect(isBase58Of32Bytes(text)).toBe(text.length >= 32 && text.length <= 44 && bytes.length === 32)
    }),
    { numRuns: 2_000 },
  )
})

test('agrees with a full decoder on any text of the alphabet', () => {
  const text = fc.string({ unit: fc.constantFrom(...ALPHABET), minLength: 30, maxLength: 46 })
  fc.assert(
    fc.property(text, (candidate) => {
      expect(isBase58Of32Bytes(candidate)).toBe(decodesTo32(candidate))
    }),
    { numRuns: 2_000 },
  )
})

test('hex bytes are recognised alike when short and when long', () => {
  const digits = fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), maxLength: 150 })
  const stranger = fc.constantFrom('', 'g', ' ', '\u212a', '\u0131', '\u0130', '\ud83d\ude00', '-', 'x')
  fc.assert(
    fc.property(digits, fc.nat(), stranger, (text, at, inserted) => {
      const place = at % (text.length + 1)
      const candidate = `0x${text.slice(0, place)}${inserted}${text.slice(place)}`
      expect(isHexBytes(candidate)).toBe(/^0x(?:[0-9a-fA-F]{2})*$/.test(candidate))
    }),
    { numRuns: 1_000 },
  )
})

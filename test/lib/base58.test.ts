import { expect, test } from 'bun:test'
import bs58 from 'bs58'
import fc from 'fast-check'
import { isHexBytes, parseSolanaAddress } from '../../src/domain/address.ts'
import { isBase58Of32Bytes } from '../../src/lib/base58.ts'

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

test('accepts the smallest and largest encodings of 32 bytes, and rejects shorter and longer encodings', () => {
  const largest = bs58.encode(new Uint8Array(32).fill(255))
  const tooLarge = bs58.encode(Uint8Array.from([1, ...new Uint8Array(32)]))
  const smallest = bs58.encode(Uint8Array.from([1, ...new Uint8Array(31)]))
  const belowSmallest = bs58.encode(new Uint8Array(31).fill(255))
  for (const text of ['1'.repeat(32), largest, smallest, `1${belowSmallest}`]) {
    expect([isBase58Of32Bytes(text), parseSolanaAddress(text)]).toEqual([true, text as never])
  }
  const ones = [31, 33, 1_000].map((length) => '1'.repeat(length))
  for (const text of ['', ...ones, tooLarge, belowSmallest, `1${smallest}`, `1${largest}`, 'z'.repeat(44)]) {
    expect([isBase58Of32Bytes(text), parseSolanaAddress(text)]).toEqual([false, null])
  }
})

test('refuses a character outside the alphabet at any position', () => {
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

test('agrees with a full decoder on any text in the alphabet', () => {
  const texts = fc.string({ unit: fc.constantFrom(...ALPHABET), minLength: 30, maxLength: 46 })
  fc.assert(
    fc.property(texts, (text) => expect(isBase58Of32Bytes(text)).toBe(bs58.decodeUnsafe(text)?.length === 32)),
    { numRuns: 2_000 },
  )
})

test('hex bytes are recognized in short and long texts', () => {
  const digits = fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), maxLength: 150 })
  const other = fc.constantFrom('', 'g', ' ', '\u212a', '\u0131', '\u0130', '\ud83d\ude00', '-', 'x')
  fc.assert(
    fc.property(digits, fc.nat(), other, (text, at, inserted) => {
      const index = at % (text.length + 1)
      const candidate = `0x${text.slice(0, index)}${inserted}${text.slice(index)}`
      expect(isHexBytes(candidate)).toBe(/^0x(?:[0-9a-fA-F]{2})*$/.test(candidate))
    }),
    { numRuns: 1_000 },
  )
})

// Keys of addresses, and the texts that are addresses.
import { describe, expect, test } from 'bun:test'
import bs58 from 'bs58'
import fc from 'fast-check'
import { addressKey, addressOfKey, parseAnyAddress, readAddressWords } from '../../src/domain/address-key.ts'

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
const words = new Uint32Array(8)

describe('an address key', () => {
  const evmText = (key: Uint8Array): string => `0x${Buffer.from(key).toString('hex')}`
  test.each([
    ['20 bytes of an EVM address', 20, evmText],
    ['32 bytes of a Solana address', 32, bs58.encode],
  ] as const)('is the %s, including leading zeros', (_, length, textOf) => {
    fc.assert(
      fc.property(bytes(length), fc.nat(length), (key, zeros) => {
        key.fill(0, 0, zeros)
        const address = textOf(key)
        expect(addressKey(address)).toEqual(key)
        expect<string>(addressOfKey(key)).toBe(address)
      }),
    )
  })

  test('can have the largest value of 32 bytes', () => {
    const key = new Uint8Array(32).fill(255)
    expect(addressKey(bs58.encode(key))).toEqual(key)
  })

  test.each([
    '',
    '0x',
    `0x${'1'.repeat(39)}`,
    `0x${'1'.repeat(41)}`,
    `0x${'A'.repeat(40)}`,
    `0x${'g'.repeat(40)}`,
    `0x${'\u212a'.repeat(40)}`,
    '1'.repeat(31),
    '1'.repeat(45),
    // The largest number of 44 digits exceeds 32 bytes.
    'z'.repeat(44),
    '0OIl'.repeat(11),
    'é'.repeat(40),
  ])('is null for a text that isn’t a canonical address: %j', (text) => expect(readAddressWords(text, words)).toBe(0))

  test('is not created from other texts or lengths', () => {
    expect(() => addressKey('nonsense')).toThrow(RangeError)
    expect(() => addressOfKey(new Uint8Array(21))).toThrow(RangeError)
  })

  test('is returned for any address of either family', () => {
    expect<string | null>(parseAnyAddress(`0x${'AB'.repeat(20)}`)).toBe(`0x${'ab'.repeat(20)}`)
    const solana = 'So11111111111111111111111111111111111111112'
    expect<string | null>(parseAnyAddress(solana)).toBe(solana)
    expect(parseAnyAddress(solana.toLowerCase())).not.toBe(solana as never)
    expect(parseAnyAddress('1BitcoinEaterAddressDontSendf59kuE')).toBeNull()
  })
})

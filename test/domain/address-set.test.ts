// Sets of addresses: their members, and the keys that they accept.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { addressOfKey, type KeyWidth } from '../../src/domain/address-key.ts'
import {
  AddressSetInvalidError,
  createAddressSetBuilder,
  EMPTY_ADDRESS_SET,
  openAddressSet,
} from '../../src/domain/address-set.ts'

const sorted = (keys: readonly Uint8Array[]): Uint8Array[] => {
  const distinct = new Map(keys.map((key) => [Buffer.from(key).toString('hex'), key]))
  return [...distinct.values()].sort(Buffer.compare)
}

const build = (evm: readonly Uint8Array[], solana: readonly Uint8Array[], slice = 3): SharedArrayBuffer => {
  const builder = createAddressSetBuilder(evm.length, solana.length)
  const append = (width: KeyWidth, keys: readonly Uint8Array[]): void => {
    for (let at = 0; at < keys.length; at += slice) builder.append(width, Buffer.concat(keys.slice(at, at + slice)))
  }
  append(20, evm)
  append(32, solana)
  return builder.finish()
}

/** Keys with common prefixes, like vanity addresses: all fall into few entries of the index. */
const key = (width: KeyWidth) =>
  fc
    .tuple(fc.constantFrom(0, 1, 255), fc.nat(width), fc.uint8Array({ minLength: width, maxLength: width }))
    .map(([fill, same, random]) => random.fill(fill, 0, same))
const members = (width: KeyWidth) => fc.array(key(width), { maxLength: 60 }).map(sorted)

describe('a set of addresses', () => {
  test('contains exactly the addresses that it was built from', () => {
    fc.assert(
      fc.property(members(20), members(32), fc.array(fc.oneof(key(20), key(32))), (evm, solana, others) => {
        const set = openAddressSet(build(evm, solana))
        const inside = new Set([...evm, ...solana].map((member) => addressOfKey(member)))
        expect([set.evmCount, set.solanaCount]).toEqual([evm.length, solana.length])
        for (const address of inside) expect(set.has(address)).toBe(true)
        for (const other of others) {
          const address = addressOfKey(other)
          expect(set.has(address)).toBe(inside.has(address))
          // A change of one bit gives a different address.
          other[other.length - 1]! ^= 1
          const neighbour = addressOfKey(other)
          expect(set.has(neighbour)).toBe(inside.has(neighbour))
        }
      }),
      { numRuns: 200 },
    )
  })

  test('contains no text that isn’t an address', () => {
    const set = openAddressSet(build([new Uint8Array(20)], [new Uint8Array(32)]))
    expect(set.has('')).toBe(false)
    expect(set.has('0x')).toBe(false)
    expect(set.has(`0x${'0'.repeat(40)}`)).toBe(true)
    expect(set.has('1'.repeat(32))).toBe(true)
    expect(openAddressSet(EMPTY_ADDRESS_SET).has(`0x${'0'.repeat(40)}`)).toBe(false)
  })

  test('can lack addresses of one family', () => {
    const evmOnly = openAddressSet(build([new Uint8Array(20).fill(7)], []))
    expect(evmOnly.has(addressOfKey(new Uint8Array(20).fill(7)))).toBe(true)
    expect(evmOnly.has(addressOfKey(new Uint8Array(32).fill(7)))).toBe(false)
  })

  const [low, high] = [new Uint8Array(20).fill(1), new Uint8Array(20).fill(2)]
  const addedTo = (builder: ReturnType<typeof createAddressSetBuilder>) => {
    builder.append(20, low)
    return builder
  }
  test.each<[string, () => unknown]>([
    ['out of order', () => build([high, low], [])],
    ['repeated', () => build([low, low], [], 1)],
    ['too many', () => createAddressSetBuilder(1, 0).append(20, Buffer.concat([low, high]))],
    ['cut', () => createAddressSetBuilder(1, 0).append(20, low.subarray(1))],
    ['too few', () => addedTo(createAddressSetBuilder(2, 0)).finish()],
  ])('cannot be built from keys that are %s', (_, make) => expect(make).toThrow(AddressSetInvalidError))

  test('needs little more memory than its keys', () => {
    const keys = Array.from({ length: 10_000 }, (_, index) => {
      const bytes = new Uint8Array(20)
      new DataView(bytes.buffer).setUint32(0, index * 429_496)
      return bytes
    })
    expect(build(keys, [], 4096).byteLength).toBeLessThan(10_000 * 24 + 1024)
  })
})

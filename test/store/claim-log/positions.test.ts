// Positions of claims in the claim log by their digests, and the encoding of entries.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  ENTRY_BYTES,
  entryBytes,
  type PlacedEntry,
  readEntry,
  readReplaces,
} from '../../../src/store/claim-log/entry.ts'
import { createPositions } from '../../../src/store/claim-log/positions.ts'

/** Starts of entries, each with the digest of its number. */
const digests = (count: number): Uint8Array => {
  const bytes = new Uint8Array(count * ENTRY_BYTES)
  for (let index = 0; index < count; index++) {
    bytes.set(new Bun.CryptoHasher('sha256').update(String(index)).digest().subarray(0, 16), index * ENTRY_BYTES)
  }
  return bytes
}

test('every claim is found by its digest, newest first, with few false positives', () => {
  const COUNT = 60_000
  const bytes = digests(COUNT + 2_000)
  const positions = createPositions()
  for (let index = 0; index < COUNT; index++) positions.add(bytes, index * ENTRY_BYTES, index, 100, 0)
  // A second claim for some digests.
  for (let index = 0; index < 100; index++) positions.add(bytes, index * ENTRY_BYTES, COUNT + index, 100, 0)
  const found = (index: number) => positions.find(bytes.subarray(index * ENTRY_BYTES))
  for (let index = 0; index < COUNT; index++) {
    const numbers = found(index)
    expect(numbers).toContain(index)
    if (index < 100) expect(numbers).toContain(COUNT + index)
    expect(numbers).toEqual(numbers.toSorted((left, right) => right - left))
  }
  let wrong = 0
  for (let index = COUNT; index < COUNT + 2_000; index++) wrong += found(index).length
  expect(wrong).toBeLessThan(40)
})

test('a claim takes the slot of the claim that it replaces', () => {
  const bytes = digests(10)
  const positions = createPositions()
  const found = (index: number) => positions.find(bytes.subarray(index * ENTRY_BYTES))
  let number = 0
  for (let round = 0; round < 20_000; round++) {
    positions.add(bytes, ENTRY_BYTES, number++, 100, round === 0 ? 0 : 2)
    positions.add(bytes, 2 * ENTRY_BYTES, number++, 100, round === 0 ? 0 : 2)
  }
  expect(found(1)).toEqual([number - 2])
  expect(found(2)).toEqual([number - 1])
  // The replaced claim can be forgotten or unknown.
  positions.add(bytes, 3 * ENTRY_BYTES, number, 100, 7)
  expect(found(3)).toEqual([number])
})

test('keys that a caller chooses cannot fill one slot', () => {
  const COUNT = 60_000
  const bytes = new Uint8Array(COUNT * ENTRY_BYTES)
  const view = new DataView(bytes.buffer)
  // The digests differ only in the part that a caller can choose.
  for (let index = 0; index < COUNT; index++) view.setUint32(index * ENTRY_BYTES + 4, index)
  const positions = createPositions()
  const startedMs = performance.now()
  for (let index = 0; index < COUNT; index++) positions.add(bytes, index * ENTRY_BYTES, index, 100, 0)
  for (let index = 0; index < COUNT; index += 600) {
    expect(positions.find(bytes.subarray(index * ENTRY_BYTES))).toContain(index)
  }
  // In one slot, this would take 1,800 million steps, or several seconds.
  expect(performance.now() - startedMs).toBeLessThan(1_000)
})

test('more claims than one generation holds are found', () => {
  const COUNT = 2_600_000
  const random = new Uint32Array((COUNT * ENTRY_BYTES) / 4 / 8 + 16)
  let state = 1
  for (let at = 0; at < random.length; at++) {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + at
    random[at] = state
  }
  // Overlapping pieces of random bytes, of which eight determine the slot.
  const bytes = new Uint8Array(random.buffer)
  const positions = createPositions()
  for (let number = 0; number < COUNT; number++) positions.add(bytes, number * 8, number, 100, 0)
  for (let number = 0; number < COUNT; number += 997) {
    expect(positions.find(bytes.subarray(number * 8))).toContain(number)
  }
})

test('a generation is forgotten when its last claim expires, and numbers can have gaps', () => {
  const bytes = digests(10_000)
  const positions = createPositions()
  const add = (index: number, number: number, keepUntilSeconds: number): void =>
    positions.add(bytes, index * ENTRY_BYTES, number, keepUntilSeconds, 0)
  const found = (index: number) => positions.find(bytes.subarray(index * ENTRY_BYTES)).length > 0
  for (let index = 0; index < 4_096; index++) add(index, index, 100)
  for (let index = 4_096; index < 9_000; index++) add(index, index + 5_000_000, index === 5_000 ? 300 : 200)
  for (const [atSeconds, expected] of [
    [99, [true, true, true, true]],
    [100, [false, false, true, true]],
    [299, [false, false, true, true]],
    [300, [false, false, false, false]],
  ] as const) {
    positions.forget(atSeconds)
    expect([0, 4_095, 5_000, 8_999].map(found)).toEqual([...expected])
  }
  add(9_001, 9_000_000, 400)
  add(9_002, 99_000_000, 400)
  expect(positions.find(bytes.subarray(9_001 * ENTRY_BYTES))).toEqual([9_000_000])
  expect(positions.find(bytes.subarray(9_002 * ENTRY_BYTES))).toEqual([99_000_000])
})

test('a decoded entry equals the encoded value', () => {
  const hash = fc.uint8Array({ minLength: 16, maxLength: 16 })
  const seconds = fc.nat(0xffff_ffff)
  const entry: fc.Arbitrary<PlacedEntry> = fc.record({
    digest: hash,
    bodyHash: hash,
    uuid: fc.uuid(),
    claimExpiresAtSeconds: seconds,
    keepUntilSeconds: seconds,
    uuidSinceSeconds: seconds,
    released: fc.boolean(),
    replaces: fc.nat(0xff_ffff),
  })
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 5 }), (entries) => {
      const bytes = entryBytes(entries)
      const read = entries.map((_, index) => ({
        ...readEntry(bytes, index * ENTRY_BYTES),
        replaces: readReplaces(bytes, index * ENTRY_BYTES),
      }))
      expect(read).toEqual(entries)
    }),
  )
  const [far] = fc.sample(entry, 1)
  const bytes = entryBytes([{ ...far!, keepUntilSeconds: 1e12, replaces: 0x100_0000 }])
  expect(readEntry(bytes, 0).keepUntilSeconds).toBe(0xffff_ffff)
  expect(readReplaces(bytes, 0)).toBe(0)
})

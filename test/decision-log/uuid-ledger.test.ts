// The memory-bounded set of uuids, compared with a Set.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createUuidLedger, type UuidUse } from '../../src/decision-log/uuid-ledger.ts'
import { uuidOf } from './fixtures.ts'

test('the ledger finds the same repetitions as a Set, for any limit', () => {
  const use = fc.constantFrom<UuidUse>('decision', 'withheld')
  // Includes long runs that differ in one digit, which a poor hash would never halve.
  const uuid = fc.oneof(
    fc.nat({ max: 60 }).map(uuidOf),
    // Its hash is 0, the first of the first range.
    fc.constant('9e3779b9-0000-0000-0000-000000000000'),
    fc.nat({ max: 60 }).map((n) => `00000000-0000-4000-a000-${n.toString(16).padStart(12, '0')}`),
    fc.nat({ max: 60 }).map((n) => `${n.toString(16).padStart(8, '0')}-0000-4000-a000-000000000000`),
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(uuid, use), { maxLength: 200 }), fc.integer({ min: 1, max: 64 }), (uses, limit) => {
      const expected = new Set<number>()
      const seen = new Set<string>()
      for (const [index, [text, how]] of uses.entries()) {
        if (seen.has(text + how)) expected.add(index)
        seen.add(text + how)
      }
      const found = new Set<number>()
      const ledger = createUuidLedger(limit)
      let passes = 0
      do {
        for (const [index, [text, how]] of uses.entries()) if (ledger.add(text, how)) found.add(index)
        passes++
      } while (ledger.nextRange())
      expect([...found].sort()).toEqual([...expected].sort())
      expect(passes).toBeLessThan(2_000)
    }),
    { numRuns: 200 },
  )
})

test('100,000 uuids with a limit of 10,000 take at most about three times the minimum number of passes', () => {
  const ledger = createUuidLedger(10_000)
  const uuids = Array.from({ length: 100_000 }, (_, n) => `00000000-0000-4000-a000-${n.toString(16).padStart(12, '0')}`)
  let passes = 0
  let repeated = 0
  do {
    for (const uuid of uuids) if (ledger.add(uuid, 'decision')) repeated++
    passes++
  } while (ledger.nextRange())
  expect(repeated).toBe(0)
  expect(passes).toBeGreaterThanOrEqual(10)
  expect(passes).toBeLessThanOrEqual(32)
})

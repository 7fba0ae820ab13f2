// The index against a plain list of what was put in, with hashes few enough that runs meet, wrap around and close again.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createRecordIndex } from '../../src/identity/standing/record-index.ts'

const HASHES = [0, 1, 2, 1_022, 1_023, 1_024, 2_047, 0xffff_ffff]
const step = fc.tuple(fc.constantFrom('add', 'remove', 'move'), fc.nat(40), fc.constantFrom(...HASHES))

describe('the index of records', () => {
  test('finds what is there, and nothing that is gone', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const index = createRecordIndex()
        const kept = new Map<number, number>()
        let unused = 100
        for (const [kind, place, hash] of steps) {
          if (kind === 'add' && !kept.has(place)) {
            index.add(hash, place)
            kept.set(place, hash)
          }
          const keptHash = kept.get(place)
          if (kind === 'remove') {
            index.remove(keptHash ?? hash, place)
            kept.delete(place)
          }
          if (kind === 'move' && keptHash !== undefined) {
            index.move(keptHash, place, ++unused)
            kept.delete(place)
            kept.set(unused, keptHash)
          }
        }
        expect(index.size()).toBe(kept.size)
        for (const [place, hash] of kept) expect(index.find(hash, (found) => found === place)).toBe(place)
        for (const hash of HASHES) {
          const found: number[] = []
          index.find(hash, (place) => {
            found.push(place)
            return false
          })
          expect(found.sort()).toEqual(
            [...kept]
              .filter(([, of]) => of === hash)
              .map(([place]) => place)
              .sort(),
          )
        }
      }),
    )
  })

  test('grows, and forgets all at once', () => {
    const index = createRecordIndex()
    for (let place = 0; place < 5_000; place++) index.add(Math.imul(place, 0x9e3779b1) >>> 0, place)
    for (let place = 0; place < 5_000; place++) {
      expect(index.find(Math.imul(place, 0x9e3779b1) >>> 0, (found) => found === place)).toBe(place)
    }
    index.clear()
    expect(index.size()).toBe(0)
    expect(index.find(0, () => true)).toBe(-1)
  })
})

// The record index, compared with a map, with few hashes, so that probe sequences collide, wrap around and close.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createRecordIndex } from '../../src/identity/standing/record-index.ts'

const HASHES = [0, 1, 2, 1_022, 1_023, 1_024, 2_047, 0xffff_ffff]
const step = fc.tuple(fc.constantFrom('add', 'remove', 'move'), fc.nat(40), fc.constantFrom(...HASHES))

describe('the record index', () => {
  test('finds all records, and no removed record', () => {
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
          const expected = [...kept].flatMap(([place, of]) => (of === hash ? [place] : []))
          expect(found.sort()).toEqual(expected.sort())
        }
      }),
    )
  })

  test('grows, and can be cleared', () => {
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

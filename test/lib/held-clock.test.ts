// A wall clock that ignores recent forward jumps, compared with a model: the smallest offset of the recent readings.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createHeldClock } from '../../src/lib/time.ts'
import { createManualClock } from '../store/temporary-store.ts'

test('a forward jump takes effect after the given delay, counted from the last reading before the jump', () => {
  const HELD_SECONDS = 30
  const pauses = fc.record({ seconds: fc.nat(20), jump: fc.oneof(fc.constant(0), fc.integer({ min: -50, max: 50 })) })
  fc.assert(
    fc.property(fc.array(pauses, { maxLength: 60 }), (steps) => {
      const clock = createManualClock()
      const read = createHeldClock(clock, HELD_SECONDS * 1_000)
      const readings: { atMs: number; offset: number }[] = []
      for (const { seconds, jump } of steps) {
        clock.advance(seconds)
        clock.step(jump)
        const atMs = clock.monotonicMs()
        readings.push({ atMs, offset: clock.unixSeconds() - atMs / 1_000 })
        const counted = readings.filter(
          (_, index) => (readings[index + 1]?.atMs ?? Number.POSITIVE_INFINITY) > atMs - HELD_SECONDS * 1_000,
        )
        expect(read()).toBe(atMs / 1_000 + Math.min(...counted.map(({ offset }) => offset)))
      }
    }),
  )
})

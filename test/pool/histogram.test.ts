import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createHistogram } from '../../src/lib/histogram.ts'
import { JOB_BOUNDS_MS } from '../../src/pool/pool-statistics.ts'

test('each duration is counted once, in the first bucket whose bound is not below it', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 60_000, noNaN: true }), { maxLength: 200 }), (durations) => {
      const histogram = createHistogram(JOB_BOUNDS_MS)
      for (const duration of durations) histogram.record(duration)
      const { counts, count, sumMs } = histogram.snapshot()
      expect(count).toBe(durations.length)
      expect(sumMs).toBeCloseTo(
        durations.reduce((sum, duration) => sum + duration, 0),
        3,
      )
      const bounds = [...JOB_BOUNDS_MS, Number.POSITIVE_INFINITY]
      bounds.forEach((bound, index) => {
        const below = bounds[index - 1] ?? Number.NEGATIVE_INFINITY
        expect(counts[index]).toBe(durations.filter((duration) => duration > below && duration <= bound).length)
      })
    }),
  )
})

test('a clock that stands still or a duration below zero counts as 0', () => {
  const histogram = createHistogram(JOB_BOUNDS_MS)
  histogram.record(0)
  histogram.record(-3)
  expect(histogram.snapshot().counts[0]).toBe(2)
  expect(histogram.snapshot().sumMs).toBe(0)
})

test('a snapshot does not change afterwards', () => {
  const histogram = createHistogram(JOB_BOUNDS_MS)
  const before = histogram.snapshot()
  histogram.record(1)
  expect(before.counts.every((count) => count === 0)).toBe(true)
})

// The histogram of job durations.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createHistogram } from '../../src/lib/histogram.ts'
import { JOB_BOUNDS_MS } from '../../src/pool/pool-statistics.ts'

test('each duration counts in the first bucket whose bound is not lower', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 60_000, noNaN: true }), { maxLength: 200 }), (durations) => {
      const histogram = createHistogram(JOB_BOUNDS_MS)
      for (const duration of durations) histogram.record(duration)
      const { counts, count, sumMs } = histogram.snapshot()
      expect(count).toBe(durations.length)
      const expectedSumMs = durations.reduce((sum, duration) => sum + duration, 0)
      expect(sumMs).toBeCloseTo(expectedSumMs, 3)
      const bounds = [...JOB_BOUNDS_MS, Infinity]
      bounds.forEach((bound, index) => {
        const below = bounds[index - 1] ?? -Infinity
        expect(counts[index]).toBe(durations.filter((duration) => duration > below && duration <= bound).length)
      })
    }),
  )
})

test('a negative duration counts as 0', () => {
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

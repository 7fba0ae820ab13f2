// The latency histogram of the load generator.
import { describe, expect, test } from 'bun:test'
import { createLatencyHistogram, mergeSummaries } from '../../bench/load/histogram.ts'

describe('latency histogram', () => {
  test('has percentiles with three significant digits', () => {
    const histogram = createLatencyHistogram()
    for (let i = 1; i <= 1_000; i++) histogram.recordMs(i / 10)
    const { count, p50, p90, p99, p99_9, max } = histogram.summary()
    expect(count).toBe(1_000)
    const near = [
      [p50, 50],
      [p90, 90],
      [p99, 99],
      [p99_9, 99.9],
      [max, 100],
    ] as const
    for (const [value, wanted] of near) expect(Math.abs(value - wanted) / wanted).toBeLessThan(0.002)
  })

  test('is zero if empty, and clamps values outside its range', () => {
    const histogram = createLatencyHistogram()
    expect(histogram.summary()).toMatchObject({ count: 0, p50: 0, max: 0, mean: 0 })
    histogram.recordMs(-0.2)
    expect(histogram.summary()).toMatchObject({ count: 1, max: 0 })
    histogram.recordMs(1e9)
    expect(histogram.summary().max).toBeGreaterThanOrEqual(600_000)
  })

  test('merges summaries', () => {
    const first = createLatencyHistogram()
    const second = createLatencyHistogram()
    for (let i = 0; i < 99; i++) first.recordMs(1)
    second.recordMs(50)
    const merged = mergeSummaries([first.summary(), second.summary()])
    expect(merged.count).toBe(100)
    expect(merged.p50).toBeCloseTo(1, 2)
    expect(merged.max).toBeCloseTo(50, 1)
  })
})

// Capacity planning from measured rates.
import { describe, expect, test } from 'bun:test'
import {
  capacityRows,
  describePlan,
  loadPoints,
  planCapacity,
  reportAsJson,
  reportCapacity,
} from '../../bench/capacity.ts'
import type { Measurement } from '../../bench/result.ts'

const measured = (setting: string, kind: string, rate: number, throughput: number, p99: number): Measurement[] =>
  Object.entries({ rate, throughput, p99 }).map(([what, median]) => {
    const name = `sweep.${setting}.${kind}.${what}`
    return { name, label: name, unit: '/s', better: 'higher', rounds: [median], median }
  })

const points = loadPoints([
  ...measured('p1w2', 'load25', 2_000, 2_000, 3),
  ...measured('p1w2', 'load50', 4_000, 3_980, 12),
  ...measured('p1w2', 'load75', 6_000, 5_000, 15),
  ...measured('p2w0', 'load50', 6_000, 6_000, 30),
  ...measured('p4w4', 'load50', 6_000, 6_000, 40),
])

const reportFor = (ratePerSecond: number, p99Ms: number, measured = points) =>
  reportCapacity({ ratePerSecond, p99Ms, defaultSetting: { processes: 1, workers: 2 }, measured })

describe('capacity', () => {
  test('excludes rates that a setting did not sustain', () => {
    expect(points.map(({ processes, workers, ratePerSecond }) => [processes, workers, ratePerSecond])).toEqual([
      [1, 2, 2_000],
      [1, 2, 4_000],
      [2, 0, 6_000],
      [4, 4, 6_000],
    ])
  })

  test('chooses the fewest nodes that meet the p99, and then the fewest threads', () => {
    expect(planCapacity(points, 5_000, 20)).toMatchObject({ processes: 1, workers: 2, nodes: 2, ratePerSecond: 4_000 })
    expect(planCapacity(points, 5_000, 50)).toMatchObject({ processes: 2, workers: 0, nodes: 1 })
    expect(planCapacity(points, 1_000, 2)).toBeNull()
  })

  test('describes the setting, the nodes and the measured rate, or the lowest p99', () => {
    expect(describePlan(reportFor(5_000, 20))).toBe(
      'For 5,000/s with a p99 of at most 20 ms: 2 nodes like this machine, plus one spare, each with the default, --processes 1 --workers 2.\n' +
        'Measured on one node: 4,000/s with a p99 of 12.0 ms (--processes 1 --workers 2).',
    )
    expect(describePlan(reportFor(5_000, 2))).toContain('The lowest: 2,000/s with a p99 of 3.0 ms')
    expect(describePlan(reportFor(5_000, 2, []))).toContain('the machine is busy')
  })

  test('recommends the default setting if it needs no more nodes, and otherwise shows it for comparison', () => {
    // Without workers, each measured rate needs fewer threads.
    const both = [...points, { processes: 2, workers: 0, ratePerSecond: 3_500, p99Ms: 7 }]
    expect(planCapacity(both, 500, 50)).toMatchObject({ processes: 2, workers: 0, nodes: 1 })
    expect(reportFor(500, 50, both).plan).toMatchObject({ processes: 1, workers: 2, nodes: 1 })
    expect(describePlan(reportFor(5_000, 50)).split('\n').slice(1)).toEqual([
      'Measured on one node: 6,000/s with a p99 of 30.0 ms (--processes 2 --workers 0).',
      'The default: 4,000/s with a p99 of 12.0 ms (--processes 1 --workers 2).',
    ])
    expect(describePlan(reportFor(5_000, 50, points.slice(2)))).toEndWith(
      '\nThe default (--processes 1 --workers 2) held no measured rate.',
    )
  })

  test('returns the recommendation and every measured rate as JSON', () => {
    const { measured, ...rest } = reportAsJson(reportFor(5_000, 20))
    expect(rest).toEqual({
      rate_per_second: 5_000,
      p99_ms: 20,
      recommended: { processes: 1, workers: 2, rate_per_second: 4_000, p99_ms: 12, nodes: 2 },
      default: { processes: 1, workers: 2 },
    })
    expect(measured).toHaveLength(points.length)
    expect(reportAsJson(reportFor(5_000, 2)).recommended).toBeNull()
  })

  test('has a table row per rate and p99, and no table without a sweep', () => {
    expect(capacityRows([])).toEqual([])
    const rows = capacityRows(points)
    expect(rows).toHaveLength(9)
    expect(rows).toContainEqual(['5,000/s', '20 ms', '1', '2', '2 + 1', '4,000/s at 12.0 ms'])
    expect(capacityRows(points.slice(2))[0]).toContain('not reached')
  })
})

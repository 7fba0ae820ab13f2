// The capacity of a node comes from measured rates alone.
import { describe, expect, test } from 'bun:test'
import { capacityRows, describePlan, loadPoints, planCapacity } from '../../bench/capacity.ts'
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

describe('capacity', () => {
  test('a rate that a setting did not hold is not measured', () => {
    expect(points.map(({ processes, workers, ratePerSecond }) => [processes, workers, ratePerSecond])).toEqual([
      [1, 2, 2_000],
      [1, 2, 4_000],
      [2, 0, 6_000],
      [4, 4, 6_000],
    ])
  })

  test('the fewest nodes with the p99, and then the fewest threads', () => {
    expect(planCapacity(points, 5_000, 20)).toMatchObject({ processes: 1, workers: 2, nodes: 2, ratePerSecond: 4_000 })
    expect(planCapacity(points, 5_000, 50)).toMatchObject({ processes: 2, workers: 0, nodes: 1 })
    expect(planCapacity(points, 1_000, 2)).toBeNull()
  })

  test('the answer names the setting, the nodes and the measured rate, or the lowest p99', () => {
    expect(describePlan(points, 5_000, 20)).toBe(
      'For 5,000/s with a p99 of at most 20 ms: 2 nodes like this machine, plus one spare, each with --processes 1 --workers 2.\n' +
        'Measured on one node: 4,000/s with a p99 of 12.0 ms (--processes 1 --workers 2).',
    )
    expect(describePlan(points, 5_000, 2)).toContain('The lowest: 2,000/s with a p99 of 3.0 ms')
    expect(describePlan([], 5_000, 2)).toContain('the machine is busy')
  })

  test('the table has a row per rate and p99, and none without a sweep', () => {
    expect(capacityRows([])).toEqual([])
    const rows = capacityRows(points)
    expect(rows).toHaveLength(9)
    expect(rows).toContainEqual(['5,000/s', '20 ms', '1', '2', '2 + 1', '4,000/s at 12.0 ms'])
    expect(capacityRows(points.slice(2))[0]).toContain('not reached')
  })
})

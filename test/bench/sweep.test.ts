// The settings of a sweep, its recommendation and its chart.
import { describe, expect, test } from 'bun:test'
import { sweepChart } from '../../bench/parts/sweep.ts'
import type { Measurement } from '../../bench/result.ts'
import { describeRecommendation, recommendedSetting, sweepPoints, sweepSettings } from '../../bench/sweep.ts'

const BY_CORES = { workers: null, processes: null }
const pair = ({ processes, workers }: { processes: number; workers: number }): string => `${processes}×${workers}`
const point = (processes: number, workers: number, throughput: number, cpu: number) => {
  return { processes, workers, throughput, cpu, p99: 3 }
}

describe('settings', () => {
  test('have up to two workers per core in total', () => {
    expect(sweepSettings(2, BY_CORES).map(pair)).toEqual(['1×0', '1×1', '1×2', '1×3', '1×4', '2×0', '2×1', '2×2'])
    expect(sweepSettings(1, BY_CORES).map(pair)).toEqual(['1×0', '1×1', '1×2'])
    expect(sweepSettings(64, BY_CORES).length).toBeLessThan(120)
  })

  test('can be given', () => {
    expect(sweepSettings(1, { workers: [8], processes: [1, 4] }).map(pair)).toEqual(['1×8', '4×8'])
  })
})

describe('recommendation', () => {
  test('is the fastest setting if no other setting is as fast', () => {
    const points = [point(1, 1, 10_000, 40), point(1, 2, 20_000, 60)]
    expect(recommendedSetting(points)).toBe(points[1]!)
    expect(describeRecommendation(points)).toBe(
      'Recommended on this machine: --processes 1 --workers 2, with 20,000/s at 60.0 µs of CPU each, the highest measured throughput.',
    )
  })

  test('is the cheapest of equally fast settings, and the smallest of equally cheap ones', () => {
    expect(recommendedSetting([point(1, 4, 20_000, 60), point(1, 2, 19_800, 50)])).toMatchObject({ workers: 2 })
    const equal = [point(2, 2, 20_000, 50), point(1, 3, 19_900, 51), point(1, 2, 19_700, 51)]
    expect(recommendedSetting(equal)).toMatchObject({ processes: 1, workers: 2 })
    expect(describeRecommendation([point(1, 4, 20_000, 60), point(1, 2, 19_800, 50)])).toContain(
      'within 3% of the highest measured throughput (20,000/s with --processes 1 --workers 4)',
    )
  })

  test('is null without a sweep', () => {
    expect(recommendedSetting([])).toBeNull()
    expect(describeRecommendation([])).toBeNull()
  })

  test('ignores unknown CPU times', () => {
    const points = [point(1, 2, 20_000, Number.NaN), point(1, 1, 19_900, Number.NaN)]
    expect(recommendedSetting(points)).toMatchObject({ workers: 1 })
  })
})

test('points are read from the names of a stored result, and drawn', () => {
  const measurement = (name: string, median: number): Measurement => {
    return { name, label: name, unit: '/s', better: 'higher', rounds: [median], median }
  }
  const points = sweepPoints([
    measurement('sweep.p1w2.closed.throughput', 20_000),
    measurement('sweep.p1w2.closed.cpu', 50),
    measurement('sweep.p1w2.closed.p99', 4),
    measurement('service.closed.throughput', 1),
  ])
  expect(points).toEqual([{ processes: 1, workers: 2, throughput: 20_000, cpu: 50, p99: 4 }])
  expect(sweepChart(points, 'noble').panels.map(({ series }) => series)).toEqual([
    [{ name: '1 process', points: [[2, 20_000]] }],
    [{ name: '1 process', points: [[2, 50]] }],
    [{ name: '1 process', points: [[2, 4]] }],
  ])
})

// The long run: its memory slope, rate, errors, disk space and chart.
import { describe, expect, test } from 'bun:test'
import { checkRoom, errorsOf, type MemorySample, memorySlope, rateOf, soakChart } from '../../bench/parts/soak.ts'
import { parseResident, treeResidentMegabytes } from '../../bench/process-memory.ts'
import { fitSlope } from '../../bench/slope.ts'

/** A linear congruential generator of numbers from -0.5 to 0.5. */
const createNoise = () => {
  let state = 1
  return (): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648 - 0.5
  }
}

describe('slope', () => {
  test('of a straight line is exact', () => {
    const fitted = fitSlope([0, 1, 2, 3, 4].map((x) => [x, 10 + 3 * x] as const))
    expect(fitted?.slope).toBeCloseTo(3)
    expect(fitted?.error).toBeCloseTo(0)
  })

  test('of a noisy line is within its error', () => {
    const noise = createNoise()
    const points = Array.from({ length: 500 }, (_, x) => [x, 0.5 * x + 100 * noise()] as const)
    const { slope, error } = fitSlope(points)!
    expect(Math.abs(slope - 0.5)).toBeLessThan(3 * error)
    expect(error).toBeLessThan(0.05)
  })

  test('has a larger error if samples are correlated', () => {
    const noise = createNoise()
    const values = Array.from({ length: 200 }, noise)
    const alone = values.map((value, x) => [x, value] as const)
    const eachTenTimes = values.map((_, x) => [x, values[Math.floor(x / 10)]!] as const)
    expect(fitSlope(eachTenTimes)!.error).toBeGreaterThan(2 * fitSlope(alone)!.error)
  })

  test('is null for too few points', () => {
    expect(fitSlope([0, 1, 2].map((x) => [x, x + 1] as const))).toBeNull()
    expect(fitSlope([1, 2, 3, 4].map((y) => [1, y] as const))).toBeNull()
  })

  test('excludes growth while caches fill', () => {
    const samples: MemorySample[] = Array.from({ length: 61 }, (_, minute) => [
      minute,
      Math.min(200, 100 + 20 * minute),
    ])
    expect(memorySlope(samples)?.slope).toBeCloseTo(0)
    const leaking: MemorySample[] = samples.map(([minute, megabytes]) => [minute, megabytes + minute / 2])
    expect(memorySlope(leaking)?.slope).toBeCloseTo(30)
  })
})

test('the rate is 70% of the capacity unless a rate is given', () => {
  expect(rateOf(10_000, null).ratePerSecond).toBe(7_000)
  expect(rateOf(0.5, null).ratePerSecond).toBe(1)
  const subtitleAt = (asked: number | null): string => soakChart([], [], rateOf(10_000, asked)).subtitle
  expect(subtitleAt(null)).toBe('7,000/s, 70% of the capacity measured before.')
  expect(subtitleAt(2_500)).toBe('2,500/s, 25% of the capacity measured before.')
})

test('every status except 200, and every failure, is an error', () => {
  expect(errorsOf({ statuses: { '200': 9 }, failures: {} })).toBe(0)
  expect(errorsOf({ statuses: { '200': 9, '503': 2, '408': 1 }, failures: { timeout: 3 } })).toBe(6)
})

test('too little disk space is an error', () => {
  expect(() => checkRoom(300, 1e6, 3e9)).not.toThrow()
  expect(() => checkRoom(300, 1e8, 3e9)).toThrow('need 32 GB, and 3 GB are free')
})

test('the chart shows memory, latency, and stolen time if known', () => {
  const pointsOf = (stolen: number | null) => {
    const { panels } = soakChart([[0.1, 200]], [{ minute: 1, p50: 1, p99: 4, errors: 0, stolen }], rateOf(10_000, null))
    return panels.map(({ series }) => series[0]?.points)
  }
  expect(pointsOf(null)).toEqual([[[0.1, 200]], [[1, 4]]])
  expect(pointsOf(12)).toEqual([[[0.1, 200]], [[1, 4]], [[1, 12]]])
})

describe('memory of a process', () => {
  test('is parsed from its status', () => {
    expect(parseResident('Name:\tbun\nVmRSS:\t  100000 kB\n')).toBeCloseTo(102.4)
    expect(parseResident('Name:\tbun\n')).toBe(0)
  })

  test.skipIf(process.platform !== 'linux')('includes its children (Linux only)', async () => {
    const before = treeResidentMegabytes(process.pid) ?? 0
    expect(before).toBeGreaterThan(10)
    const child = Bun.spawn([process.execPath, '-e', 'process.stdout.write("up"); setInterval(() => 0, 1e6)'])
    try {
      await child.stdout.getReader().read()
      expect(treeResidentMegabytes(child.pid)).toBeGreaterThan(5)
      expect(treeResidentMegabytes(process.pid)).toBeGreaterThan(treeResidentMegabytes(child.pid) ?? 0)
    } finally {
      child.kill()
      await child.exited
    }
    expect(treeResidentMegabytes(child.pid)).toBeNull()
  })
})

// Charts of the live page. The page itself is tested in test/long/dashboard.
import { describe, expect, test } from 'bun:test'
import type { LivePoint } from '../../src/dashboard/page/api/types.ts'
import { newestWithValue } from '../../src/dashboard/page/live/chart.tsx'
import { formatNumber } from '../../src/dashboard/page/live/format.ts'
import { toneOf } from '../../src/dashboard/page/live/limits.ts'
import { CHARTS, DECISIONS_BY_CHAIN, DECISIONS_BY_VERDICT } from '../../src/dashboard/page/live/series.ts'

/** An idle second of the live page, with the changes of a test. */
const point = (change: Partial<LivePoint>): LivePoint => ({
  at: 0,
  seconds: 1,
  decisions: { compliant: 0, denied: 0 },
  decisions_by_chain: {},
  errors: {},
  refused: 0,
  failed: 0,
  latency_ms: null,
  queue_wait_ms: null,
  run_ms: null,
  event_loop_ms: null,
  workers: { live: 2, busy: 0, wanted: 2, abandoned: 0, utilization: 0 },
  queue: { waiting: 0, limit: 10, in_flight: 0 },
  jobs: { answered: 0, refused: 0, expired: 0, failed: 0, withheld: 0 },
  cpu: { cores: 0, per_decision_us: null },
  memory_bytes: 0,
  active_requests: 0,
  streams: 0,
  ...change,
})

describe('charts', () => {
  test('show a second without a decision as a gap in the latency and a zero in the decisions', () => {
    const points = [point({ latency_ms: { p50: 1, p90: 2, p99: 3, p999: 4 } }), point({})]
    const latency = CHARTS.find(({ id }) => id === 'latency')?.lines(points) ?? []
    expect(latency.map(({ values }) => values)).toEqual([
      [1, null],
      [2, null],
      [3, null],
      [4, null],
    ])
    expect(DECISIONS_BY_VERDICT(points)[0]?.values).toEqual([0, 0])
  })

  test('show the newest value, with a tone from its limit', () => {
    const points = [point({ latency_ms: { p50: 1, p90: 2, p99: 3, p999: 4 } }), point({}), point({})]
    const [decisions, latency] = [DECISIONS_BY_VERDICT(points), CHARTS.find(({ id }) => id === 'latency')]
    expect(newestWithValue(decisions, 2)).toBe(2)
    expect(newestWithValue(latency?.lines(points) ?? [], 2)).toBe(0)
    expect(newestWithValue(latency?.lines([point({}), point({})]) ?? [], 1)).toBe(1)
    const tones = [249, 250, 999, 1_000, null].map((value) => toneOf(latency?.limits, value))
    expect(tones).toEqual([null, 'warn', 'warn', 'bad', null])
    expect(toneOf(undefined, 1e9)).toBeNull()
  })

  test('show four chains separately, and the sum of the others', () => {
    const rate = (compliant: number) => ({ compliant, denied: 1 })
    const chains = { a: rate(9), b: rate(8), c: rate(7), d: rate(6), e: rate(2), f: rate(1) }
    const lines = DECISIONS_BY_CHAIN([point({ decisions_by_chain: chains })])
    expect(lines.map(({ label, values }) => [label, values[0]])).toEqual([
      ['a', 10],
      ['b', 9],
      ['c', 8],
      ['d', 7],
      ['others', 5],
    ])
  })

  test('round their numbers', () => {
    expect([0, 0.0412, 2.345, 41.26, 30_120.4, 3].map(formatNumber)).toEqual('0 0.041 2.35 41.3 30,120 3'.split(' '))
  })
})

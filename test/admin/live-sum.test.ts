// Sum of the figures of several processes, even if processes start, end or do not respond.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type LiveReading, livePoint } from '../../src/admin/live/point.ts'
import type { ProcessesLook, ProcessLook } from '../../src/admin/live/processes.ts'
import { createLiveSum } from '../../src/admin/live/sum.ts'
import { createLiveWatch } from '../../src/admin/live/watch.ts'
import type { MetricTotals } from '../../src/telemetry/metrics.ts'
import { POOL_STATS } from './support/fakes.ts'

interface Figures {
  readonly decisions: number
  readonly atMs?: number
  readonly cpuSeconds?: number
  readonly lagMs?: number | null
  readonly meanServiceMs?: number
}

const reading = ({ decisions, atMs = 0, cpuSeconds = 0, lagMs = null, meanServiceMs = 0 }: Figures): LiveReading => ({
  atMs,
  monotonicMs: atMs,
  cpuSeconds,
  memoryBytes: 10,
  activeRequests: 1,
  streams: 2,
  totals: {
    decisions: [{ kind: 'attestation', chain: 'base', compliant: true, count: decisions }],
    errors: { INTERNAL: decisions } as MetricTotals['errors'],
  },
  latency: Float64Array.from([decisions, 0, decisions]),
  eventLoop: lagMs === null ? null : { p50Ms: 1, p99Ms: lagMs, maxMs: lagMs },
  pool: {
    ...POOL_STATS,
    queued: 3,
    inFlight: 4,
    pending: 5,
    answered: decisions,
    meanServiceMs,
    wait: { ...POOL_STATS.wait, counts: [decisions, 0, 0], count: decisions },
  },
})

const ready = (index: number, pid: number, figures: Figures | null): ProcessLook => ({
  index,
  pid,
  state: 'ready',
  startedAtMs: 0,
  reading: figures === null ? null : reading(figures),
})
const look = (...processes: readonly ProcessLook[]): ProcessesLook => ({
  target: { processes: processes.length, workers: 2 },
  processesMax: 64,
  processes,
})
const decided = (sum: LiveReading | null): number =>
  sum?.totals.decisions.reduce((total, { count }) => total + count, 0) ?? -1

describe('the sum over processes', () => {
  test('adds gauges and the counts since the first reading, and takes the worst lag', () => {
    const sum = createLiveSum()
    sum(look(ready(0, 10, { decisions: 1_000, cpuSeconds: 50 }), ready(1, 11, { decisions: 7 })))
    const second = sum(
      look(
        ready(0, 10, { decisions: 1_010, cpuSeconds: 51, lagMs: 3, meanServiceMs: 1 }),
        ready(1, 11, { decisions: 37, cpuSeconds: 2, lagMs: 9, meanServiceMs: 2 }),
      ),
    )
    expect(decided(second)).toBe(40)
    expect(second).toMatchObject({ cpuSeconds: 3, memoryBytes: 20, activeRequests: 2, streams: 4 })
    expect(second?.totals.errors).toMatchObject({ INTERNAL: 40 })
    expect([...(second?.latency ?? [])]).toEqual([40, 0, 40])
    expect(second?.eventLoop).toEqual({ p50Ms: 1, p99Ms: 9, maxMs: 9 })
    expect(second?.pool).toMatchObject({ workers: 4, busy: 2, queued: 6, queueLimit: 200, inFlight: 8, answered: 40 })
    expect(second?.pool.wait.counts).toEqual([40, 0, 0])
    // Mean of thirty jobs of 2 ms and ten of 1 ms.
    expect(second?.pool.meanServiceMs).toBe(1.75)
  })

  test('does not decrease when a process restarts, or jump when a process appears', () => {
    const sum = createLiveSum()
    sum(look(ready(0, 10, { decisions: 500 })))
    sum(look(ready(0, 10, { decisions: 600 }), ready(1, 11, { decisions: 90_000 })))
    const restarted = sum(look(ready(0, 20, { decisions: 5 }), ready(1, 11, { decisions: 90_001 })))
    expect(decided(restarted)).toBe(101)
    expect(decided(sum(look(ready(0, 20, { decisions: 8 }), ready(1, 11, { decisions: 90_001 }))))).toBe(104)
  })

  test('catches up with a process that did not respond for a time', () => {
    const sum = createLiveSum()
    sum(look(ready(0, 10, { decisions: 0 }), ready(1, 11, { decisions: 0 })))
    expect(decided(sum(look(ready(0, 10, { decisions: 1 }), ready(1, 11, null))))).toBe(1)
    expect(decided(sum(look(ready(0, 10, { decisions: 2 }), ready(1, 11, { decisions: 30 }))))).toBe(32)
    expect(sum(look(ready(0, 10, null), ready(1, 11, null)))).toBeNull()
  })

  test('equals the counts for any distribution over processes and readings', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.nat(1_000), { minLength: 3, maxLength: 3 }), { minLength: 1 }), (steps) => {
        const sum = createLiveSum()
        const counts = [0, 0, 0]
        const seen = () => look(...counts.map((decisions, index) => ready(index, 10 + index, { decisions })))
        sum(seen())
        for (const step of steps) {
          for (const [index, more] of step.entries()) counts[index] = (counts[index] ?? 0) + more
          expect(decided(sum(seen()))).toBe(counts.reduce((total, count) => total + count, 0))
        }
      }),
    )
  })

  test('does not change a returned reading later', () => {
    const sum = createLiveSum()
    const looks = [0, 10, 30].map((decisions) => sum(look(ready(0, 10, { decisions }))) as LiveReading)
    const at = (index: number): LiveReading => ({ ...(looks[index] as LiveReading), monotonicMs: index * 1000 })
    expect(livePoint(at(1), at(0)).decisions.compliant).toBe(10)
    expect(livePoint(at(2), at(1)).decisions.compliant).toBe(20)
  })

  test('divides the working time by the number of workers', () => {
    const sum = createLiveSum()
    const before = sum(look(ready(0, 10, { decisions: 0 }))) as LiveReading
    // 40 jobs of 10 ms in one second, on two workers.
    const pool = { ...before.pool, answered: before.pool.answered + 40, meanServiceMs: 10 }
    const after = { ...before, monotonicMs: before.monotonicMs + 1_000, pool }
    expect(livePoint(after, before).workers).toMatchObject({ live: 2, utilization: 0.2 })
  })

  test('separates refused from failed requests', () => {
    const sum = createLiveSum()
    const before = sum(look(ready(0, 10, { decisions: 0 }))) as LiveReading
    const errors = { ...before.totals.errors, RATE_LIMITED: 36, NOT_FOUND: 1, INTERNAL: 2, DEADLINE_EXCEEDED: 3 }
    const after = { ...before, monotonicMs: before.monotonicMs + 1_000, totals: { ...before.totals, errors } }
    expect(livePoint(after, before)).toMatchObject({ refused: 37, failed: 5 })
  })
})

test('the watch reports the sum and each process every second, and continues after a failed reading', async () => {
  let next: ProcessesLook | Error = look()
  let nowMs = 0
  const errors: unknown[] = []
  const watch = createLiveWatch({
    control: { look: async () => (next instanceof Error ? Promise.reject(next) : next) },
    monotonicMs: () => nowMs,
    unixMs: () => 5_000,
    onError: (error) => errors.push(error),
  })
  const tick = async (outcome: ProcessesLook | Error): Promise<void> => {
    next = outcome
    nowMs += 1_000
    await watch.tick()
  }
  await tick(look(ready(0, 10, { decisions: 0 }), ready(1, 11, { decisions: 0 })))
  await tick(new Error('no answer'))
  await tick(
    look(ready(0, 10, { decisions: 10, atMs: 2_000, cpuSeconds: 1 }), ready(1, 11, { decisions: 30, atMs: 2_000 })),
  )
  expect(errors).toHaveLength(1)
  expect(watch.monitor.newest()).toMatchObject({
    decisions: { compliant: 20 },
    cpu: { cores: 0.5, per_decision_us: 25_000 },
    processes: [
      {
        process: 0,
        pid: 10,
        state: 'ready',
        uptime_seconds: 5,
        figures: { decisions_per_second: 5, cpu_cores: 0.5 },
      },
      { process: 1, pid: 11, state: 'ready', figures: { decisions_per_second: 15, cpu_cores: 0 } },
    ],
  })
  await tick(look(ready(0, 10, { decisions: 10, atMs: 3_000 }), ready(1, 11, null)))
  expect(watch.monitor.newest()?.processes[1]).toMatchObject({ state: 'silent', figures: null })
  expect(watch.monitor.points('15m')[0]).not.toHaveProperty('processes')
})

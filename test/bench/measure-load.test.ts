// The measurements and findings of a load report.
import { describe, expect, test } from 'bun:test'
import { addDerived, judgeGoals } from '../../bench/goals.ts'
import type { LoadPlan, LoadReport } from '../../bench/load/plan.ts'
import { parseOptions } from '../../bench/options.ts'
import type { BenchContext } from '../../bench/parts/context.ts'
import { createLoadMeasurer, findingsOf } from '../../bench/parts/measure-load.ts'
import { createProcesses } from '../../bench/processes.ts'
import { createProgress } from '../../bench/progress.ts'
import { createCollector } from '../../bench/result.ts'

const latency = { count: 10, p50: 0.5, p90: 1, p99: 2, p99_9: 3, max: 4, mean: 0.6, histogram: '' }

const reportOf = (plan: LoadPlan, changes: Partial<LoadReport> = {}): LoadReport => ({
  name: plan.name,
  shape: plan.shape,
  windowMs: 1_000,
  completed: 1_000,
  throughputPerSecond: 1_000,
  statuses: { '200': 1_000 },
  failures: {},
  outcomes: { answered: 1_000, refused: 0, late: 0, errors: 0 },
  latencyMs: latency,
  refusalLatencyMs: latency,
  generatorDelayMs: plan.shape.mode === 'open' ? latency : null,
  serverCpu: plan.observePid === null ? null : { total: 50_000, yielding: 0, mainThread: 20_000 },
  drainedMs: 1,
  generatorCpuMicroseconds: 10_000,
  answers: { seen: 1_000, verified: 1, problems: [] },
  ...changes,
})

const createContext = () => {
  const plans: LoadPlan[] = []
  const context: BenchContext = {
    options: parseOptions(['--quick'])!,
    processes: createProcesses(),
    collector: createCollector(),
    progress: createProgress({ isTTY: false, write: () => true }),
    client: {
      run: async (plan) => {
        plans.push(plan)
        return reportOf(plan)
      },
    },
    bareServer: async () => null,
  }
  const measurer = (part: string, pid: number | null = 1) =>
    createLoadMeasurer(context, {
      part,
      url: 'http://127.0.0.1:1/',
      headers: {},
      bodies: { seed: 's', wallets: 1, chain: 'base', target: { verificationHash: 'x' } },
      answers: { kind: 'status' },
      pid,
    })
  return { context, plans, measurer }
}

describe('measured load', () => {
  test('has a measurement for every goal', async () => {
    const { context, measurer } = createContext()
    for (const part of ['bare', 'service']) {
      const load = measurer(part)
      await load.closed()
      await load.half()
    }
    await measurer('service').open()
    addDerived(context.collector)
    const goals = judgeGoals(context.collector, 1_000)
    expect(goals.map(({ name, value }) => [name, value])).toEqual([
      ['summary.throughput_over_bare', 1],
      ['summary.half_p99_over_bare', 1],
      ['service.open.p50', 0.5],
      ['service.open.p99', 2],
    ])
  })

  test('at half load has half the rate of the closed loop', async () => {
    const { context, plans, measurer } = createContext()
    await expect(measurer('early').half()).rejects.toThrow('not known yet')
    const load = measurer('service')
    await load.closed()
    await load.half()
    expect(plans.at(-1)?.shape).toMatchObject({ mode: 'open', ratePerSecond: 500 })
    expect(context.collector.rounds('service.half.rate')).toEqual([500])
  })

  test('excludes the warm-up', async () => {
    const { context, plans, measurer } = createContext()
    await measurer('service').warm()
    expect(plans).toHaveLength(1)
    expect(context.collector.measurements()).toEqual([])
  })

  test('contains no CPU time for a remote deployment', async () => {
    const { context, measurer } = createContext()
    await measurer('deployment', null).closed()
    expect(context.collector.rounds('deployment.closed.throughput')).toHaveLength(1)
    expect(context.collector.rounds('deployment.closed.cpu')).toEqual([])
  })
})

describe('findings', () => {
  const closed: LoadPlan = {
    name: 'service closed loop',
    url: '',
    headers: {},
    bodies: { seed: '', wallets: 1, chain: '', target: { to: '' } },
    answers: { kind: 'status' },
    shape: { mode: 'closed', connections: 1 },
    warmupMs: 0,
    durationMs: 0,
    drainMs: 0,
    observePid: null,
  }
  const open: LoadPlan = { ...closed, shape: { mode: 'open', connections: 1, ratePerSecond: 1_000, queueLimit: 1 } }

  test('are empty for a clean report', () => {
    expect(findingsOf(reportOf(closed))).toEqual([])
    expect(findingsOf(reportOf(open))).toEqual([])
  })

  test('exclude a late generator if the load uses the whole machine', () => {
    const late = reportOf(open, { generatorDelayMs: { ...latency, p99: 24 } })
    expect(findingsOf(late)).toHaveLength(1)
    expect(findingsOf(late, true)).toEqual([])
  })

  test.each([
    ['errors by status', closed, { statuses: { '200': 9, '503': 3 } }, '3 answers with status 503'],
    ['unanswered requests', open, { failures: { timeout: 2 } }, '2 requests without an answer: timeout'],
    [
      'wrong responses',
      closed,
      { answers: { seen: 1, verified: 0, problems: ['another attester'] } },
      'another attester',
    ],
    ['a generator at its limit', closed, { generatorCpuMicroseconds: 990_000 }, 'generator used 99%'],
    ['a delayed generator', open, { generatorDelayMs: { ...latency, p99: 24 } }, 'generator itself was 24.0 ms late'],
    ['a rate below the target', open, { throughputPerSecond: 800 }, 'answered 800/s of the requested 1000/s'],
  ] as [string, LoadPlan, Partial<LoadReport>, string][])('name %s', (_what, plan, changes, text) => {
    const findings = findingsOf(reportOf(plan, changes))
    expect(findings).toHaveLength(1)
    expect(findings[0]).toStartWith('service closed loop: ')
    expect(findings[0]).toContain(text)
  })
})

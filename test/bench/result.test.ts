// Results of the benchmark: derived goals, tables, texts and comparisons.
import { describe, expect, test } from 'bun:test'
import { compareResults, comparisonWarnings, judgeChange } from '../../bench/compare.ts'
import { addDerived, judgeGoals, tableOfRatios } from '../../bench/goals.ts'
import { describeBusy } from '../../bench/machine.ts'
import { formatRatios, formatResult } from '../../bench/report.ts'
import {
  type BenchResult,
  type Collector,
  createCollector,
  type Measurement,
  parseResult,
  RESULT_SCHEMA,
  ResultInvalidError,
} from '../../bench/result.ts'
import { stageShares } from '../../bench/stage-shares.ts'

const resultOf = (collector: Collector): BenchResult => ({
  schema: RESULT_SCHEMA,
  startedAt: '2026-01-02T03:04:05.000Z',
  machine: { cpu: 'Test CPU', cores: 2, memoryBytes: 1, system: 'linux 6', architecture: 'x64', loadAverage: 0.1 },
  runtime: { name: 'bun', version: '1.4.4', revision: '0123456789abcdef' },
  commit: { id: '0123456789abcdef0123', modified: false },
  settings: { quick: true },
  measurements: collector.measurements(),
  goals: judgeGoals(collector, 1_000),
  findings: collector.findings(),
})

test('a busy machine is reported', () => {
  expect(describeBusy({ cores: 2, loadAverage: 1 })).toBeNull()
  expect(describeBusy({ cores: 2, loadAverage: 1.1 })).toStartWith('the load average was 1.1 on 2 cores')
})

const addRounds = (collector: Collector, name: string, unit: Measurement['unit'], rounds: readonly number[]): void => {
  const better = unit === '/s' ? 'higher' : 'lower'
  for (const value of rounds) collector.add({ name, label: name, unit, better }, value)
}

const wholeRun = (): Collector => {
  const collector = createCollector()
  addRounds(collector, 'floor.echo.closed.cpu', 'µs', [10, 20, 10])
  addRounds(collector, 'floor.sign.noble', 'µs', [27, 54, 27])
  addRounds(collector, 'floor.keccak', 'µs', [3, 6, 3])
  addRounds(collector, 'bare.closed.throughput', '/s', [40_000, 20_000, 40_000])
  addRounds(collector, 'service.closed.throughput', '/s', [20_000, 10_000, 20_000])
  addRounds(collector, 'service.closed.cpu', 'µs', [56, 112, 64])
  addRounds(collector, 'service.open.p50', 'ms', [0.4, 0.5, 0.6])
  addRounds(collector, 'service.open.p99', 'ms', [6, 7, 8])
  addDerived(collector)
  return collector
}

describe('goals', () => {
  test('ratios are calculated per round, so that a round that is slow for both sides cancels out', () => {
    expect(wholeRun().rounds('summary.throughput_over_bare')).toEqual([0.5, 0.5, 0.5])
  })

  test('each goal has its value and whether it is reached', () => {
    const goals = judgeGoals(wholeRun(), 1_000)
    expect(goals.map(({ name, value, reached }) => [name, value, reached])).toEqual([
      ['summary.throughput_over_bare', 0.5, false],
      ['service.open.p50', 0.5, true],
      ['service.open.p99', 7, false],
    ])
  })

  test('the table of ratios compares the parts of a run, with the best setting of the sweep', () => {
    const collector = wholeRun()
    addRounds(collector, 'batch.100.throughput', '/s', [60_000, 30_000, 60_000])
    addRounds(collector, 'keyed.closed.throughput', '/s', [12_000, 6_000, 12_000])
    addRounds(collector, 'service.half.p99', 'ms', [9, 18, 9])
    addRounds(collector, 'sweep.p1w1.closed.throughput', '/s', [20_000, 10_000, 20_000])
    addRounds(collector, 'sweep.p2w0.closed.throughput', '/s', [32_000, 16_000, 32_000])
    addRounds(collector, 'sweep.p1w1.bare.closed.throughput', '/s', [20_000, 20_000, 20_000])
    addRounds(collector, 'sweep.p2w0.bare.closed.throughput', '/s', [40_000, 20_000, 40_000])
    addRounds(collector, 'sweep.p2w0.closed.cpu', 'µs', [60, 120, 60])
    addRounds(collector, 'sweep.p2w0.bare.closed.cpu', 'µs', [40, 80, 40])
    addRounds(collector, 'bare.half.p99', 'ms', [6, 12, 6])
    addRounds(collector, 'scale.cpu_growth', '%', [8, 9, 8])
    addDerived(collector)
    const table = tableOfRatios(judgeGoals(collector, 1_000))
    expect(table.map(({ name, value, reached }) => [name, value, reached])).toEqual([
      ['summary.best_setting_over_bare', 0.8, false],
      ['summary.throughput_over_bare', 0.5, false],
      ['summary.cpu_over_bare', 1.5, false],
      ['summary.half_p99_over_bare', 1.5, false],
      ['summary.batch_over_bare', 1.5, true],
      ['summary.keyed_over_unkeyed', 0.6, false],
      ['scale.cpu_growth', 8, true],
    ])
    const printed = formatRatios({ ...resultOf(collector), findings: ['the machine was busy'] })
    expect(printed).toContain('the machine was busy')
    expect(printed).toMatch(/Idempotency-Key \/ requests without one +0\.60× +at least 0\.85×/)
  })

  test('goals at 1,000/s are omitted at another rate, and goals without a measurement are always omitted', () => {
    expect(judgeGoals(wholeRun(), 2_000).map(({ unit }) => unit)).toEqual(['ratio'])
    const collector = createCollector()
    addDerived(collector)
    expect(judgeGoals(collector, 1_000)).toEqual([])
  })
})

describe('result', () => {
  test('is equal after a round trip through JSON', () => {
    const result = resultOf(wholeRun())
    expect(parseResult(JSON.stringify(result))).toEqual(result)
  })

  test.each([
    ['not JSON', '{'],
    ['of another schema', JSON.stringify({ ...resultOf(wholeRun()), schema: 'other/1' })],
    ['without a machine', JSON.stringify({ ...resultOf(wholeRun()), machine: null })],
    ['with a measurement without rounds', JSON.stringify({ ...resultOf(wholeRun()), measurements: [{ name: 'a' }] })],
    ['with findings that are not strings', JSON.stringify({ ...resultOf(wholeRun()), findings: [1] })],
  ])('is refused if it is %s', (_what, text) => {
    expect(() => parseResult(text)).toThrow(ResultInvalidError)
  })

  test('refuses NaN', () => {
    expect(() => addRounds(createCollector(), 'a', 'ms', [Number.NaN])).toThrow(RangeError)
  })

  test('its text names machine, runtime, commit, parts and goals, and each finding once', () => {
    const collector = wholeRun()
    collector.find('service: 3 answers with status 503')
    collector.find('service: 3 answers with status 503')
    expect(collector.findings()).toHaveLength(1)
    const text = formatResult(resultOf(collector))
    const parts = ['Test CPU, 2 cores', 'Bun 1.4.4', '0123456789ab', '2026-01-02', 'not reached', '503', '0.50×']
    for (const part of parts) expect(text).toContain(part)
  })

  test('refusals, errors and late responses have separate columns, and do not count as throughput', () => {
    const collector = wholeRun()
    const rates = { throughput: 1_000, refused: 14_120, late: 7, errors: 0 }
    for (const [name, rate] of Object.entries(rates)) addRounds(collector, `deployment.closed.${name}`, '/s', [rate])
    const text = formatResult({ ...resultOf(collector), settings: { url: 'https://api.example' } })
    expect(text).toContain('Target    https://api.example; the machine and the commit are of the load generator')
    expect(text).toMatch(/\n +attested +refused +late +errors\n/)
    expect(text).toMatch(/deployment: .* 1,000\/s +14,120\/s +7\.00\/s +0\.00\/s/)
    expect(text.match(/14,120/g)).toHaveLength(1)
    expect(text).not.toContain('service: service.closed.throughput')
  })

  test('the stages add up to the service', () => {
    const collector = wholeRun()
    addRounds(collector, 'stages.policy', 'µs', [2])
    addRounds(collector, 'stages.pool', 'µs', [4])
    // 64 in total: 10 for HTTP, 2 for the policy, 4 for the pool, and 48 for the rest.
    const undivided = stageShares(collector.measurements())
    expect(undivided.map(({ microseconds }) => microseconds)).toEqual([10, 4, 2, 48, 64])
    expect(undivided[3]?.share).toBe(0.75)
    // 30 µs on the main thread, including HTTP and half of the pool, and 34 µs in the workers.
    addRounds(collector, 'service.closed.cpu_main', 'µs', [30])
    const divided = stageShares(collector.measurements())
    expect(divided.map(({ microseconds }) => microseconds)).toEqual([10, 4, 2, 18, 30, 64])
    expect(formatResult(resultOf(collector))).toMatch(/other work, main thread\s+18\.0 µs\s+28%/)
  })

  test('without the service, there are no stages', () => {
    const collector = createCollector()
    addRounds(collector, 'stages.policy', 'µs', [2])
    expect(stageShares(collector.measurements())).toEqual([])
  })
})

describe('compare', () => {
  const measurement = (rounds: readonly number[], better: 'lower' | 'higher' = 'lower'): Measurement => {
    const collector = createCollector()
    for (const value of rounds) collector.add({ name: 'a', label: 'a', unit: 'ms', better }, value)
    return collector.measurements()[0]!
  }

  test.each([
    ['separate and lower rounds', [10, 11, 12, 12, 13], [7, 8, 9, 9, 9], 'better'],
    ['separate and higher rounds', [7, 8, 9, 9, 9], [10, 11, 12, 12, 13], 'worse'],
    ['overlapping rounds', [10, 11, 14, 11, 11], [9, 9, 10.5, 9, 9], 'same'],
    ['nearly equal rounds', [10, 10.01, 10.02, 10, 10], [10.03, 10.04, 10.05, 10.1, 10.1], 'same'],
    ['too few rounds', [10, 11, 12, 13], [1, 2, 3, 4], 'unclear'],
  ] as const)('judges %s', (_what, before, after, change) => {
    expect(judgeChange(measurement(before), measurement(after))).toBe(change)
  })

  test('reports a decrease as worse if more is better', () => {
    const [before, after] = [
      [10, 11, 12, 12, 12],
      [7, 8, 9, 9, 9],
    ].map((rounds) => measurement(rounds, 'higher'))
    expect(judgeChange(before!, after!)).toBe('worse')
  })

  test('compares common measurements, and warns about a different machine, different settings and a slower machine', () => {
    const before = resultOf(wholeRun())
    const after = {
      ...before,
      machine: { ...before.machine, cores: 8 },
      settings: {},
      measurements: before.measurements.slice(2),
    }
    expect(compareResults(before, after)).toHaveLength(before.measurements.length - 2)
    expect(compareResults(before, after).every(({ change, ratio }) => change === 'unclear' && ratio === 1)).toBe(true)
    expect(comparisonWarnings(before, after)).toHaveLength(2)
    expect(comparisonWarnings(before, before)).toEqual([])
    const slower = before.measurements.map((item) =>
      item.name === 'floor.echo.closed.cpu' ? { ...item, median: item.median * 1.2 } : item,
    )
    expect(comparisonWarnings(before, { ...before, measurements: slower })[0]).toContain('1.20×')
  })
})

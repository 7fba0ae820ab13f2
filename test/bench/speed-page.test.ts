// The sections of docs/speed.md, which are generated from valid results and written between markers.
import { describe, expect, test } from 'bun:test'
import { type BenchResult, type Measurement, RESULT_SCHEMA, ResultInvalidError } from '../../bench/result.ts'
import { mergeResults, resultsFor, SECTIONS, withSection } from '../../bench/speed-page.ts'

const { speed, longRun } = SECTIONS

const measured = (name: string, label: string, unit: Measurement['unit'], ...rounds: number[]): Measurement => ({
  name,
  label,
  unit,
  better: unit === '/s' ? 'higher' : 'lower',
  rounds,
  median: rounds.toSorted((one, other) => one - other)[Math.floor(rounds.length / 2)] ?? 0,
})

const result: BenchResult = {
  schema: RESULT_SCHEMA,
  startedAt: '2030-01-02T03:04:05.000Z',
  machine: { cpu: 'A | processor', cores: 4, memoryBytes: 1, system: 'linux 6.1', architecture: 'x64', loadAverage: 0 },
  runtime: { name: 'bun', version: '1.4.4', revision: 'abc' },
  commit: { id: '0123456789abcdef', modified: false },
  settings: { connections: 64, signer: 'libsecp256k1', quick: false },
  measurements: [
    measured('service.closed.throughput', 'throughput', '/s', 20_000, 22_000, 21_000),
    measured('summary.x', 'ratio | of rounds', 'ratio', 1.6, 1.2, 1.4),
  ],
  goals: [
    { name: 'x', label: 'ratio | of rounds', unit: 'ratio', bound: 'at most', limit: 1.5, value: 1.4, reached: true },
    { name: 'y', label: 'other', unit: 'ms', bound: 'at most', limit: 5, value: 6, reached: false },
  ],
  findings: [],
}

describe('the speed section', () => {
  test('contains the date, commit, load and goals', () => {
    const section = speed.make(result)
    expect(section).toStartWith(speed.begin)
    expect(section).toEndWith(speed.end)
    const texts = ['2030-01-02', 'commit 0123456789ab,', 'load average of other programs 0,']
    for (const text of texts) expect(section).toContain(text)
    expect(section).toContain('| ratio \\| of rounds | 1.40× (1.20× to 1.60×) | at most 1.50× | yes |')
    expect(section).toContain('| other | 6.00 ms | at most 5.00 ms | no |')
  })

  test('is refused for an unreliable result', () => {
    const unreliable: readonly Partial<BenchResult>[] = [
      { findings: ['service: 3 answers with status 503'] },
      { settings: { quick: true } },
      { settings: { interrupted: true } },
      { commit: { id: '0123456789abcdef', modified: true } },
    ]
    for (const change of unreliable) expect(() => speed.make({ ...result, ...change })).toThrow(ResultInvalidError)
  })
})

test('findings are included on request, but not those of quick runs', () => {
  const findings = ['service: 3 answers with status 503', 'floor: late']
  const section = speed.make({ ...result, findings }, undefined, { withFindings: true })
  for (const finding of findings) expect(section).toContain(`\n- ${finding}\n`)
  expect(section.indexOf(findings[0] ?? '')).toBeGreaterThan(section.indexOf('| ratio'))
  const quick = { ...result, findings, settings: { quick: true } }
  expect(() => speed.make(quick, undefined, { withFindings: true })).toThrow(ResultInvalidError)
})

describe('several results', () => {
  const sweep: BenchResult = {
    ...result,
    goals: [],
    measurements: [
      measured('sweep.p1w2.closed.throughput', 'x', '/s', 9_000),
      measured('sweep.p1w2.closed.cpu', 'x', 'µs', 50),
      measured('sweep.p1w2.closed.p99', 'x', 'ms', 4),
    ],
  }

  test('become one section, with the sweep as a table, a recommendation and a chart', () => {
    const section = speed.make(mergeResults([result, sweep]), (name) => name === 'sweep')
    expect(section).toContain('1.40×')
    expect(section).toContain('| 1 | 2 | 9,000/s | 50.0 µs | 4.00 ms |')
    expect(section).toContain('Recommended on this machine: --processes 1 --workers 2')
    expect(section).toContain('](images/bench-sweep.svg)')
    expect(speed.make(mergeResults([result, sweep]))).not.toContain('.svg')
  })

  test('must have the same machine and commit, different measurements, and no findings', () => {
    const wrong: readonly BenchResult[] = [
      result,
      { ...sweep, machine: { ...sweep.machine, cores: 8 } },
      { ...sweep, commit: { id: 'other', modified: false } },
      { ...sweep, findings: ['a finding'] },
    ]
    for (const other of wrong) expect(() => mergeResults([result, other])).toThrow(ResultInvalidError)
    const unreliable = { ...sweep, findings: ['a finding'] }
    expect(mergeResults([result, unreliable], { withFindings: true }).findings).toEqual(['a finding'])
  })
})

describe('the long run', () => {
  const soak: BenchResult = {
    ...result,
    settings: { ...result.settings, minutes: 60 },
    measurements: [measured('soak.p99', 'p99 by minute', 'ms', 2, 3, 4)],
    goals: [
      { name: 'soak.errors', label: 'errors', unit: 'count', bound: 'at most', limit: 0, value: 0, reached: true },
    ],
  }

  test('has a separate section, even from another machine and day', () => {
    const other = { ...soak, machine: { ...soak.machine, cpu: 'Another' }, startedAt: '2030-02-03T00:00:00.000Z' }
    const [own, ...more] = resultsFor(longRun, [result, other])
    expect(more).toEqual([])
    const section = longRun.make(own ?? result, (name) => name === 'soak')
    expect(section).toStartWith(longRun.begin)
    expect(section).toEndWith(longRun.end)
    expect(section).toContain('60 minutes at a steady rate')
    expect(section).toContain('on 2030-02-03: Another, 4 cores')
    expect(section).toContain('| errors | 0 | at most 0 | yes |')
    expect(section).toContain('](images/bench-soak.svg)')
    expect(() => longRun.make({ ...other, findings: ['a finding'] })).toThrow(ResultInvalidError)
  })

  test('uses only its part of a run that measured both', () => {
    const both = {
      ...soak,
      measurements: [...result.measurements, ...soak.measurements],
      goals: [...result.goals, ...soak.goals],
    }
    const [fast] = resultsFor(speed, [both])
    const [long] = resultsFor(longRun, [both])
    expect(fast).toMatchObject({ measurements: result.measurements, goals: result.goals })
    expect(long).toMatchObject({ measurements: soak.measurements, goals: soak.goals })
    expect(resultsFor(speed, [soak])).toEqual([])
  })
})

describe('withSection', () => {
  test('replaces only the previous section', () => {
    const page = `# One\n\n${speed.begin}\nold\n${speed.end}\n\n# Two\n`
    const section = speed.make(result)
    const once = withSection(page, speed, section)
    expect(once).toBe(`# One\n\n${section}\n\n# Two\n`)
    expect(withSection(once, speed, section)).toBe(once)
  })

  test('requires one pair of markers', () => {
    for (const page of ['', speed.begin, speed.end, `${speed.begin}${speed.begin}${speed.end}`]) {
      expect(() => withSection(page, speed, 'x')).toThrow(ResultInvalidError)
    }
  })
})

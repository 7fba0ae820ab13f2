// Mutants are small valid changes, and a seed draws the same sample again.
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { applyMutant, MUTATION_RULES, mutantsOf } from './mutants.ts'
import { reportOf } from './report.ts'
import { areaOf, drawSample } from './sample.ts'
import type { Trial } from './trial.ts'

const SOURCE = `
export const work = async (a: number, b: number, log: Log): Promise<number> => {
  if (a < b && a !== 3) throw new Error('too small')
  try {
    await store.run('SELECT * FROM t WHERE a = 1 AND deleted = 0 AND owner = $1 ORDER BY a')
    log.info('done')
  } finally {
    close(a, b)
  }
  return (settings.limit ?? a + 1) * (isOpen(true) ? 1 : 2)
}
`

const changesOf = (rule: string): string[] =>
  mutantsOf('src/work.ts', SOURCE)
    .filter((mutant) => mutant.rule === rule)
    .map(({ start, end, replacement }) => `${SOURCE.slice(start, end)} → ${replacement}`)

describe('mutantsOf', () => {
  test.each([
    ['boundary', ['< → <=']],
    ['comparison', ['< → >=', '!== → ===']],
    ['logical operator', ['&& → ||']],
    ['negated condition', ['a < b && a !== 3 → !(a < b && a !== 3)', 'isOpen(true) → !(isOpen(true))']],
    ['arithmetic', ['+ → -', '* → /']],
    ['boolean literal', ['true → false']],
    ['default value', ['settings.limit ?? a + 1 → settings.limit']],
    ['removed finally', ['{\n    close(a, b)\n  } → {}']],
    ['swapped arguments', ['a, b → b, a']],
    ['removed SQL predicate', [' AND deleted = 0 → ', ' AND owner = $1 → ']],
  ])('%s', (rule, changes) => {
    expect(changesOf(rule)).toEqual(changes)
  })

  test('removes statements except log lines', () => {
    const removed = changesOf('removed statement')
    expect(removed).toHaveLength(3)
    expect(removed.filter((change) => change.includes('log.info'))).toEqual([])
    expect(changesOf('removed await')).toHaveLength(1)
  })

  test('omits changes that cannot be detected', () => {
    const source = `
type Found = { ok: true }
const find = (rows: readonly string[], at: number): string => {
  if (rows === undefined) throw new Error('no rows')
  try {
    return rows[Math.min(at, last)] ?? ''
  } finally {
    privateKey.fill(0)
  }
}`
    expect(mutantsOf('src/find.ts', source).map(({ rule, replacement }) => [rule, replacement])).toEqual([
      ['comparison', '!=='],
    ])
  })

  test('every mutant of a real file parses', async () => {
    const file = 'src/server/rate-limit.ts'
    const source = await Bun.file(join(import.meta.dir, '..', '..', file)).text()
    const mutants = mutantsOf(file, source)
    expect(mutants.length).toBeGreaterThan(30)
    const transpiler = new Bun.Transpiler({ loader: 'ts' })
    for (const mutant of mutants) {
      const changed = applyMutant(source, mutant)
      expect(changed).not.toBe(source)
      expect(() => transpiler.transformSync(changed)).not.toThrow()
    }
  })
})

const MUTANTS = Array.from({ length: 400 }, (_, line) => ({
  file: line % 2 === 0 ? 'src/pool/pool.ts' : 'src/dashboard/page/app.tsx',
  line,
  rule: MUTATION_RULES[0],
  start: line,
  end: line + 1,
  replacement: '',
}))

test('a sample prefers areas with costlier faults and is determined by the seed', () => {
  const sample = drawSample(MUTANTS, 100, 7)
  expect(drawSample(MUTANTS, 100, 7)).toEqual(sample)
  expect(drawSample(MUTANTS, 100, 8)).not.toEqual(sample)
  expect(new Set(sample).size).toBe(100)
  expect(sample.filter(({ file }) => areaOf(file) === 'pool').length).toBeGreaterThan(75)
})

test('misses the goal with one survivor too many, and sooner in a guarded area', () => {
  const trials = (index: number, result: Trial['result'], count: number): Trial[] =>
    Array.from({ length: count }, () => ({
      mutant: MUTANTS[index] as (typeof MUTANTS)[number],
      result,
      by: null,
      seconds: 1,
    }))
  expect(reportOf([]).isGoalMet).toBe(false)
  expect(
    reportOf([...trials(1, 'noticed', 85), ...trials(1, 'timed out', 5), ...trials(1, 'survived', 10)]).isGoalMet,
  ).toBe(true)
  expect(reportOf([...trials(1, 'noticed', 89), ...trials(1, 'no test', 11)]).isGoalMet).toBe(false)
  expect(reportOf([...trials(0, 'noticed', 97), ...trials(0, 'survived', 3)]).isGoalMet).toBe(true)
  expect(reportOf([...trials(0, 'noticed', 96), ...trials(0, 'survived', 4)]).isGoalMet).toBe(false)
})

// Records the lines that each test file runs. Services in separate processes are not covered; `testsFor` uses the tests
// of their folder.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Glob } from 'bun'
import { type Run, runTests } from './run-tests.ts'

export interface TestCoverage {
  readonly test: string
  readonly seconds: number
  /** Covered lines by source file, as pairs of first and last line. */
  readonly files: Readonly<Record<string, readonly (readonly [number, number])[]>>
}

/** Source folders that tests run in separate processes or browsers, with these tests. */
const BLACK_BOX: readonly (readonly [folder: string, tests: string])[] = [
  ['src/dashboard/page/', 'test/dashboard/'],
  ['src/portal/page/', 'test/portal/'],
  ['src/pages/', 'test/portal/'],
  ['src/cli/', 'test/cli/'],
  ['src/modules/', 'test/'],
  ['src/', 'test/service/'],
  ['workers/', 'test/service/'],
]

const rangesOf = (lines: readonly number[]): [number, number][] => {
  const ranges: [number, number][] = []
  for (const line of lines) {
    const last = ranges.at(-1)
    if (last !== undefined && last[1] === line - 1) last[1] = line
    else ranges.push([line, line])
  }
  return ranges
}

const readReport = (path: string): TestCoverage['files'] => {
  const files: Record<string, [number, number][]> = {}
  if (!existsSync(path)) return files
  for (const record of readFileSync(path, 'utf8').split('end_of_record')) {
    const file = /^SF:(.*)$/m.exec(record)?.[1]
    if (file === undefined || !/^(?:src|workers)\//.test(file)) continue
    files[file] = rangesOf([...record.matchAll(/^DA:(\d+),[1-9]/gm)].map(([, line]) => Number(line)))
  }
  return files
}

export const listTests = (root: string): string[] =>
  [...new Glob('test/**/*.test.{ts,tsx}').scanSync(root)]
    .filter((path) => !path.startsWith('test/long/') && !path.startsWith('test/mutate/'))
    .sort()

/** Runs one test file with coverage. @returns null if the file fails without a change */
export const coverTest = async (root: string, temporary: string, test: string): Promise<TestCoverage | null> => {
  const report = mkdtempSync(join(tmpdir(), 'countersign-coverage-'))
  try {
    const options = ['--coverage', '--coverage-reporter=lcov', `--coverage-dir=${report}`]
    const run: Run = await runTests({ root, temporary, tests: [test], options, limitMs: 300_000 })
    if (!run.passed) return null
    return { test, seconds: run.seconds, files: readReport(join(report, 'lcov.info')) }
  } finally {
    rmSync(report, { recursive: true, force: true })
  }
}

const covers = ({ files }: TestCoverage, file: string, line: number): boolean =>
  files[file]?.some(([first, last]) => first <= line && line <= last) ?? false

/** Tests named after the file or in the folder of its area run first. */
const nearnessOf = (test: string, file: string): number => {
  const name =
    file
      .split('/')
      .at(-1)
      ?.replace(/\.tsx?$/, '') ?? ''
  if (test.includes(`/${name}.`) || test.includes(`/${name}-`)) return 50
  return test.startsWith(`test/${folderOf(file)}/`) ? 5 : 1
}

const folderOf = (file: string): string | undefined =>
  file
    .split('/')
    .slice(0, file.startsWith('src/modules/') ? 3 : 2)
    .at(-1)

/**
 * Returns the tests that may detect a change to a line: tests that run the line, otherwise the tests of the folder. The
 * most specific and fastest tests come first.
 */
export const testsFor = (coverage: readonly TestCoverage[], file: string, line: number): readonly TestCoverage[] => {
  const covering = coverage.filter((one) => covers(one, file, line))
  const blackBox = BLACK_BOX.find(([start]) => file.startsWith(start))?.[1] ?? 'test/service/'
  const chosen =
    covering.length > 0
      ? covering
      : coverage.filter(({ test }) => test.startsWith(`test/${folderOf(file)}/`) || test.startsWith(blackBox))
  const cost = ({ test, seconds, files }: TestCoverage): number =>
    (seconds * (1 + Object.keys(files).length)) / nearnessOf(test, file)
  return chosen.toSorted((one, other) => cost(one) - cost(other))
}

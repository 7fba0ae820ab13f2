// Runs test files and static checks of a tree in separate process groups with a time limit.
import { mkdirSync, readFileSync, rmSync } from 'node:fs'

/** Time limit of one test, as in the suite. */
const TEST_LIMIT_MS = 30_000

/** Matches a file's name and its first failure. */
const FAILURE = /^(test\/\S+\.tsx?):$(?:(?!^test\/\S+:$)[\s\S])*?^\(fail\) (.*?)(?: \[[\d.]+ ?m?s\])?$/m

export interface Run {
  readonly passed: boolean
  readonly timedOut: boolean
  /** The first failed test; null if no test failed, or if a file could not be loaded. */
  readonly failed: { readonly file: string; readonly name: string } | null
  readonly seconds: number
}

const running = new Set<number>()

const endGroup = (pid: number): void => {
  running.delete(pid)
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // The process group has ended.
  }
}

/** Ends the runs in progress and all their processes. */
export const endRuns = (): void => {
  for (const pid of running) endGroup(pid)
}

interface Command {
  readonly root: string
  readonly words: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** File for stderr. */
  readonly log?: string
  readonly limitMs: number
}

const runCommand = async ({ root, words, environment, log, limitMs }: Command) => {
  const startedMs = performance.now()
  const child = Bun.spawn([...words], {
    cwd: root,
    detached: true,
    env: { ...process.env, NO_COLOR: '1', ...environment },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: log === undefined ? 'ignore' : Bun.file(log),
  })
  running.add(child.pid)
  let timedOut = false
  const limit = setTimeout(() => {
    timedOut = true
    endGroup(child.pid)
  }, limitMs)
  const exitCode = await child.exited
  clearTimeout(limit)
  endGroup(child.pid)
  return { passed: exitCode === 0, timedOut, seconds: (performance.now() - startedMs) / 1000 }
}

export interface RunOptions {
  readonly root: string
  /** Folder for the tests' temporary files, emptied after the run. */
  readonly temporary: string
  readonly tests: readonly string[]
  readonly options?: readonly string[]
  readonly limitMs: number
}

export const runTests = async ({ root, temporary, tests, options = [], limitMs }: RunOptions): Promise<Run> => {
  mkdirSync(temporary, { recursive: true })
  const log = `${temporary}.log`
  // `Bun.file` as a target keeps the end of a longer report.
  rmSync(log, { force: true })
  const words = ['bun', 'test', '--bail', `--timeout=${TEST_LIMIT_MS}`, ...options, ...tests.map((test) => `./${test}`)]
  // Bun prints a different report if it detects an agent as the caller.
  const environment = { TMPDIR: temporary, CLAUDECODE: '', AGENT: '' }
  const run = await runCommand({ root, words, environment, log, limitMs })
  const [, file, name] = FAILURE.exec(readFileSync(log, 'utf8')) ?? []
  const failed = file === undefined || name === undefined ? null : { file, name }
  rmSync(temporary, { recursive: true, force: true })
  return { ...run, failed }
}

/** Type-check projects other than the root's, by path prefix of their files. */
const PROJECTS: readonly (readonly [start: string, project: string])[] = [
  ['src/dashboard/page/', 'src/dashboard/page'],
  ['src/portal/page/', 'src/portal/page'],
  ['src/pages/', 'src/portal/page'],
]
const CHECK_LIMIT_MS = 300_000

/** Returns the first part of `bun run check` that rejects the file, or null. */
export const rejectingCheck = async (root: string, file: string): Promise<'type check' | 'linter' | null> => {
  const project = PROJECTS.find(([start]) => file.startsWith(start))?.[1] ?? '.'
  const checks = [
    ['type check', ['node_modules/.bin/tsc', '--noEmit', '-p', project]],
    ['linter', ['node_modules/.bin/biome', 'lint', '--error-on-warnings', file]],
  ] as const
  for (const [name, words] of checks) {
    const { passed, timedOut } = await runCommand({ root, words, limitMs: CHECK_LIMIT_MS })
    if (!passed && !timedOut) return name
  }
  return null
}

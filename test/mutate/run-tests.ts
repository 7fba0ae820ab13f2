// Runs test files of a tree in a process group of its own, with a time limit.
import { mkdirSync, readFileSync, rmSync } from 'node:fs'

/** Time limit of one test, as in the suite. */
const TEST_LIMIT_MS = 30_000

/** The name of a file, without the name of another one up to the first failure. */
const FAILURE = /^(test\/\S+\.tsx?):$(?:(?!^test\/\S+:$)[\s\S])*?^\(fail\) (.*?)(?: \[[\d.]+ ?m?s\])?$/m

export interface Run {
  readonly passed: boolean
  readonly timedOut: boolean
  /** The first test that failed; null if none did, or if a file could not be loaded. */
  readonly failed: { readonly file: string; readonly name: string } | null
  readonly seconds: number
}

const running = new Set<number>()

const endGroup = (pid: number): void => {
  running.delete(pid)
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // The group has ended.
  }
}

/** Ends the runs in progress and every process that they started. */
export const endRuns = (): void => {
  for (const pid of running) endGroup(pid)
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
  // `Bun.file` as a target keeps what a longer report left behind.
  rmSync(log, { force: true })
  const startedMs = performance.now()
  const child = Bun.spawn(
    ['bun', 'test', '--bail', `--timeout=${TEST_LIMIT_MS}`, ...options, ...tests.map((test) => `./${test}`)],
    {
      cwd: root,
      detached: true,
      // Bun prints a different report if it takes the caller for an agent.
      env: { ...process.env, TMPDIR: temporary, NO_COLOR: '1', CLAUDECODE: '', AGENT: '' },
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: Bun.file(log),
    },
  )
  running.add(child.pid)
  let timedOut = false
  const limit = setTimeout(() => {
    timedOut = true
    endGroup(child.pid)
  }, limitMs)
  const exitCode = await child.exited
  clearTimeout(limit)
  endGroup(child.pid)
  const [, file, name] = FAILURE.exec(readFileSync(log, 'utf8')) ?? []
  const failed = file === undefined || name === undefined ? null : { file, name }
  rmSync(temporary, { recursive: true, force: true })
  return { passed: exitCode === 0, timedOut, failed, seconds: (performance.now() - startedMs) / 1000 }
}

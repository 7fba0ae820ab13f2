// Runs tests in a copy of the tree, as the source stands and with a place changed.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TreeCopy } from './copy.ts'
import { changed, type Place } from './place.ts'

/** For tests that nobody has timed yet. */
const RUN_LIMIT_MS = 240_000
/** A change that makes its tests wait for ever is noticed by this: so many times as long as without it, and as one test. */
const SLOWDOWN = 4
/** For one test, as the whole suite has it. */
const TEST_LIMIT_MS = 30_000

export type Result =
  /** A test failed. */
  | 'killed'
  /** The tests did not end in time. */
  | 'timed out'
  /** All tests passed: nothing notices the change. */
  | 'survived'
  /** The text does not stand in the file once: the list is out of date. */
  | 'not applicable'
  /** Its tests fail without the change. */
  | 'broken'

export interface Outcome {
  readonly result: Result
  /** The first test that failed; null for the other results. */
  readonly by: string | null
  readonly seconds: number
}

type Run = { readonly passed: boolean; readonly timedOut: boolean; readonly failed: string | null }

const running = new Set<number>()

/** Ends a run with every process that it started: each run leads a process group of its own. */
const endGroup = (pid: number): void => {
  running.delete(pid)
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // Nothing of it is left.
  }
}

/** Ends what is under way: for a caller who was interrupted. */
export const endRuns = (): void => {
  for (const pid of running) endGroup(pid)
}

const runTests = async (copy: TreeCopy, tests: readonly string[], limitMs: number): Promise<Run> => {
  const log = join(copy.temporary, '..', 'log')
  const child = Bun.spawn(
    ['bun', 'test', '--bail', `--timeout=${TEST_LIMIT_MS}`, ...tests.map((test) => `./${test}`)],
    {
      cwd: copy.path,
      detached: true,
      // Bun prints other lines where it takes the caller for an agent.
      env: { ...process.env, TMPDIR: copy.temporary, NO_COLOR: '1', CLAUDECODE: '', AGENT: '' },
      stdin: 'ignore',
      stdout: Bun.file(`${log}.out`),
      stderr: Bun.file(`${log}.err`),
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
  const failed = /^\(fail\) (.*?)(?: \[[\d.]+ ?m?s\])?$/m.exec(readFileSync(`${log}.err`, 'utf8'))?.[1] ?? null
  rmSync(copy.temporary, { recursive: true, force: true })
  mkdirSync(copy.temporary)
  return { passed: exitCode === 0, timedOut, failed }
}

/** Tries places in one copy, one after another. */
export const createTrials = (copy: TreeCopy): ((place: Place) => Promise<Outcome>) => {
  /** Test file → how long it takes as the source stands; null: it fails. */
  const timed = new Map<string, number | null>()

  const timeOf = async (test: string): Promise<number | null> => {
    // A busy machine fails a test now and then.
    for (let attempt = 1; attempt <= 2; attempt++) {
      const startedMs = performance.now()
      if ((await runTests(copy, [test], RUN_LIMIT_MS)).passed) return performance.now() - startedMs
    }
    return null
  }

  /** How long the tests take together; null when one of them fails without any change: it would seem to notice everything. */
  const timeOfAll = async (tests: readonly string[]): Promise<number | null> => {
    let sumMs = 0
    for (const test of tests) {
      const known = timed.get(test)
      const ms = known === undefined ? await timeOf(test) : known
      timed.set(test, ms)
      if (ms === null) return null
      sumMs += ms
    }
    return sumMs
  }

  return async (place) => {
    const path = join(copy.path, place.file)
    const text = readFileSync(path, 'utf8')
    const mutant = changed(text, place)
    if (mutant === null) return { result: 'not applicable', by: null, seconds: 0 }
    const soundMs = await timeOfAll(place.tests)
    if (soundMs === null) return { result: 'broken', by: null, seconds: 0 }
    writeFileSync(path, mutant)
    const startedMs = performance.now()
    try {
      const { passed, timedOut, failed } = await runTests(copy, place.tests, TEST_LIMIT_MS + SLOWDOWN * soundMs)
      const seconds = (performance.now() - startedMs) / 1000
      if (passed) return { result: 'survived', by: null, seconds }
      return timedOut ? { result: 'timed out', by: null, seconds } : { result: 'killed', by: failed, seconds }
    } finally {
      writeFileSync(path, text)
    }
  }
}

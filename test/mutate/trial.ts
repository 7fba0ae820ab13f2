// Tries one mutant: inserts it into a copy of the tree and runs the tests that may detect it.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TreeCopy } from '../support/tree-copy.ts'
import { type TestCoverage, testsFor } from './coverage.ts'
import { applyMutant, type Mutant } from './mutants.ts'
import { rejectingCheck, runTests } from './run-tests.ts'

/** Expected duration of the tests that run together, in seconds; short, so that an early failure ends the trial. */
const BATCH_SECONDS = 6
/** Expected duration of all tests of a trial, in seconds. Further tests do not run. */
const TRIAL_SECONDS = 180
/** Factor by which a mutant may slow down its tests before it counts as detected. */
const SLOWDOWN = 4

/** Whether test files pass without a mutant. Filled when a file fails for the first time. */
const soundTests = new Map<string, boolean>()
/** Whether the static checks accept source files without a mutant. */
const soundFiles = new Map<string, boolean>()

export interface Trial {
  readonly mutant: Mutant
  /**
   * `timed out`: the tests take too long only with the mutant; counts as detected. `no test`: no test file runs the
   * line or belongs to its folder.
   */
  readonly result: 'noticed' | 'timed out' | 'survived' | 'no test'
  /** The first failed test or static check. */
  readonly by: string | null
  readonly seconds: number
}

const batchesOf = (tests: readonly TestCoverage[]): readonly (readonly TestCoverage[])[] => {
  const batches: TestCoverage[][] = []
  let total = 0
  let batch: TestCoverage[] = []
  let sum = 0
  for (const test of tests) {
    if (total > 0 && total + test.seconds > TRIAL_SECONDS) continue
    total += test.seconds
    sum += test.seconds
    batch.push(test)
    if (sum >= BATCH_SECONDS) {
      batches.push(batch)
      batch = []
      sum = 0
    }
  }
  return batch.length > 0 ? [...batches, batch] : batches
}

export const tryMutant = async (copy: TreeCopy, coverage: readonly TestCoverage[], mutant: Mutant): Promise<Trial> => {
  const path = join(copy.path, mutant.file)
  const source = readFileSync(path, 'utf8')
  const startedMs = performance.now()
  const ended = (result: Trial['result'], by: string | null = null): Trial => ({
    mutant,
    result,
    by,
    seconds: (performance.now() - startedMs) / 1000,
  })
  const tests = testsFor(coverage, mutant.file, mutant.line)
  const batches = batchesOf(tests.filter(({ test }) => existsSync(join(copy.path, test))))
  if (batches.length === 0) return ended('no test')
  const run = (batch: readonly TestCoverage[]) =>
    runTests({
      root: copy.path,
      temporary: copy.temporary,
      tests: batch.map(({ test }) => test),
      limitMs: 1_000 * (30 + SLOWDOWN * batch.reduce((sum, { seconds }) => sum + seconds, 0)),
    })
  const passesWithoutMutant = async (batch: readonly TestCoverage[]): Promise<boolean> => {
    writeFileSync(path, source)
    const { passed } = await run(batch)
    writeFileSync(path, applyMutant(source, mutant))
    return passed
  }
  /** Returns whether a test file passes without the mutant. */
  const isSound = async (one: TestCoverage): Promise<boolean> => {
    const passed = soundTests.get(one.test) ?? (await passesWithoutMutant([one]))
    soundTests.set(one.test, passed)
    return passed
  }
  /** Returns whether a failed test file fails again alone, and only with the mutant: load can delay a test. */
  const isNoticed = async (one: TestCoverage): Promise<boolean> => !(await run([one])).passed && (await isSound(one))
  /** Returns whether the static checks accept the file without the mutant. */
  const isAccepted = async (): Promise<boolean> => {
    writeFileSync(path, source)
    const accepted = soundFiles.get(mutant.file) ?? (await rejectingCheck(copy.path, mutant.file)) === null
    soundFiles.set(mutant.file, accepted)
    return accepted
  }
  writeFileSync(path, applyMutant(source, mutant))
  try {
    for (const batch of batches) {
      let left = batch.filter(({ test }) => soundTests.get(test) !== false)
      while (left.length > 0) {
        const { passed, timedOut, failed } = await run(left)
        if (passed) break
        if (timedOut) {
          if (await passesWithoutMutant(left)) return ended('timed out')
          break
        }
        const failing = left.find(({ test }) => test === failed?.file)
        if (failing === undefined || (await isNoticed(failing))) return ended('noticed', failed?.name)
        left = left.filter((one) => one !== failing)
      }
    }
    const check = await rejectingCheck(copy.path, mutant.file)
    return check !== null && (await isAccepted()) ? ended('noticed', check) : ended('survived')
  } finally {
    writeFileSync(path, source)
  }
}

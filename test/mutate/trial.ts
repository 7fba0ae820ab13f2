// Tries one mutant: puts it into a copy of the tree and runs the tests that may notice it.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TreeCopy } from '../support/tree-copy.ts'
import { type TestCoverage, testsFor } from './coverage.ts'
import { applyMutant, type Mutant } from './mutants.ts'
import { runTests } from './run-tests.ts'

/** Expected seconds of the tests that run together: few enough that a quick failure ends the trial. */
const BATCH_SECONDS = 6
/** Expected seconds of all tests of a trial. The remaining tests are not tried. */
const TRIAL_SECONDS = 180
/** A mutant that makes its tests this many times slower is noticed. */
const SLOWDOWN = 4

/** Test file → whether it passes without a mutant. Filled when a file fails for the first time. */
const soundTests = new Map<string, boolean>()

export interface Trial {
  readonly mutant: Mutant
  /** `timed out` counts as noticed. `no test`: no test file runs the line or belongs to its folder. */
  readonly result: 'noticed' | 'timed out' | 'survived' | 'no test'
  /** The first test that failed. */
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
  /** Whether a test file passes without the mutant. */
  const isSound = async (one: TestCoverage): Promise<boolean> => {
    const known = soundTests.get(one.test)
    if (known !== undefined) return known
    writeFileSync(path, source)
    const { passed } = await run([one])
    writeFileSync(path, applyMutant(source, mutant))
    soundTests.set(one.test, passed)
    return passed
  }
  writeFileSync(path, applyMutant(source, mutant))
  try {
    for (const batch of batches) {
      let left = batch.filter(({ test }) => soundTests.get(test) !== false)
      while (left.length > 0) {
        const { passed, timedOut, failed } = await run(left)
        if (passed) break
        if (timedOut) return ended('timed out')
        const failing = left.find(({ test }) => test === failed?.file)
        if (failing === undefined || (await isSound(failing))) return ended('noticed', failed?.name)
        left = left.filter((one) => one !== failing)
      }
    }
    return ended('survived')
  } finally {
    writeFileSync(path, source)
  }
}

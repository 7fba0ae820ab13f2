// Long work yields the thread to other requests, and organizations take turns.
import { expect, test } from 'bun:test'
import { DeadlineExceededError, QueueFullError } from '../../src/domain/errors.ts'
import type { Steps } from '../../src/policy/cel/steps.ts'
import { createFairWork } from '../../src/policy/fair-work.ts'

const createHarness = () => {
  let nowMs = 0
  const log: string[] = []
  const pauses: { delayMs: number; end: () => void }[] = []
  const work = createFairWork({
    clock: { monotonicMs: () => nowMs },
    after: (delayMs, end) => {
      pauses.push({ delayMs, end })
      return () => undefined
    },
    pauseFactor: 4,
    waitingMax: 2,
  })
  /** Each step takes a millisecond. */
  function* steps(name: string, count: number): Steps<string> {
    for (let step = 0; step < count; step++) {
      nowMs += 1
      log.push(name)
      yield
    }
    return name
  }
  const endPause = (): number | undefined => {
    const pause = pauses.shift()
    pause?.end()
    return pause?.delayMs
  }
  return { work, steps, log, pauses, endPause }
}

test('each slice, including the last, is followed by a pause of four times its length', async () => {
  const { work, steps, log, pauses, endPause } = createHarness()
  const done = work.run('a', steps('a', 3))
  expect(log).toEqual(['a', 'a'])
  expect(endPause()).toBe(8)
  expect(await done).toBe('a')
  const next = work.run('b', steps('b', 1))
  expect(log).toEqual(['a', 'a', 'a'])
  expect(endPause()).toBe(4)
  expect(await next).toBe('b')
  endPause()
  expect(pauses).toEqual([])
})

test('organizations take turns, and an organization has one job at a time', async () => {
  const { work, steps, log, endPause } = createHarness()
  const all = [work.run('a', steps('a1', 6)), work.run('a', steps('a2', 2)), work.run('b', steps('b', 6))]
  while (endPause() !== undefined) expect(log.length).toBeLessThan(20)
  expect(log).toEqual(['a1', 'a1', 'a1', 'a1', 'b', 'b', 'a1', 'a1', 'b', 'b', 'b', 'b', 'a2', 'a2'])
  expect(await Promise.all(all)).toEqual(['a1', 'a2', 'b'])
})

test('jobs of an organization with too many queued jobs are refused, and those of other organizations are not', async () => {
  const { work, steps, endPause } = createHarness()
  const running = [work.run('a', steps('a', 5)), work.run('a', steps('a', 1))]
  expect(work.run('a', steps('a', 1))).rejects.toThrow(QueueFullError)
  const other = work.run('b', steps('b', 1))
  while (endPause() !== undefined);
  expect(await Promise.all([...running, other])).toEqual(['a', 'a', 'b'])
  expect(await work.run('a', steps('a', 1))).toBe('a')
})

test('a job ends at its deadline or with its error, and the next job runs', async () => {
  const { work, steps, log, endPause } = createHarness()
  const deadline = { passed: false }
  const late = work.run('a', steps('late', 9), deadline)
  const failed = work.run('b', steps('b', 1))
  deadline.passed = true
  for (let turn = 0; turn < 2; turn++) endPause()
  expect(late).rejects.toThrow(DeadlineExceededError)
  expect(await failed).toBe('b')
  // biome-ignore lint/correctness/useYield: it fails in its first step
  const broken = (function* (): Steps<never> {
    throw new RangeError('x')
  })()
  const error = work.run('a', broken).catch((reason: unknown) => reason)
  endPause()
  expect(await error).toBeInstanceOf(RangeError)
  expect(log).toEqual(['late', 'late', 'b'])
})

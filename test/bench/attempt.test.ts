// Attempts to run a part of the benchmark.
import { expect, test } from 'bun:test'
import { createAttempt } from '../../bench/parts/attempt.ts'
import { createCollector } from '../../bench/result.ts'

const fail = (): Promise<void> => Promise.reject(new Error('nothing was answered'))

test('a failed part is a finding, so that the run continues', async () => {
  const collector = createCollector()
  const attempt = createAttempt(collector, { exitCode: () => null })
  expect(await attempt('batch', fail)).toBe(false)
  expect(await attempt('keyed', () => Promise.resolve())).toBe(true)
  expect(collector.findings()).toEqual(['batch failed, so numbers are missing: nothing was answered'])
})

test('a failure after a signal ends the run without a finding', async () => {
  const collector = createCollector()
  const attempt = createAttempt(collector, { exitCode: () => 130 })
  await expect(attempt('batch', fail)).rejects.toThrow('nothing was answered')
  expect(collector.findings()).toEqual([])
})

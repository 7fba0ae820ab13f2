// Numbers of processes and workers by processors.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { PROCESSES_MAX, planProcesses } from '../../src/config/process-plan.ts'

const AUTO = { processes: null, workers: null }

test.each([
  [1, 1, 1],
  [2, 1, 2],
  [4, 1, 3],
  [6, 2, 2],
  [8, 3, 2],
  [16, 5, 2],
  [64, 21, 2],
])('%d processors: %d processes of %d workers', (processors, processes, workers) => {
  expect(planProcesses(processors, AUTO)).toEqual({ processes, workers })
})

test('configured numbers are used, and a missing number fits them', () => {
  expect(planProcesses(8, { processes: 1, workers: null })).toEqual({ processes: 1, workers: 7 })
  expect(planProcesses(8, { processes: 4, workers: null })).toEqual({ processes: 4, workers: 2 })
  expect(planProcesses(8, { processes: null, workers: 5 })).toEqual({ processes: 3, workers: 5 })
  expect(planProcesses(2, { processes: 3, workers: 1 })).toEqual({ processes: 3, workers: 1 })
})

test('any machine gets at least one of each, and a bounded number', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_024 }), (processors) => {
      const { processes, workers } = planProcesses(processors, AUTO)
      expect(processes).toBeGreaterThanOrEqual(1)
      expect(processes).toBeLessThanOrEqual(PROCESSES_MAX)
      expect(workers).toBeGreaterThanOrEqual(1)
      expect(workers).toBeLessThanOrEqual(16)
      // At most 1.5 threads per processor.
      expect(processes * workers).toBeLessThanOrEqual(Math.max(1, processors * 1.5))
    }),
  )
})

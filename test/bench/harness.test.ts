// The harness of the stage benchmarks, on a simulated clock.
import { describe, expect, test } from 'bun:test'
import { measureStage, median, type StageBenchmark } from '../../bench/stages/harness.ts'

/** A machine on which one operation takes `costMs`, half of it CPU time. */
const machine = (costMs: number, operations = 1) => {
  let nowMs = 0
  let closed = 0
  const runs: number[] = []
  const stage: StageBenchmark = {
    name: 'fake',
    description: 'a fake operation',
    prepare: () => ({
      operations,
      run: (iterations) => {
        runs.push(iterations)
        nowMs += iterations * costMs
      },
      close: () => {
        closed++
      },
    }),
  }
  return { stage, runs, closed: () => closed, clock: { nowMs: () => nowMs, cpuMicroseconds: () => nowMs * 500 } }
}

describe('stage harness', () => {
  test('reports CPU time per operation and fills each round', async () => {
    const { stage, runs, clock, closed } = machine(0.01)
    const measured = await measureStage(stage, { warmupMs: 100, rounds: 3, roundMs: 50 }, clock)
    expect(measured?.median).toBeCloseTo(5, 9)
    expect(measured?.minimum).toBeCloseTo(5, 9)
    expect(measured?.rounds).toHaveLength(3)
    expect(runs.slice(-3)).toEqual([5_000, 5_000, 5_000])
    expect(closed()).toBe(1)
  })

  test('divides the time of a batch by its operations', async () => {
    const { stage, clock } = machine(1, 20)
    const measured = await measureStage(stage, { warmupMs: 10, rounds: 1, roundMs: 5 }, clock)
    expect(measured?.median).toBeCloseTo(25, 9)
  })

  test('runs an operation once per round if it takes longer than a round', async () => {
    const { stage, runs, clock } = machine(500)
    await measureStage(stage, { warmupMs: 10, rounds: 2, roundMs: 50 }, clock)
    expect(runs).toEqual([1, 1, 1])
  })

  test('resets before each run, outside the measured time', async () => {
    let nowMs = 0
    let resets = 0
    let runs = 0
    const stage: StageBenchmark = {
      name: 'reset',
      description: '',
      prepare: () => ({
        reset: () => {
          resets++
          nowMs += 1_000
        },
        run: (iterations) => {
          runs++
          nowMs += iterations
        },
      }),
    }
    const clock = { nowMs: () => nowMs, cpuMicroseconds: () => nowMs * 1_000 }
    const measured = await measureStage(stage, { warmupMs: 1, rounds: 3, roundMs: 10 }, clock)
    expect(measured?.rounds).toEqual([1_000, 1_000, 1_000])
    expect(resets).toBe(runs)
  })

  test('closes the stage if a run fails', async () => {
    let closed = false
    const stage: StageBenchmark = {
      name: 'broken',
      description: 'fails',
      prepare: () => ({
        run: () => {
          throw new Error('broken')
        },
        close: () => {
          closed = true
        },
      }),
    }
    await expect(measureStage(stage, { warmupMs: 1, rounds: 1, roundMs: 1 })).rejects.toThrow('broken')
    expect(closed).toBe(true)
  })

  test('omits a stage that this machine lacks', async () => {
    const stage: StageBenchmark = { name: 'absent', description: '', prepare: () => null }
    expect(await measureStage(stage, { warmupMs: 1, rounds: 1, roundMs: 1 })).toBeNull()
  })

  test('calculates the median of odd and even lists', () => {
    expect(median([3, 1, 2])).toBe(2)
    expect(median([4, 1, 2, 3])).toBe(2.5)
    expect(() => median([])).toThrow(RangeError)
  })
})

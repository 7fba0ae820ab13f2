// Runs long work on the main thread in short slices with pauses. Organizations take turns, with one task each.
import { DeadlineExceededError, QueueFullError } from '../domain/errors.ts'
import type { Clock, Timers } from '../lib/time.ts'
import type { Steps } from './cel/steps.ts'

export interface FairWork {
  /** Stops at `deadline`. @throws QueueFullError if the organization has too many tasks; DeadlineExceededError */
  run<Result>(organizationId: string, steps: Steps<Result>, deadline?: { readonly passed: boolean }): Promise<Result>
}

export interface FairWorkOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly after: Timers['after']
  /** Length of a pause relative to the slice before: 4 leaves four fifths of the time to other work. */
  readonly pauseFactor: number
  /** Tasks per organization, including the running task. */
  readonly waitingMax: number
}

/** Milliseconds into a slice after which no further step starts. */
const SLICE_MS = 2

export const createFairWork = ({ clock, after, pauseFactor, waitingMax }: FairWorkOptions): FairWork => {
  const { monotonicMs } = clock
  /** Waiting tasks by organization, in the order of turns. */
  const waiting = new Map<string, (() => boolean)[]>()
  let isPaused = false

  const work = (): void => {
    isPaused = false
    for (const [organizationId, jobs] of waiting) {
      const startMs = monotonicMs()
      if (jobs[0]?.() === true) jobs.shift()
      waiting.delete(organizationId)
      if (jobs.length > 0) waiting.set(organizationId, jobs)
      isPaused = true
      after((monotonicMs() - startMs) * pauseFactor, work)
      return
    }
  }

  return {
    run: (organizationId, steps, deadline) =>
      new Promise((resolve, reject) => {
        const jobs = waiting.get(organizationId) ?? []
        if (jobs.length >= waitingMax) throw new QueueFullError()
        waiting.set(organizationId, jobs)
        jobs.push(() => {
          try {
            if (deadline?.passed === true) throw new DeadlineExceededError()
            const endMs = monotonicMs() + SLICE_MS
            for (;;) {
              const step = steps.next()
              if (step.done === true) {
                resolve(step.value)
                return true
              }
              if (monotonicMs() >= endMs) return false
            }
          } catch (error) {
            reject(error)
            return true
          }
        })
        if (!isPaused) work()
      }),
  }
}

// Work that is done in steps, so that a thread can do other work in between.
import { nextTurn } from '../../lib/time.ts'

/** Each step takes a few milliseconds at most; the last one returns the result. */
export type Steps<Result> = Generator<void, Result, void>

/** Runs all steps at once, where no other work is waiting. */
export const finish = <Result>(steps: Steps<Result>): Result => {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** No step starts later than this in a turn of the event loop. */
const TURN_MS = 2

/** Every caller waits for the turn after the last one's, so that no turn of the event loop has several slices. */
let lastTurn = Promise.resolve()
const takeTurn = (): Promise<void> => {
  lastTurn = lastTurn.then(nextTurn)
  return lastTurn
}

/** Runs all steps, and lets the event loop handle what is waiting every few milliseconds. */
export const finishInTurns = async <Result>(steps: Steps<Result>): Promise<Result> => {
  for (;;) {
    await takeTurn()
    const endMs = performance.now() + TURN_MS
    do {
      const step = steps.next()
      if (step.done === true) return step.value
    } while (performance.now() < endMs)
  }
}

import { nextTurn } from '../../lib/time.ts'

/** Each step takes at most a few milliseconds; the last step returns the result. */
export type Steps<Result> = Generator<void, Result, void>

export const finish = <Result>(steps: Steps<Result>): Result => {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Milliseconds into a turn of the event loop after which no further step starts. */
const TURN_MS = 2

/** Each caller waits for the turn after the previous caller's, so that a turn has at most one slice. */
let lastTurn = Promise.resolve()
const takeTurn = (): Promise<void> => {
  lastTurn = lastTurn.then(nextTurn)
  return lastTurn
}

/** Yields to the event loop every few milliseconds. */
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

// Work that is done in steps, so that a thread can do other work in between.

/** Each step takes a few milliseconds at most; the last one returns the result. */
export type Steps<Result> = Generator<void, Result, void>

/** Runs all steps at once, where no other work is waiting. */
export const finish = <Result>(steps: Steps<Result>): Result => {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

// Work that is done a step at a time, so that a thread which others wait for can do their work in between.

/** Each step takes few milliseconds at most; the last one returns the result. */
export type Steps<Result> = Generator<void, Result, void>

/** All of it at once, where nobody waits. */
export const finish = <Result>(steps: Steps<Result>): Result => {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

// Runs a task once at a time: callers during a run share its result.

export interface SingleFlight<Result> {
  (): Promise<Result>
  /** Resolves after the run in flight, regardless of its result; immediately if there is none. */
  settled(): Promise<void>
}

export const singleFlight = <Result>(work: () => Promise<Result>): SingleFlight<Result> => {
  let running: Promise<Result> | undefined
  const run = (): Promise<Result> => {
    running ??= work().finally(() => {
      running = undefined
    })
    return running
  }
  const settled = async (): Promise<void> => {
    await running?.catch(() => undefined)
  }
  return Object.assign(run, { settled })
}

// One run of a piece of work at a time: callers during a run share it.

export interface SingleFlight<Result> {
  /** Starts the work, or joins the run in flight. */
  (): Promise<Result>
  /** Resolves after the run in flight, whatever its result; immediately if there is none. */
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

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

/** Returns a function that creates the value on the first call and keeps it. */
export const once = <Value extends object | string>(make: () => Value): (() => Value) => {
  let made: Value | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** Like `once` for asynchronous values; after a failure, the next call tries again. */
export const onceMade = <Value>(make: () => Promise<Value>): (() => Promise<Value>) => {
  let made: Promise<Value> | undefined
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined
      throw error
    })
    return made
  }
}

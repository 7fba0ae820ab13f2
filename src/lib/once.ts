// Values that are made on first use and kept.

/** Returns a function that makes the value on the first call and returns the same value afterwards. */
export const once = <Value extends object | string>(make: () => Value): (() => Value) => {
  let made: Value | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** The same for a value that can fail to be made: after a failure, the next call tries again. */
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

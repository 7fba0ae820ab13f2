/** Returns a function that creates the value on the first call and then returns the same value. */
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

// Returns a function that computes a text on the first call and caches it.
export const once = (make: () => string): (() => string) => {
  let made: string | undefined
  return () => {
    made ??= make()
    return made
  }
}

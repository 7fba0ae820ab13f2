// Text that is made when it is first asked for, and kept.
export const once = (make: () => string): (() => string) => {
  let made: string | undefined
  return () => {
    made ??= make()
    return made
  }
}

// Closes resources that the test files of a process share, such as a browser, after the last file: see
// test/support/preload.ts and bunfig.toml. Scripts share nothing and close their own resources.

const closers: (() => Promise<void>)[] = []
let expected = false

/** For the preload only. */
export const expectEnd = (): void => {
  expected = true
}

/** Returns whether shared resources are closed at the end. */
export const hasEnd = (): boolean => expected

/**
 * Registers a function that closes a resource. They run once, in reverse order, after the last test file of the
 * process.
 */
export const atEnd = (close: () => Promise<void>): void => {
  closers.push(close)
}

/** For the preload only. */
export const closeShared = async (): Promise<void> => {
  for (const close of closers.splice(0).reverse()) await close()
}

// What the test files of one process share, such as a browser, is closed after the last of them: test/support/preload.ts
// does it, which bunfig.toml names. A script that is no test has no such end: it shares nothing, and closes what it opened.

const closers: (() => Promise<void>)[] = []
let expected = false

/** For the preload alone. */
export const expectEnd = (): void => {
  expected = true
}

/** Whether there is an end at which what is shared is closed. */
export const hasEnd = (): boolean => expected

/** Closed in reverse order, once, after the last test file of this process. */
export const atEnd = (close: () => Promise<void>): void => {
  closers.push(close)
}

/** For the preload alone. */
export const closeShared = async (): Promise<void> => {
  for (const close of closers.splice(0).reverse()) await close()
}

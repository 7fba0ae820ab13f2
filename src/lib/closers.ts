export interface Closers {
  add(close: () => Promise<void> | void): void
  /** Closes the newest resource first. Continues if a resource fails to close. */
  closeAll(): Promise<void>
}

export const createClosers = (onError: (error: unknown) => void): Closers => {
  const closers: (() => Promise<void> | void)[] = []
  return {
    add: (close) => void closers.push(close),
    closeAll: async () => {
      for (const close of closers.reverse()) {
        try {
          await close()
        } catch (error) {
          onError(error)
        }
      }
    },
  }
}

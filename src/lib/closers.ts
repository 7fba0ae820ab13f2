// Collects what was opened, and closes it in reverse order.

export interface Closers {
  add(close: () => Promise<void> | void): void
  /** Closes everything, the newest first. A part that fails to close does not keep the others open. */
  closeAll(): Promise<void>
}

/** @param onError called for a part that fails to close */
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

// Closes resources in the reverse order of their opening.

export interface Closers {
  add(close: () => Promise<void> | void): void
  /** Closes all resources, the newest first. Continues if one fails to close. */
  closeAll(): Promise<void>
}

/** @param onError called for each resource that fails to close */
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

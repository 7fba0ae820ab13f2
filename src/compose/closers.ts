// Collects what was opened, and closes it in reverse order.
import type { Logger } from '../telemetry/log.ts'

export interface Closers {
  add(close: () => Promise<void> | void): void
  /** Closes everything, the newest first. A part that fails to close does not keep the others open. */
  closeAll(): Promise<void>
}

export const createClosers = (log: Pick<Logger, 'error'>): Closers => {
  const closers: (() => Promise<void> | void)[] = []
  return {
    add: (close) => void closers.push(close),
    closeAll: async () => {
      for (const close of closers.reverse()) {
        try {
          await close()
        } catch (error) {
          log.error('a part could not be closed', { error })
        }
      }
    },
  }
}

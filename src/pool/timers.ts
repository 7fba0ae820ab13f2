// The timers that the pool needs besides the clock, injected so that tests control the time.

export interface Timers {
  /** Calls back once, `delayMs` from now or later (after 24 days at the latest). The returned function cancels. */
  after(delayMs: number, callback: () => void): () => void
  /** Calls back once, after this turn of the event loop has handled everything that is readable. */
  endOfTurn(callback: () => void): void
}

/** A longer delay overflows and would fire immediately. */
const LONGEST_DELAY_MS = 2 ** 31 - 1

const begin = (delayMs: number, callback: () => void): NodeJS.Timeout =>
  setTimeout(callback, Math.min(Math.max(1, Math.ceil(delayMs)), LONGEST_DELAY_MS))

/** Timers that keep the process alive until they have fired or were cancelled. */
export const lastingTimers: Pick<Timers, 'after'> = {
  after: (delayMs, callback) => {
    const timer = begin(delayMs, callback)
    return () => clearTimeout(timer)
  },
}

export const systemTimers: Timers = {
  after: (delayMs, callback) => {
    const timer = begin(delayMs, callback)
    // A waiting pool does not keep the process alive; the listeners and the workers do.
    timer.unref()
    return () => clearTimeout(timer)
  },
  // Not queueMicrotask: Bun runs microtasks between two requests of one turn, so that nothing would be batched.
  endOfTurn: (callback) => {
    setImmediate(callback)
  },
}

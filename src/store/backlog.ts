// Estimates how long a transaction would wait for those before it, from how fast they were recently completed, so that
// a request can be refused before it waits in vain. It knows nothing of groups, connections or locks, only the numbers
// of requested and completed transactions.

export interface Backlog {
  /** Call when a transaction was requested. */
  add(): void
  /** Call when transactions were completed together, whatever their results; one unless `count` says otherwise. */
  remove(count?: number): void
  /** Number of transactions requested and not completed. */
  readonly size: number
  /**
   * Milliseconds until a transaction requested now would be completed; null when so many wait that only necessary ones
   * should be added.
   */
  waitMs(): number | null
}

/** Weight of the newest transaction: some dozens show that the store has become slower, or faster. */
const WEIGHT = 0.03
/** Fraction of the queue for new work; the rest is reserved for work that completes what was started. */
const CROWDED_PART = 0.5

/** @param maximum how many transactions may wait */
export const createBacklog = (maximum: number, monotonicMs: () => number): Backlog => {
  let size = 0
  /** Mean time between two completed transactions while others waited. */
  let meanMs = 0
  let lastMs = 0
  return {
    add: () => {
      if (size === 0) lastMs = monotonicMs()
      size += 1
    },
    remove: (count = 1) => {
      const nowMs = monotonicMs()
      // As much weight as `count` times one of their mean has.
      meanMs += ((nowMs - lastMs) / count - meanMs) * (1 - (1 - WEIGHT) ** count)
      lastMs = nowMs
      size -= count
    },
    get size() {
      return size
    },
    waitMs: () => (size >= maximum * CROWDED_PART ? null : size * meanMs),
  }
}

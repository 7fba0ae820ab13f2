// How long a transaction would wait for those before it, told by how fast they have lately been done: for callers who can
// turn a request away before it waits in vain. It knows nothing of groups, connections or locks, only of what was asked
// for and what was done.

export interface Backlog {
  /** A transaction was asked for. */
  add(): void
  /** One was done, whatever came of it. */
  remove(): void
  /** Asked for and not done. */
  readonly size: number
  /** Milliseconds until one asked for now would be done; null while so many wait that none should be added but in need. */
  waitMs(): number | null
}

/** Of the newest: some dozens tell that the store has become slower, or faster. */
const WEIGHT = 0.03
/** The rest is kept for what has to end what was begun. */
const CROWDED_PART = 0.5

/** @param maximum how many may wait. */
export const createBacklog = (maximum: number, monotonicMs: () => number): Backlog => {
  let size = 0
  /** Between one that was done and the next, while some waited. */
  let meanMs = 0
  let lastMs = 0
  return {
    add: () => {
      if (size === 0) lastMs = monotonicMs()
      size += 1
    },
    remove: () => {
      const nowMs = monotonicMs()
      meanMs += (nowMs - lastMs - meanMs) * WEIGHT
      lastMs = nowMs
      size -= 1
    },
    get size() {
      return size
    },
    waitMs: () => (size >= maximum * CROWDED_PART ? null : size * meanMs),
  }
}

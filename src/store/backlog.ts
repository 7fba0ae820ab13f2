// Estimates how long a new transaction will wait, so that a request can be rejected early.

export interface Backlog {
  add(): void
  /** Call when `count` transactions (default 1) have completed together, with any result. */
  remove(count?: number): void
  readonly size: number
  /** Returns the expected wait of a new transaction; null if the queue accepts only necessary transactions. */
  waitMs(): number | null
}

/** Weight of the newest transaction: the mean adapts within about 30 transactions. */
const WEIGHT = 0.03
/** Share of the queue for new work. The rest is reserved for completing started operations. */
const CROWDED_PART = 0.5

export const createBacklog = (maximum: number, monotonicMs: () => number): Backlog => {
  let size = 0
  let meanMs = 0
  let lastMs = 0
  return {
    add: () => {
      if (size === 0) lastMs = monotonicMs()
      size += 1
    },
    remove: (count = 1) => {
      const nowMs = monotonicMs()
      // Equivalent to adding the mean interval `count` times.
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

export const createBacklogs = (ownMaximum: number, monotonicMs: () => number) => {
  const backlogs = new Map<string, Backlog>()
  return {
    add: (owner: string): void => {
      const backlog = backlogs.get(owner) ?? createBacklog(ownMaximum, monotonicMs)
      backlogs.set(owner, backlog)
      backlog.add()
    },
    remove: (owner: string, count?: number): void => {
      const backlog = backlogs.get(owner)
      backlog?.remove(count)
      if (backlog?.size === 0) backlogs.delete(owner)
    },
    sizeOf: (owner: string): number => backlogs.get(owner)?.size ?? 0,
    waitMs: (owner: string): number | null => {
      const backlog = backlogs.get(owner)
      return backlog === undefined ? 0 : backlog.waitMs()
    },
  }
}

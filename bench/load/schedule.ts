// Due times of open-loop requests: a fixed rate, regardless of the server and the generator. A late generator catches
// up and never skips a request, because a skipped request would hide the delay.

export interface Schedule {
  /** Returns the due time of request number `index`. */
  dueMs(index: number): number
  /** Returns the total number of requests due by `nowMs`. */
  dueBy(nowMs: number): number
}

/** The first request is due at `startMs`, the last before `endMs`. */
export const createSchedule = (ratePerSecond: number, startMs: number, endMs: number): Schedule => {
  if (!(ratePerSecond > 0)) throw new RangeError('the rate must be above 0 per second')
  const total = Math.max(0, Math.ceil(((endMs - startMs) * ratePerSecond) / 1000 - 1e-9))
  const dueMs = (index: number): number => startMs + (index * 1000) / ratePerSecond
  return {
    dueMs,
    dueBy(nowMs) {
      if (nowMs < startMs) return 0
      return Math.min(total, Math.floor(((nowMs - startMs) * ratePerSecond) / 1000 + 1e-9) + 1)
    },
  }
}

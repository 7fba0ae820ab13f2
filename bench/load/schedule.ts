// When open-loop requests are due: a fixed rate from a start, whatever the server or the generator does. A late
// generator catches up; it never skips, since a skipped request would hide the very delay it should show.

export interface Schedule {
  /** When request number `index` is due. */
  dueMs(index: number): number
  /** How many requests are due by `nowMs`, all told. */
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

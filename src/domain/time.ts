// Clocks, injected so that tests never sleep.

export interface Clock {
  /** Monotonic milliseconds since an arbitrary start: deadlines and durations. Never jumps. */
  monotonicMs(): number
  /** Wall clock, Unix seconds, floored: expirations and records. */
  unixSeconds(): number
}

export const systemClock: Clock = {
  monotonicMs: () => performance.now(),
  unixSeconds: () => Math.floor(Date.now() / 1000),
}

// A histogram with fixed buckets that costs a short scan and two additions per value, and what it looks like when read.

/** Upper bounds in milliseconds for an HTTP request: from a cached verdict to past the deadline. */
export const REQUEST_BOUNDS_MS: readonly number[] = [
  0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000,
]

export interface DurationSnapshot {
  readonly boundsMs: readonly number[]
  /** Per bucket, not cumulative; one more than there are bounds. */
  readonly counts: readonly number[]
  readonly count: number
  readonly sumMs: number
}

export interface DurationHistogram {
  record(durationMs: number): void
  snapshot(): DurationSnapshot
}

export const createDurationHistogram = (boundsMs = REQUEST_BOUNDS_MS): DurationHistogram => {
  const counts = new Float64Array(boundsMs.length + 1)
  let count = 0
  let sumMs = 0
  return {
    record: (durationMs) => {
      let bucket = 0
      while (bucket < boundsMs.length && durationMs > boundsMs[bucket]!) bucket++
      counts[bucket] = counts[bucket]! + 1
      count += 1
      if (durationMs > 0) sumMs += durationMs
    },
    snapshot: () => ({ boundsMs, counts: [...counts], count, sumMs }),
  }
}

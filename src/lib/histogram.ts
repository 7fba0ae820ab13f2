// Histogram of milliseconds with fixed buckets. An update is a short scan and two additions, cheap enough for every
// request.

export interface HistogramSnapshot {
  readonly boundsMs: readonly number[]
  /** Counts per bucket, not cumulative; one more than the bounds. */
  readonly counts: readonly number[]
  readonly count: number
  readonly sumMs: number
}

export interface Histogram {
  /** Negative durations count as 0. */
  record(durationMs: number): void
  snapshot(): HistogramSnapshot
}

/** @param boundsMs upper bounds in milliseconds, ascending; an additional bucket counts everything above */
export const createHistogram = (boundsMs: readonly number[]): Histogram => {
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

// A histogram of milliseconds with fixed buckets: an update is a short scan and two additions, cheap enough for every job.

/** Upper bounds in milliseconds; one more bucket takes everything above. */
export const HISTOGRAM_BOUNDS_MS: readonly number[] = [
  0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 25_000,
]

export interface HistogramSnapshot {
  readonly boundsMs: readonly number[]
  /** Counts per bucket, not cumulative; one more than there are bounds. */
  readonly counts: readonly number[]
  readonly count: number
  readonly sumMs: number
}

export interface Histogram {
  /** Negative durations count as 0. */
  record(durationMs: number): void
  snapshot(): HistogramSnapshot
}

export const createHistogram = (): Histogram => {
  const counts = new Float64Array(HISTOGRAM_BOUNDS_MS.length + 1)
  let count = 0
  let sumMs = 0
  return {
    record: (durationMs) => {
      let bucket = 0
      while (bucket < HISTOGRAM_BOUNDS_MS.length && durationMs > (HISTOGRAM_BOUNDS_MS[bucket] as number)) bucket += 1
      counts[bucket] = (counts[bucket] as number) + 1
      count += 1
      if (durationMs > 0) sumMs += durationMs
    },
    snapshot: () => ({ boundsMs: HISTOGRAM_BOUNDS_MS, counts: [...counts], count, sumMs }),
  }
}

// Two histograms of milliseconds: with given buckets, for metrics, and with fine buckets, for percentiles.

export interface HistogramSnapshot {
  readonly boundsMs: readonly number[]
  /** Counts per bucket, not cumulative. There is one bucket more than bounds. */
  readonly counts: readonly number[]
  readonly count: number
  readonly sumMs: number
}

/** @param boundsMs upper bounds in milliseconds, ascending; an additional bucket counts longer durations */
export const createHistogram = (boundsMs: readonly number[]) => {
  const counts = new Float64Array(boundsMs.length + 1)
  let count = 0
  let sumMs = 0
  return {
    /** Negative durations count as 0. */
    record: (durationMs: number) => {
      let bucket = 0
      while (bucket < boundsMs.length && durationMs > boundsMs[bucket]!) bucket++
      counts[bucket] = counts[bucket]! + 1
      count += 1
      if (durationMs > 0) sumMs += durationMs
    },
    snapshot: (): HistogramSnapshot => ({ boundsMs, counts: [...counts], count, sumMs }),
  }
}

export type Histogram = ReturnType<typeof createHistogram>

/** Number of values per fine bucket, by bucket number. */
export type BucketCounts = ReadonlyMap<number, number>

/** One bucket per microsecond below 8, then eight buckets per octave up to 2^31. */
export const FINE_BUCKETS = 232

const LARGEST = 0x7fffffff

const bucketOf = (durationMs: number): number => {
  const microseconds = durationMs * 1000
  const whole = microseconds >= LARGEST ? LARGEST : microseconds > 0 ? microseconds | 0 : 0
  if (whole < 8) return whole
  const octave = 31 - Math.clz32(whole)
  return (octave - 2) * 8 + ((whole >>> (octave - 3)) & 7)
}

/** Returns the smallest value and width of a bucket, in microseconds. */
const spanOf = (bucket: number): { readonly from: number; readonly width: number } => {
  if (bucket < 8) return { from: bucket, width: 1 }
  const shift = (bucket >>> 3) - 1
  return { from: (8 + (bucket & 7)) * 2 ** shift, width: 2 ** shift }
}

export const createFineHistogram = () => {
  /** Counts per bucket, which only grow. The histogram changes this array: copy it to keep a state. */
  const counts = new Float64Array(FINE_BUCKETS)
  return {
    counts,
    record: (durationMs: number) => {
      const bucket = bucketOf(durationMs)
      counts[bucket] = counts[bucket]! + 1
    },
  }
}

/** Values are exact to one eighth. */
export type FineHistogram = ReturnType<typeof createFineHistogram>

/** Returns milliseconds; null if there are no values. @param share from 0 to 1 */
export const finePercentileMs = (counts: ArrayLike<number>, share: number): number | null => {
  let total = 0
  for (let bucket = 0; bucket < FINE_BUCKETS; bucket++) total += counts[bucket] ?? 0
  if (total === 0) return null
  const rank = share * total
  let below = 0
  for (let bucket = 0; bucket < FINE_BUCKETS; bucket++) {
    const count = counts[bucket] ?? 0
    if (count > 0 && below + count >= rank) {
      const { from, width } = spanOf(bucket)
      return (from + width * Math.max(0, Math.min(1, (rank - below) / count))) / 1000
    }
    below += count
  }
  return null
}

// A histogram for percentiles that people read: eight buckets per octave from a microsecond up, so that a value is
// known to within an eighth. An update is a few integer operations, cheap enough for every request.

/** How many values each bucket holds, by the bucket's number (src/lib/fine-histogram.ts). */
export type BucketCounts = ReadonlyMap<number, number>

/** Each microsecond value below 8 has its own bucket; above, there are eight buckets per octave up to 2^31. */
export const FINE_BUCKETS = 232

const LARGEST = 0x7fffffff

const bucketOf = (durationMs: number): number => {
  const microseconds = durationMs * 1000
  const whole = microseconds >= LARGEST ? LARGEST : microseconds > 0 ? microseconds | 0 : 0
  if (whole < 8) return whole
  const octave = 31 - Math.clz32(whole)
  return (octave - 2) * 8 + ((whole >>> (octave - 3)) & 7)
}

/** The smallest value of a bucket, and how many values it spans, in microseconds. */
const spanOf = (bucket: number): { readonly from: number; readonly width: number } => {
  if (bucket < 8) return { from: bucket, width: 1 }
  const shift = (bucket >>> 3) - 1
  return { from: (8 + (bucket & 7)) * 2 ** shift, width: 2 ** shift }
}

export interface FineHistogram {
  record(durationMs: number): void
  /** Counts per bucket, which only grow. The array is the histogram's own: copy it to keep a state. */
  readonly counts: Float64Array
}

export const createFineHistogram = (): FineHistogram => {
  const counts = new Float64Array(FINE_BUCKETS)
  return {
    counts,
    record: (durationMs) => {
      const bucket = bucketOf(durationMs)
      counts[bucket] = counts[bucket]! + 1
    },
  }
}

/** The value below which a share of all values lies, milliseconds; null when there are none. @param share 0 to 1 */
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

// Latencies in an HdrHistogram: microseconds, three significant digits. Latencies of more than ten minutes count as ten
// minutes.
import { build, decodeFromCompressedBase64, encodeIntoCompressedBase64, type Histogram } from 'hdr-histogram-js'
import type { LatencySummary } from './plan.ts'

const HIGHEST_MICROSECONDS = 600_000_000

export interface LatencyHistogram {
  /** A negative latency (clock granularity) counts as 0. */
  recordMs(latencyMs: number): void
  summary(): LatencySummary
  reset(): void
}

const empty = (): Histogram =>
  build({
    bitBucketSize: 32,
    autoResize: false,
    lowestDiscernibleValue: 1,
    highestTrackableValue: HIGHEST_MICROSECONDS,
    numberOfSignificantValueDigits: 3,
  })

const summarise = (histogram: Histogram): LatencySummary => {
  const at = (percentile: number): number => histogram.getValueAtPercentile(percentile) / 1000
  const count = histogram.totalCount
  return {
    count,
    p50: at(50),
    p90: at(90),
    p99: at(99),
    p99_9: at(99.9),
    max: count === 0 ? 0 : histogram.maxValue / 1000,
    mean: count === 0 ? 0 : histogram.mean / 1000,
    histogram: encodeIntoCompressedBase64(histogram),
  }
}

export const createLatencyHistogram = (): LatencyHistogram => {
  const histogram = empty()
  return {
    recordMs(latencyMs) {
      const microseconds = Math.round(latencyMs * 1000)
      histogram.recordValue(microseconds < 0 ? 0 : Math.min(microseconds, HIGHEST_MICROSECONDS))
    },
    summary: () => summarise(histogram),
    reset: () => histogram.reset(),
  }
}

/** Merges the summaries of several runs as if they were one run. */
export const mergeSummaries = (summaries: readonly LatencySummary[]): LatencySummary => {
  const merged = empty()
  for (const { histogram } of summaries) merged.add(decodeFromCompressedBase64(histogram))
  return summarise(merged)
}

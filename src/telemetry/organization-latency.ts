// Measures each organization's time to verdict. Counts are flushed to the store once per minute.
import type { BucketCounts } from '../lib/fine-histogram.ts'
import { createFineHistogram, type FineHistogram } from '../lib/fine-histogram.ts'

export interface OrganizationLatency {
  /** Call for each verdict. */
  record(organizationId: string, durationMs: number): void
  /**
   * Passes the counts to `write`, one organization at a time, and drops them once `write` resolves. Rejects if `write`
   * rejects; the remaining counts are kept for the next call.
   */
  drain(write: (organizationId: string, counts: BucketCounts) => Promise<void>): Promise<void>
}

/**
 * Histograms of this many organizations take 4 MB. If more organizations send requests within a minute, the excess
 * organizations are not measured in that minute.
 */
const ORGANIZATIONS_MAX = 2_000

const countsOf = ({ counts }: FineHistogram): BucketCounts =>
  new Map([...counts].flatMap((count, bucket) => (count === 0 ? [] : [[bucket, count] as const])))

export const createOrganizationLatency = (organizationsMax = ORGANIZATIONS_MAX): OrganizationLatency => {
  const histograms = new Map<string, FineHistogram>()
  const histogramOf = (organizationId: string): FineHistogram | null => {
    const known = histograms.get(organizationId)
    if (known !== undefined) return known
    if (histograms.size >= organizationsMax) return null
    const made = createFineHistogram()
    histograms.set(organizationId, made)
    return made
  }
  return {
    record: (organizationId, durationMs) => histogramOf(organizationId)?.record(durationMs),
    drain: async (write) => {
      for (const [organizationId, histogram] of [...histograms]) {
        histograms.delete(organizationId)
        try {
          await write(organizationId, countsOf(histogram))
        } catch (error) {
          const since = histograms.get(organizationId)?.counts ?? []
          for (const [bucket, count] of since.entries()) histogram.counts[bucket]! += count
          histograms.set(organizationId, histogram)
          throw error
        }
      }
    },
  }
}

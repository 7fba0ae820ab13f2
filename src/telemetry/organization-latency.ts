// Counts how long each organization waits for its verdicts. Once a minute the counts are moved to the store.
import type { BucketCounts } from '../lib/fine-histogram.ts'
import { createFineHistogram, type FineHistogram } from '../lib/fine-histogram.ts'

export interface OrganizationLatency {
  /** Called for each verdict. */
  record(organizationId: string, durationMs: number): void
  /**
   * Passes the counts to `write`, one organization after another, and drops them when `write` has resolved. Rejects
   * when `write` does: the remaining counts are kept for the next call.
   */
  drain(write: (organizationId: string, counts: BucketCounts) => Promise<void>): Promise<void>
}

/**
 * Histograms of this many organizations take 4 MB. When more make requests within a minute, the last ones are not
 * counted in that minute, so their figures cover only a part of their requests.
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

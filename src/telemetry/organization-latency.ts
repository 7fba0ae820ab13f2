// How long each organization waits for its verdicts, until the store takes the counts over once a minute.
import type { BucketCounts } from '../domain/bucket-counts.ts'
import { createFineHistogram, type FineHistogram } from './fine-histogram.ts'

export interface OrganizationLatency {
  /** Called for each verdict. */
  record(organizationId: string, durationMs: number): void
  /**
   * Hands over what was counted, one organization after another, and forgets it once it was taken. Rejects as `write` does;
   * what was not taken is kept for the next time.
   */
  drain(write: (organizationId: string, counts: BucketCounts) => Promise<void>): Promise<void>
}

/**
 * Histograms of so many organizations fit into 4 MB. If more ask within a minute, those that come last are not measured in
 * that minute: their figures are of a part of their requests.
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

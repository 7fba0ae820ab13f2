// Metrics that requests update: durations by route and status, verdict durations by organization, decision counts.
import {
  type BucketCounts,
  createFineHistogram,
  createHistogram,
  FINE_BUCKETS,
  type FineHistogram,
  type Histogram,
} from '../lib/histogram.ts'
import { histogramSamples, type Sample } from './exposition.ts'
import { METRICS } from './metric-table.ts'

/** Bucket bounds, from a cached verdict to beyond the deadline. */
export const REQUEST_BOUNDS_MS: readonly number[] = [
  0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000,
]

export type RouteRecorder = (status: number, durationMs: number) => void

const OTHER = 'other'

const isStatus = (status: number): boolean => Number.isInteger(status) && status >= 100 && status <= 599

export const createRouteMetrics = () => {
  const recorders = new Map<string, RouteRecorder>()
  const fine = new Map<string, FineHistogram>()
  const series: { readonly labels: Readonly<Record<string, string>>; readonly histogram: Histogram }[] = []

  const createRecorder = (method: string, route: string): RouteRecorder => {
    const byStatus = new Map<number, Histogram>()
    const answers = createFineHistogram()
    fine.set(route, answers)
    return (status, durationMs) => {
      answers.record(durationMs)
      const known = isStatus(status) ? status : 0
      let histogram = byStatus.get(known)
      if (histogram === undefined) {
        histogram = createHistogram(REQUEST_BOUNDS_MS)
        byStatus.set(known, histogram)
        series.push({
          labels: {
            http_request_method: method,
            http_route: route,
            http_response_status_code: known === 0 ? OTHER : String(known),
          },
          histogram,
        })
      }
      histogram.record(durationMs)
    }
  }

  return {
    recorder: (method: string, route: string): RouteRecorder => {
      const name = `${method} ${route}`
      let recorder = recorders.get(name)
      if (recorder === undefined) {
        recorder = createRecorder(method, route)
        recorders.set(name, recorder)
      }
      return recorder
    },
    durations: (routes: readonly string[]): Float64Array => {
      const sum = new Float64Array(FINE_BUCKETS)
      for (const route of routes) {
        const counts = fine.get(route)?.counts
        if (counts !== undefined) for (let bucket = 0; bucket < FINE_BUCKETS; bucket++) sum[bucket]! += counts[bucket]!
      }
      return sum
    },
    samples: (): readonly Sample[] =>
      series.flatMap(({ labels, histogram }) =>
        histogramSamples(METRICS.requestDuration.name, labels, histogram.snapshot()),
      ),
  }
}

/**
 * Maximum measured organizations; their histograms take 4 MB. Further organizations aren't measured until the next
 * drain.
 */
const ORGANIZATIONS_MAX = 2_000

const countsOf = ({ counts }: FineHistogram): BucketCounts =>
  new Map([...counts].flatMap((count, bucket) => (count === 0 ? [] : [[bucket, count] as const])))

/** Drained to the store once per minute. */
export const createOrganizationLatency = (organizationsMax = ORGANIZATIONS_MAX) => {
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
    record: (organizationId: string, durationMs: number): void => histogramOf(organizationId)?.record(durationMs),
    /**
     * Passes each organization's counts to `write`, then drops them. If `write` rejects, so does this call, and the
     * remaining counts are kept.
     */
    drain: async (write: (organizationId: string, counts: BucketCounts) => Promise<void>): Promise<void> => {
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

export type OrganizationLatency = ReturnType<typeof createOrganizationLatency>

export type DecisionKind = 'attestation' | 'task'

export interface DecisionCount {
  readonly kind: DecisionKind
  readonly chain: string
  readonly compliant: boolean
  readonly count: number
}

export const createDecisions = (chainNames: readonly string[]) => {
  const chains = [...new Set([...chainNames, OTHER])]
  const indexOf = new Map(chains.map((chain, index) => [chain, index]))
  // Numbers of denied and compliant decisions, by chain.
  const counts = { attestation: new Float64Array(2 * chains.length), task: new Float64Array(2 * chains.length) }
  const totals = (): readonly DecisionCount[] =>
    (['attestation', 'task'] as const).flatMap((kind) =>
      [...counts[kind]].flatMap((count, at) =>
        // A combination that never occurred has no series, such as a v1 task on Solana.
        count === 0 ? [] : [{ kind, chain: chains[at >> 1] ?? OTHER, compliant: at % 2 === 1, count }],
      ),
    )
  return {
    record: (kind: DecisionKind, chainName: string, compliant: boolean): void => {
      const chain = indexOf.get(chainName) ?? chains.length - 1
      const at = 2 * chain + (compliant ? 1 : 0)
      counts[kind][at] = counts[kind][at]! + 1
    },
    totals,
    samples: (): readonly Sample[] =>
      totals().map(({ kind, chain, compliant, count }) => ({
        labels: { kind, chain, verdict: compliant ? 'compliant' : 'denied' },
        value: count,
      })),
  }
}

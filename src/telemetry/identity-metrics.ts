// Metrics of evidence, webhooks and automatic decisions, without data that identifies a person or organization.
import { createHistogram, type HistogramSnapshot } from '../lib/histogram.ts'
import { type Exposition, histogramSamples, type Sample } from './exposition.ts'
import { METRICS } from './metric-table.ts'

/** `none` if only a shadow policy was evaluated. */
export type DecisionOutcome = 'completed' | 'rejected' | 'review' | 'none'

/** Bucket bounds, from the fastest checks to retried checks. */
const DECISION_BOUNDS_MS: readonly number[] = [1, 2, 3, 5, 10, 20, 30, 60, 120, 300, 600].map(
  (second) => second * 1_000,
)

/** Measures times from submission to decision. */
export const createDecisionTimes = () => {
  const histograms = {
    completed: createHistogram(DECISION_BOUNDS_MS),
    rejected: createHistogram(DECISION_BOUNDS_MS),
    review: createHistogram(DECISION_BOUNDS_MS),
    none: createHistogram(DECISION_BOUNDS_MS),
  }
  return {
    record: (outcome: DecisionOutcome, seconds: number): void => histograms[outcome].record(seconds * 1_000),
    snapshot: (): IdentityMetrics['sessionDecisions'] => ({
      completed: histograms.completed.snapshot(),
      rejected: histograms.rejected.snapshot(),
      review: histograms.review.snapshot(),
      none: histograms.none.snapshot(),
    }),
  }
}

export interface IdentityMetrics {
  readonly deliveries: Readonly<Record<'delivered' | 'retried' | 'dead', number>>
  readonly webhookQueue: {
    readonly waiting: number
    /** Delay of the next message; 0 if none is overdue. */
    readonly overdueSeconds: number
  } | null
  readonly evidencePieces: Readonly<Record<'stored' | 'erased', number>>
  readonly evidenceBytesStored: number
  readonly retentionRuns: Readonly<Record<'completed' | 'failed', number>>
  readonly sessionDecisions: Readonly<Record<DecisionOutcome, HistogramSnapshot>>
}

const byLabel = (label: string, counts: Readonly<Record<string, number>>): readonly Sample[] =>
  Object.entries(counts).map(([name, value]) => ({ labels: { [label]: name }, value }))

export const addIdentityMetrics = (exposition: Exposition, read: () => IdentityMetrics | null): void => {
  const samples = (of: (metrics: IdentityMetrics) => readonly Sample[]) => (): readonly Sample[] => {
    const metrics = read()
    return metrics === null ? [] : of(metrics)
  }
  exposition.add(
    METRICS.webhookDeliveries,
    samples(({ deliveries }) => byLabel('outcome', deliveries)),
  )
  exposition.add(
    METRICS.webhookWaiting,
    samples(({ webhookQueue }) => (webhookQueue === null ? [] : [{ labels: {}, value: webhookQueue.waiting }])),
  )
  exposition.add(
    METRICS.webhookOverdue,
    samples(({ webhookQueue }) => (webhookQueue === null ? [] : [{ labels: {}, value: webhookQueue.overdueSeconds }])),
  )
  exposition.add(
    METRICS.evidencePieces,
    samples(({ evidencePieces }) => byLabel('change', evidencePieces)),
  )
  exposition.add(
    METRICS.evidenceBytesStored,
    samples(({ evidenceBytesStored }) => [{ labels: {}, value: evidenceBytesStored }]),
  )
  exposition.add(
    METRICS.retentionRuns,
    samples(({ retentionRuns }) => byLabel('outcome', retentionRuns)),
  )
  exposition.add(
    METRICS.sessionDecisions,
    samples(({ sessionDecisions }) =>
      Object.entries(sessionDecisions).flatMap(([outcome, times]) =>
        histogramSamples(METRICS.sessionDecisions.name, { outcome }, times),
      ),
    ),
  )
}

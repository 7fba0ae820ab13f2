// Metrics of evidence and webhooks: counts of this process, and the webhook queue that all processes share. No label or
// value names a person, a session or an organization.
import type { Exposition, Sample } from './exposition.ts'
import { METRICS } from './metric-table.ts'

export interface IdentityMetrics {
  /** Attempts to deliver a message, by result. */
  readonly deliveries: Readonly<Record<'delivered' | 'retried' | 'dead', number>>
  /** The queue as last read; null before the first read. */
  readonly webhookQueue: {
    readonly waiting: number
    /** How many seconds the next message is overdue; 0 when none is. */
    readonly overdueSeconds: number
  } | null
  /** Documents and sets of fields. */
  readonly evidencePieces: Readonly<Record<'stored' | 'erased', number>>
  readonly evidenceBytesStored: number
  readonly retentionRuns: Readonly<Record<'completed' | 'failed', number>>
}

const byLabel = (label: string, counts: Readonly<Record<string, number>>): readonly Sample[] =>
  Object.entries(counts).map(([name, value]) => ({ labels: { [label]: name }, value }))

/** @param read called once per metric and scrape; null when there are no such metrics */
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
}

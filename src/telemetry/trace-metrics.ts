// Metrics of the traces that were sent to a collector. Only where a collector is set.
import type { Exposition, Sample } from './exposition.ts'
import { METRICS } from './metric-table.ts'
import type { TraceCounts } from './trace-exporter.ts'

/** @param read called once per metric and scrape; null when nothing is traced */
export const addTraceMetrics = (exposition: Exposition, read: () => TraceCounts | null): void => {
  const samples = (of: (counts: TraceCounts) => readonly Sample[]) => (): readonly Sample[] => {
    const counts = read()
    return counts === null ? [] : of(counts)
  }
  exposition.add(
    METRICS.traces,
    samples(({ sent, dropped }) => [
      { labels: { outcome: 'sent' }, value: sent },
      { labels: { outcome: 'dropped' }, value: dropped },
    ]),
  )
  exposition.add(
    METRICS.spansRejected,
    samples(({ rejectedSpans }) => [{ labels: {}, value: rejectedSpans }]),
  )
}

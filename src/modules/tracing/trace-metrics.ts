// Metrics have samples only if a collector is configured.
import type { Exposition } from '../../telemetry/exposition.ts'
import { defineMetric } from '../../telemetry/metric-table.ts'
import type { TraceCounts } from './trace-exporter.ts'

export const TRACE_METRICS = {
  traces: defineMetric('countersign_traces_total', 'counter', 'Sampled requests. Present only if tracing-url is set.', {
    outcome: 'sent, dropped',
  }),
  spansRejected: defineMetric(
    'countersign_trace_spans_rejected_total',
    'counter',
    'Spans of sent traces that the collector rejected.',
  ),
}

/** @param read Called once per metric and scrape; returns null if requests are not traced */
export const addTraceMetrics = (exposition: Exposition, read: () => TraceCounts | null): void => {
  exposition.add(TRACE_METRICS.traces, () => {
    const counts = read()
    if (counts === null) return []
    return (['sent', 'dropped'] as const).map((outcome) => ({ labels: { outcome }, value: counts[outcome] }))
  })
  exposition.add(TRACE_METRICS.spansRejected, () => {
    const counts = read()
    return counts === null ? [] : [{ labels: {}, value: counts.rejectedSpans }]
  })
}

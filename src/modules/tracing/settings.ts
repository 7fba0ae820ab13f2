import { setting } from '../../config/setting.ts'
import type { Exposition } from '../../telemetry/exposition.ts'
import { defineMetric } from '../../telemetry/metric-table.ts'
import type { TraceCounts } from './trace-exporter.ts'

/** http is allowed for any host, because spans contain no secrets. */
const parseTracingUrl = (text: string): string => {
  if (text === '') return ''
  const url = URL.parse(text)
  const plain = url !== null && url.username === '' && url.password === '' && url.hash === ''
  if (!plain || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new Error('must be an http or https URL without credentials')
  }
  if (url.pathname === '/') url.pathname = '/v1/traces'
  return url.href
}

const parseShare = (text: string): number => {
  const value = /^(0|1|[01]?\.[0-9]{1,9})$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= 0 && value <= 1)) throw new Error('must be a number from 0 to 1, such as 0.01')
  return value
}

export const TRACING_SETTINGS = {
  url: setting({
    name: 'tracing-url',
    description:
      'OTLP/HTTP URL of an OpenTelemetry collector, such as http://127.0.0.1:4318. The path defaults to /v1/traces. Defaults to no traces',
    defaultText: '',
    parse: parseTracingUrl,
  }),
  sample: setting({
    name: 'tracing-sample',
    description: 'Share of requests without a traceparent header that are traced, from 0 to 1',
    defaultText: '0.01',
    parse: parseShare,
  }),
}

export const TRACE_METRICS = {
  traces: defineMetric('countersign_traces_total', 'counter', 'Sampled requests. Present only if tracing-url is set.', {
    outcome: 'sent, dropped',
  }),
  spansRejected: defineMetric(
    'countersign_trace_spans_rejected_total',
    'counter',
    'Sent spans that the collector rejected.',
  ),
}

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

import { defineModule } from '../../module-interface/module.ts'
import { TRACE_METRICS, TRACING_SETTINGS } from './settings.ts'

export const tracing = defineModule({
  name: 'tracing',
  summary: 'trace requests and send the spans to an OpenTelemetry collector',
  settings: TRACING_SETTINGS,
  metrics: TRACE_METRICS,
  open: async (core) => (await import('./tracing.ts')).openTracing(core),
})

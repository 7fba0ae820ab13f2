import { VERSION } from '../../config/version.ts'
import { fetchBounded } from '../../lib/bounded-fetch.ts'
import type { ModuleCore, OpenedModule } from '../../module-interface/module.ts'
import { createTracer } from '../../telemetry/tracer.ts'
import { encodeTraces, OTLP_CONTENT_TYPE } from './otlp.ts'
import { addTraceMetrics, TRACING_SETTINGS } from './settings.ts'
import { createTraceExporter } from './trace-exporter.ts'

const POST_TIMEOUT_MS = 5_000
const ANSWER_BYTES_MAX = 65_536

const retryAfterSeconds = (text: string | null): number | null =>
  text !== null && /^[0-9]{1,6}$/.test(text) ? Number(text) : null

export const openTracing = ({ config, clock, after, log }: ModuleCore): OpenedModule => {
  const url = config.of(TRACING_SETTINGS.url)
  if (url === '') return { addMetrics: (exposition) => addTraceMetrics(exposition, () => null) }
  const resource = {
    'service.name': 'countersign',
    'service.version': VERSION,
    // Unlike a process id, never reused.
    'service.instance.id': crypto.randomUUID(),
  }
  const exporter = createTraceExporter({
    encode: (traces) => encodeTraces(traces, resource),
    post: async (body) => {
      const {
        status,
        headers,
        body: answer,
      } = await fetchBounded(url, {
        post: body,
        contentType: OTLP_CONTENT_TYPE,
        timeoutMs: POST_TIMEOUT_MS,
        maxBytes: ANSWER_BYTES_MAX,
      })
      return {
        status,
        body: answer,
        contentType: headers.get('content-type') ?? '',
        retryAfterSeconds: retryAfterSeconds(headers.get('retry-after')),
      }
    },
    after,
    log,
  })
  const tracer = createTracer({
    sample: config.of(TRACING_SETTINGS.sample),
    hasRoom: exporter.hasRoom,
    onEnd: exporter.add,
    monotonicMs: clock.monotonicMs,
    unixMs: Date.now,
  })
  return {
    tracer,
    addMetrics: (exposition) => addTraceMetrics(exposition, exporter.counts),
    stop: exporter.stop,
  }
}

// Builds tracing if a collector is configured; otherwise requests are not traced.

import type { Config } from '../config/config.ts'
import { VERSION } from '../config/version.ts'
import { fetchBounded } from '../lib/bounded-fetch.ts'
import type { Clock, Timers } from '../lib/time.ts'
import type { Logger } from '../telemetry/log.ts'
import { encodeTraces, OTLP_CONTENT_TYPE } from '../telemetry/otlp.ts'
import { createTraceExporter, type TraceExporter } from '../telemetry/trace-exporter.ts'
import { createTracer, type Tracer } from '../telemetry/tracer.ts'

export interface TracingDependencies {
  readonly config: Pick<Config, 'tracingUrl' | 'tracingSample'>
  readonly clock: Clock
  readonly after: Timers['after']
  readonly log: Logger
}

const POST_TIMEOUT_MS = 5_000
const ANSWER_BYTES_MAX = 65_536

const retryAfterSeconds = (text: string | null): number | null =>
  text !== null && /^[0-9]{1,6}$/.test(text) ? Number(text) : null

/** @returns null when no collector is configured */
export const startTracing = ({ config, clock, after, log }: TracingDependencies) => {
  const { tracingUrl: url, tracingSample: sample } = config
  if (url === '') return null
  const resource = {
    'service.name': 'countersign',
    'service.version': VERSION,
    // New for each process; a pid would be reused after a restart.
    'service.instance.id': crypto.randomUUID(),
  }
  const exporter: TraceExporter = createTraceExporter({
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
  const tracer: Tracer = createTracer({
    sample,
    hasRoom: exporter.hasRoom,
    onEnd: exporter.add,
    monotonicMs: clock.monotonicMs,
    unixMs: Date.now,
  })
  return { tracer, counts: exporter.counts, stop: exporter.stop }
}

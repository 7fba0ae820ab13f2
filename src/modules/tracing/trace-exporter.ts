// Sends traces to a collector, one request at a time, with a bounded buffer. If it fails, traces are dropped and
// counted.

import { errorClassOf } from '../../lib/named-error.ts'
import type { Timers } from '../../lib/time.ts'
import { withTimeout } from '../../lib/with-timeout.ts'
import { createFailureLog } from '../../telemetry/failure-log.ts'
import type { Logger } from '../../telemetry/log.ts'
import type { FinishedTrace } from '../../telemetry/request-trace.ts'
import { OTLP_CONTENT_TYPE, readRejectedSpans } from './otlp.ts'

export interface CollectorAnswer {
  readonly status: number
  readonly contentType: string
  readonly retryAfterSeconds: number | null
  readonly body: Uint8Array
}

interface TraceExporterOptions {
  readonly post: (body: Uint8Array<ArrayBuffer>) => Promise<CollectorAnswer>
  readonly encode: (traces: readonly FinishedTrace[]) => Uint8Array<ArrayBuffer>
  readonly after: Timers['after']
  readonly log: Pick<Logger, 'info' | 'warn'>
}

/** Counts since startup. `rejectedSpans` belong to sent traces. */
export interface TraceCounts {
  readonly sent: number
  readonly dropped: number
  readonly rejectedSpans: number
}

/** Maximum buffered spans, which take a few megabytes. */
const BUFFERED_MAX = 2_048
const BATCH_MAX = 512
/** Time for which a trace waits for others, to be sent together. */
const GATHER_MS = 1_000
/**
 * Maximum attempts: half a minute in total, with pauses of 1, 2, 4, 8 and 16 s unless the collector requests others.
 */
const TRIES_MAX = 6
const FIRST_PAUSE_MS = 1_000
const PAUSE_MAX_MS = 30_000
const FLUSH_MS = 3_000

/** OTLP/HTTP, "Retryable Response Codes". */
const RETRYABLE = new Set([429, 502, 503, 504])

/** Only `name` is logged, never text from the collector. */
class ExportFailure {
  readonly name: string
  readonly retryable: boolean
  readonly pauseMs: number | null
  constructor(name: string, retryable: boolean, pauseMs: number | null = null) {
    this.name = name
    this.retryable = retryable
    this.pauseMs = pauseMs
  }
}

const failureOf = ({ status, contentType, retryAfterSeconds, body }: CollectorAnswer): ExportFailure | null => {
  if (status !== 200) {
    const pauseMs = retryAfterSeconds === null ? null : retryAfterSeconds * 1_000
    return new ExportFailure(`status ${status}`, RETRYABLE.has(status), pauseMs)
  }
  // A web server may return a page for every path.
  const isOtlp = body.length === 0 || contentType.startsWith(OTLP_CONTENT_TYPE)
  return isOtlp ? null : new ExportFailure('the response is not OTLP', false)
}

export const createTraceExporter = ({ post, encode, after, log }: TraceExporterOptions) => {
  const buffer: FinishedTrace[] = []
  const counts = { sent: 0, dropped: 0, rejectedSpans: 0 }
  let stopping = false
  let running: Promise<void> | null = null
  let wake = (): void => undefined
  const outcome = createFailureLog(log, {
    failed: 'could not send traces to the collector; will drop traces while the buffer is full',
    works: 'resumed sending traces to the collector',
  })

  const pause = (delayMs: number): Promise<void> =>
    new Promise((resolve) => {
      const cancel = after(delayMs, resolve)
      wake = () => {
        cancel()
        resolve()
      }
    })

  const tryOnce = async (body: Uint8Array<ArrayBuffer>, spans: number): Promise<ExportFailure | null> => {
    let answer: CollectorAnswer
    try {
      answer = await post(body)
    } catch (error) {
      return new ExportFailure(errorClassOf(error), true)
    }
    const failure = failureOf(answer)
    if (failure !== null) return failure
    const rejected = Math.min(spans, readRejectedSpans(answer.body))
    counts.rejectedSpans += rejected
    if (rejected > 0) outcome.failed('spans rejected')
    else outcome.works()
    return null
  }

  const sendBatch = async (traces: readonly FinishedTrace[]): Promise<void> => {
    const body = encode(traces)
    const spans = traces.reduce((sum, trace) => sum + trace.spans.length, 0)
    for (let tries = 1; ; tries++) {
      const failure = await tryOnce(body, spans)
      if (failure === null) {
        counts.sent += traces.length
        return
      }
      outcome.failed(failure.name)
      if (!failure.retryable || stopping || tries === TRIES_MAX) {
        counts.dropped += traces.length
        return
      }
      await pause(Math.min(PAUSE_MAX_MS, failure.pauseMs ?? FIRST_PAUSE_MS * 2 ** (tries - 1)))
    }
  }

  const run = async (): Promise<void> => {
    while (buffer.length > 0) {
      if (!stopping && buffer.length < BATCH_MAX) await pause(GATHER_MS)
      await sendBatch(buffer.splice(0, BATCH_MAX))
    }
    running = null
  }

  return {
    /** If false, the buffer is full, and the caller must not start a trace; it counts as dropped. */
    hasRoom: (): boolean => {
      if (buffer.length < BUFFERED_MAX) return true
      counts.dropped += 1
      return false
    },
    add: (trace: FinishedTrace) => {
      if (stopping || buffer.length >= BUFFERED_MAX) {
        counts.dropped += 1
        return
      }
      buffer.push(trace)
      running ??= run()
    },
    counts: (): TraceCounts => counts,
    /** Sends the remaining traces for at most a few seconds, and accepts no new traces. */
    stop: async (): Promise<void> => {
      stopping = true
      wake()
      if (running !== null) await withTimeout(running, FLUSH_MS, () => undefined, after)
    },
  }
}

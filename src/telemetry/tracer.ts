// Decides which requests are traced, at their arrival. A caller's `traceparent` decides for its request (parent-based
// sampling); of the others a share is drawn. While the exporter has no room, nothing is traced.
import { randomBytes } from 'node:crypto'
import { createRequestTrace, type FinishedTrace, type RequestTrace } from './request-trace.ts'

/** The caller's, from a valid `traceparent`. */
export interface ParentTrace {
  readonly traceId: string
  readonly parentId: string
  readonly sampled: boolean
}

export interface Tracer {
  /** Null: the request is not traced. `startedMs` is when it arrived. */
  begin(parent: ParentTrace | null, method: string, route: string, startedMs: number): RequestTrace | null
}

export interface TracerOptions {
  /** The share of the requests without a valid `traceparent`, 0 to 1. */
  readonly sample: number
  /** False while there is no room: the request is then counted as dropped. */
  readonly hasRoom: () => boolean
  readonly onEnd: (trace: FinishedTrace) => void
  readonly monotonicMs: () => number
  readonly unixMs: () => number
  /** From 0 to below 1; replaced in tests. */
  readonly random?: () => number
}

export const createTracer = (options: TracerOptions): Tracer => {
  const { sample, hasRoom, onEnd, monotonicMs, unixMs, random = Math.random } = options
  return {
    begin: (parent, method, route, startedMs) => {
      if (parent === null ? random() >= sample : !parent.sampled) return null
      if (!hasRoom()) return null
      return createRequestTrace({
        traceId: parent?.traceId ?? randomBytes(16).toString('hex'),
        parentId: parent?.parentId ?? null,
        method,
        route,
        startedMs,
        monotonicMs,
        unixMs,
        onEnd,
      })
    },
  }
}

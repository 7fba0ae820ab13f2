// Decides whether a request is traced. A caller's `traceparent` decides for its request (parent-based sampling); other
// requests are sampled at random. Nothing is traced while the exporter's queue is full.
import { randomBytes } from 'node:crypto'
import { createRequestTrace, type FinishedTrace, type RequestTrace } from './request-trace.ts'

/** From the caller's valid `traceparent`. */
export interface ParentTrace {
  readonly traceId: string
  readonly parentId: string
  readonly sampled: boolean
}

export interface Tracer {
  /** Returns null if the request is not traced. `startedMs` is the arrival time. */
  begin(parent: ParentTrace | null, method: string, route: string, startedMs: number): RequestTrace | null
}

export interface TracerOptions {
  /** Fraction of traced requests without a valid `traceparent`, 0 to 1. */
  readonly sample: number
  /** Returns false while the queue is full. The request then counts as dropped. */
  readonly hasRoom: () => boolean
  readonly onEnd: (trace: FinishedTrace) => void
  readonly monotonicMs: () => number
  readonly unixMs: () => number
  /** Returns a number in [0, 1). */
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

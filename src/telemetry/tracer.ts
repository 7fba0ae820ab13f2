// Decides which requests are traced: by the caller's `traceparent`, otherwise at random; none while the queue is full.
import { randomBytes } from 'node:crypto'
import { createRequestTrace, type FinishedTrace, type RequestTrace } from './request-trace.ts'

/** Values from a valid `traceparent`. */
export interface ParentTrace {
  readonly traceId: string
  readonly parentId: string
  readonly sampled: boolean
}

export interface TracerOptions {
  /** Fraction of traced requests without a valid `traceparent`. */
  readonly sample: number
  readonly hasRoom: () => boolean
  readonly onEnd: (trace: FinishedTrace) => void
  readonly monotonicMs: () => number
  readonly unixMs: () => number
  /** Returns a number in [0, 1). */
  readonly random?: () => number
}

export const createTracer = (options: TracerOptions) => {
  const { sample, hasRoom, onEnd, monotonicMs, unixMs, random = Math.random } = options
  return {
    /** Returns null if the request is not traced. `startedMs` is the arrival time. */
    begin: (parent: ParentTrace | null, method: string, route: string, startedMs: number): RequestTrace | null => {
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

export type Tracer = ReturnType<typeof createTracer>

// The stages of one sampled request, as spans. A stage ends when the next one begins, so that a request that was cut off
// shows where it waited. Nothing of a caller can become part of a span: names and attributes are the closed sets below.
import { createJobStages, type JobStages } from '../domain/job-stages.ts'

/** What a request does in the main thread, in this order; the pool's stages follow `enterPool`. */
export type Stage = 'key' | 'front' | 'idempotency' | 'policy' | 'facts'

export interface Span {
  readonly name: string
  /** Index of the parent among the trace's spans; null for the request itself, which is the first. */
  readonly parent: number | null
  readonly startMs: number
  endMs: number
  readonly attributes: Record<string, string | number | boolean>
}

export interface FinishedTrace {
  /** 32 lower-case hex digits. */
  readonly traceId: string
  /** 16 lower-case hex digits: the caller's span; null: the trace begins here. */
  readonly parentId: string | null
  readonly spans: readonly Span[]
  /** Unix milliseconds minus monotonic milliseconds. */
  readonly unixOffsetMs: number
  /** The request was answered 5xx. */
  readonly failed: boolean
}

export interface RequestTrace {
  enter(stage: Stage): void
  /** The request goes to the pool: which then times the job by this object. */
  enterPool(): JobStages
  /** What decides it: a name of the chain table and the id of a policy's revision. */
  decides(chainName: string, revisionId: string): void
  verdict(compliant: boolean): void
  /** A question to a source outside this process. Returns the function to call with whether it was answered. */
  asks(kind: string, source: string): (answered: boolean) => void
  /** The stable code of the error in the answer's body. */
  error(code: string): void
  /** The answer leaves. Whatever still goes on is left out. */
  end(status: number): void
}

export interface RequestTraceOptions {
  readonly traceId: string
  readonly parentId: string | null
  readonly method: string
  /** The route's template. */
  readonly route: string
  readonly startedMs: number
  readonly monotonicMs: () => number
  readonly unixMs: () => number
  readonly onEnd: (trace: FinishedTrace) => void
}

/** A policy asks for less; this bounds a trace whatever a policy asks. */
const SPANS_MAX = 64
const ROOT = 0

const ignore = (): void => undefined

export const createRequestTrace = (options: RequestTraceOptions): RequestTrace => {
  const { method, route, startedMs, monotonicMs, unixMs, onEnd } = options
  const unixOffsetMs = unixMs() - monotonicMs()
  const root: Span = {
    name: `${method} ${route}`,
    parent: null,
    startMs: startedMs,
    endMs: startedMs,
    attributes: { 'http.request.method': method, 'http.route': route },
  }
  const spans: Span[] = [root]
  /** Questions that are not answered yet. */
  const open = new Set<Span>()
  let stage: Span | null = null
  let stageIndex = ROOT
  let job: { readonly stages: JobStages; readonly enteredMs: number } | null = null
  let ended = false

  const note = (name: string, value: string | number): void => {
    if (!ended) root.attributes[name] = value
  }

  const add = (name: string, parent: number, startMs: number, endMs: number): Span => {
    const span: Span = { name, parent, startMs, endMs: Math.max(startMs, endMs), attributes: {} }
    spans.push(span)
    return span
  }

  /** Adds the pool's stages, as far as the job came. */
  const leavePool = (nowMs: number): void => {
    if (job === null) return
    const { stages, enteredMs } = job
    const { dispatchedMs, answeredMs, clockOffsetMs, worker } = stages
    job = null
    add('queue', ROOT, enteredMs, dispatchedMs === 0 ? nowMs : dispatchedMs)
    if (dispatchedMs === 0) return
    const until = answeredMs === 0 ? nowMs : answeredMs
    add('worker', ROOT, dispatchedMs, until)
    const parent = spans.length - 1
    // The clocks were compared to within a message's way: what that makes of a time stays inside the worker's span.
    const inside = (workerMs: number): number => Math.min(until, Math.max(dispatchedMs, workerMs + clockOffsetMs))
    const { evaluatingMs, signingMs, decidedMs, recordingMs, recordedMs } = worker
    if (signingMs !== 0) add('evaluate', parent, inside(evaluatingMs), inside(signingMs))
    if (decidedMs !== 0) add('sign', parent, inside(signingMs), inside(decidedMs))
    if (recordedMs !== 0) add('record', parent, inside(recordingMs), inside(recordedMs))
  }

  const leave = (nowMs: number): void => {
    if (stage !== null) stage.endMs = nowMs
    stage = null
    stageIndex = ROOT
    leavePool(nowMs)
  }

  const enterAt = (name: Stage, startMs: number): void => {
    leave(startMs)
    if (ended || spans.length >= SPANS_MAX) return
    stage = add(name, ROOT, startMs, startMs)
    stageIndex = spans.length - 1
  }

  enterAt('key', startedMs)
  return {
    enter: (name) => enterAt(name, monotonicMs()),
    enterPool: () => {
      const nowMs = monotonicMs()
      leave(nowMs)
      const stages = createJobStages()
      if (!ended) job = { stages, enteredMs: nowMs }
      return stages
    },
    decides: (chainName, revisionId) => {
      note('countersign.chain', chainName)
      note('countersign.policy.revision', revisionId)
    },
    verdict: (compliant) => note('countersign.verdict', compliant ? 'compliant' : 'denied'),
    error: (code) => note('error.type', code),
    asks: (kind, source) => {
      if (ended || spans.length >= SPANS_MAX) return ignore
      const nowMs = monotonicMs()
      const span = add(kind, stageIndex, nowMs, nowMs)
      if (source !== '') span.attributes['countersign.fact.source'] = source
      open.add(span)
      return (answered) => {
        if (ended || !open.delete(span)) return
        span.attributes['countersign.fact.answered'] = answered
        span.endMs = monotonicMs()
      }
    },
    end: (status) => {
      if (ended) return
      const nowMs = monotonicMs()
      leave(nowMs)
      note('http.response.status_code', status)
      ended = true
      for (const span of open) {
        span.attributes['countersign.fact.answered'] = false
        span.endMs = nowMs
      }
      root.endMs = nowMs
      const { traceId, parentId } = options
      onEnd({ traceId, parentId, spans, unixOffsetMs, failed: status >= 500 })
    },
  }
}

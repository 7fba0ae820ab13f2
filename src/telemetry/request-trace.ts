// Records the stages of a sampled request as spans. A stage ends when the next starts, so an aborted request shows its
// last stage. Names and attributes come from closed sets.
import { createJobStages, type JobStages } from '../domain/job-stages.ts'

/** Stages on the main thread, in this order. The pool's stages follow `enterPool`. */
export type Stage = 'key' | 'front' | 'idempotency' | 'policy' | 'facts'

export interface Span {
  readonly name: string
  /** Index in `spans`; null for the request itself. */
  readonly parent: number | null
  readonly startMs: number
  endMs: number
  readonly attributes: Record<string, string | number | boolean>
}

export interface FinishedTrace {
  readonly traceId: string
  /** Caller's span id, 16 lowercase hex digits; null if the trace starts here. */
  readonly parentId: string | null
  readonly spans: readonly Span[]
  readonly unixOffsetMs: number
  readonly failed: boolean
}

export interface StageTrace {
  enter(stage: Stage): void
  /** Call when the job is submitted to the pool, which writes its times into the returned object. */
  enterPool(): JobStages
  decides(chainName: string, revisionId: string): void
  verdict(compliant: boolean): void
  /** Call at the start of a query to an external source, and the returned function at its end. */
  asks(kind: string, source: string): (answered: boolean) => void
  error(code: string): void
  /** Ends the trace with the response. @param status null if the request was aborted */
  end(status: number | null): void
}

export interface RequestTrace extends StageTrace {
  end(status: number): void
  /** Starts a stage per element of a batch. The returned function returns null for elements without spans. */
  elements(size: number): (index: number) => StageTrace | null
  /** Call if the body is still being produced after `end`; the returned function then ends the trace. */
  hold(): () => void
}

export interface RequestTraceOptions {
  readonly traceId: string
  readonly parentId: string | null
  readonly method: string
  readonly route: string
  readonly startedMs: number
  readonly monotonicMs: () => number
  readonly unixMs: () => number
  readonly onEnd: (trace: FinishedTrace) => void
}

/** Maximum spans: more than a policy or the traced elements of a batch need. */
const SPANS_MAX = 128
/** Maximum traced elements, spread evenly over the batch. */
const ELEMENTS_MAX = 8
const ROOT = 0

const ignore = (): void => undefined

/** Adds spans below `root`, which starts the first stage. */
const createStages = (
  spans: Span[],
  root: number,
  first: Stage,
  monotonicMs: () => number,
): StageTrace & { leave(): void } => {
  const own = spans[root]!
  const open = new Set<Span>()
  let stage: Span | null = null
  let stageIndex = root
  let job: { readonly stages: JobStages; readonly enteredMs: number } | null = null
  let ended = false

  const note = (name: string, value: string | number): void => {
    if (!ended) own.attributes[name] = value
  }

  const add = (name: string, parent: number, startMs: number, endMs: number): Span => {
    const span: Span = { name, parent, startMs, endMs: Math.max(startMs, endMs), attributes: {} }
    spans.push(span)
    return span
  }

  const leavePool = (nowMs: number): void => {
    if (job === null) return
    const { stages, enteredMs } = job
    const { dispatchedMs, answeredMs, clockOffsetMs, worker } = stages
    job = null
    add('queue', root, enteredMs, dispatchedMs === 0 ? nowMs : dispatchedMs)
    if (dispatchedMs === 0) return
    const until = answeredMs === 0 ? nowMs : answeredMs
    add('worker', root, dispatchedMs, until)
    const parent = spans.length - 1
    // The error of the clock difference is up to a message's delay, so times are clamped to the worker's span.
    const inside = (workerMs: number): number => Math.min(until, Math.max(dispatchedMs, workerMs + clockOffsetMs))
    const { evaluatingMs, signingMs, decidedMs, recordingMs, recordedMs } = worker
    if (signingMs !== 0) add('evaluate', parent, inside(evaluatingMs), inside(signingMs))
    if (decidedMs !== 0) add('sign', parent, inside(signingMs), inside(decidedMs))
    if (recordedMs !== 0) add('record', parent, inside(recordingMs), inside(recordedMs))
  }

  const leave = (nowMs: number): void => {
    if (stage !== null) stage.endMs = nowMs
    stage = null
    stageIndex = root
    leavePool(nowMs)
  }

  const enterAt = (name: Stage, startMs: number): void => {
    leave(startMs)
    if (ended || spans.length >= SPANS_MAX) return
    stage = add(name, root, startMs, startMs)
    stageIndex = spans.length - 1
  }

  enterAt(first, own.startMs)
  return {
    enter: (name) => enterAt(name, monotonicMs()),
    leave: () => leave(monotonicMs()),
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
      if (status !== null) note('http.response.status_code', status)
      ended = true
      for (const span of open) {
        span.attributes['countersign.fact.answered'] = false
        span.endMs = nowMs
      }
      own.endMs = nowMs
    },
  }
}

export const createRequestTrace = (options: RequestTraceOptions): RequestTrace => {
  const { method, route, startedMs, monotonicMs, unixMs, onEnd } = options
  const unixOffsetMs = unixMs() - monotonicMs()
  const attributes: Span['attributes'] = { 'http.request.method': method, 'http.route': route }
  const spans: Span[] = [{ name: `${method} ${route}`, parent: null, startMs: startedMs, endMs: startedMs, attributes }]
  const { leave, ...own } = createStages(spans, ROOT, 'key', monotonicMs)
  const open = new Set<StageTrace>()
  let holds = 0
  let heldStatus = 0
  let ended = false

  const finish = (status: number): void => {
    if (ended) return
    ended = true
    for (const element of open) element.end(null)
    own.end(status)
    const { traceId, parentId } = options
    onEnd({ traceId, parentId, spans, unixOffsetMs, failed: status >= 500 })
  }

  return {
    ...own,
    elements: (size) => {
      leave()
      if (!ended) attributes['countersign.batch.elements'] = size
      const every = Math.ceil(size / ELEMENTS_MAX)
      return (index) => {
        if (ended || index % every !== 0 || spans.length >= SPANS_MAX) return null
        const nowMs = monotonicMs()
        spans.push({
          name: 'element',
          parent: ROOT,
          startMs: nowMs,
          endMs: nowMs,
          attributes: { 'countersign.batch.index': index },
        })
        const element = createStages(spans, spans.length - 1, 'front', monotonicMs)
        open.add(element)
        return {
          ...element,
          end: (status) => {
            open.delete(element)
            element.end(status)
          },
        }
      }
    },
    hold: () => {
      holds += 1
      let held = true
      return () => {
        if (!held) return
        held = false
        holds -= 1
        if (holds === 0 && heldStatus !== 0) finish(heldStatus)
      }
    },
    end: (status) => {
      if (holds === 0) finish(status)
      else heldStatus = status
    },
  }
}

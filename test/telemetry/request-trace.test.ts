// Traces of requests: stages, limits and sampling.
import { beforeEach, describe, expect, test } from 'bun:test'
import { createRequestTrace, type FinishedTrace, type RequestTrace } from '../../src/telemetry/request-trace.ts'
import { createTracer } from '../../src/telemetry/tracer.ts'
import { createManualClock, type ManualClock } from '../server/manual-clock.ts'

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT_ID = '00f067aa0ba902b7'

let clock: ManualClock
let finished: FinishedTrace[]
beforeEach(() => {
  clock = createManualClock()
  finished = []
})

const begin = (): RequestTrace =>
  createRequestTrace({
    traceId: TRACE_ID,
    parentId: null,
    method: 'POST',
    route: '/v2/attestation',
    startedMs: clock.monotonicMs(),
    monotonicMs: clock.monotonicMs,
    unixMs: () => 1_700_000_000_000 + clock.monotonicMs(),
    onEnd: (trace) => finished.push(trace),
  })

/** `name parent start-end` of each span. */
const shape = (): string[] => {
  const spans = finished[0]?.spans ?? []
  return spans.map(
    ({ name, parent, startMs, endMs }) => `${name} < ${parent === null ? '' : spans[parent]?.name} ${startMs}-${endMs}`,
  )
}

const after = (milliseconds: number, step: () => void): void => {
  clock.advance(milliseconds)
  step()
}

describe('the stages of a request', () => {
  test('follow each other, with the times of the pool and the worker on the same clock', () => {
    const trace = begin()
    after(1, () => trace.enter('front'))
    after(2, () => trace.enter('policy'))
    trace.decides('base', 'rev_7')
    after(3, () => trace.enter('facts'))
    const answered = trace.asks('screener', 'elliptic')
    const open = trace.asks('read', 'base')
    after(4, () => answered(true))
    after(5, () => undefined)
    const stages = trace.enterPool()
    stages.clockOffsetMs = 100
    stages.dispatchedMs = 20
    stages.worker = { evaluatingMs: -79, signingMs: -77, decidedMs: -74, recordingMs: -73, recordedMs: -71 }
    stages.answeredMs = 30
    after(20, () => trace.verdict(true))
    trace.end(200)
    expect(open(true)).toBeUndefined()
    expect(shape()).toEqual([
      'POST /v2/attestation <  0-35',
      'key < POST /v2/attestation 0-1',
      'front < POST /v2/attestation 1-3',
      'policy < POST /v2/attestation 3-6',
      'facts < POST /v2/attestation 6-15',
      'screener < facts 6-10',
      'read < facts 6-35',
      'queue < POST /v2/attestation 15-20',
      'worker < POST /v2/attestation 20-30',
      'evaluate < worker 21-23',
      'sign < worker 23-26',
      'record < worker 27-29',
    ])
    expect(finished[0]).toMatchObject({ traceId: TRACE_ID, unixOffsetMs: 1_700_000_000_000, failed: false })
    expect(finished[0]?.spans[0]?.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/v2/attestation',
      'http.response.status_code': 200,
      'countersign.chain': 'base',
      'countersign.policy.revision': 'rev_7',
      'countersign.verdict': 'compliant',
    })
    expect(finished[0]?.spans[5]?.attributes).toEqual({
      'countersign.fact.source': 'elliptic',
      'countersign.fact.answered': true,
    })
    expect(finished[0]?.spans[6]?.attributes).toMatchObject({ 'countersign.fact.answered': false })
  })

  test('of a request that timed out end in the stage where it waited', () => {
    const queued = begin()
    after(1, () => queued.enterPool())
    after(9, () => queued.end(408))
    expect(shape().slice(2)).toEqual(['queue < POST /v2/attestation 1-10'])

    finished = []
    const held = begin()
    const stages = held.enterPool()
    stages.dispatchedMs = 12
    after(10, () => held.end(408))
    expect(shape().slice(2)).toEqual(['queue < POST /v2/attestation 10-12', 'worker < POST /v2/attestation 12-20'])
  })

  test('do not change after the response', () => {
    const trace = begin()
    trace.error('DEADLINE_EXCEEDED')
    after(5, () => trace.end(503))
    const before = structuredClone(finished[0])
    trace.enter('policy')
    trace.decides('base', 'rev_1')
    trace.asks('screener', 'x')(true)
    trace.enterPool().dispatchedMs = 7
    trace.verdict(true)
    trace.error('INTERNAL')
    trace.end(200)
    expect(finished).toHaveLength(1)
    expect(structuredClone(finished[0])).toEqual(before)
    expect(before?.failed).toBe(true)
    expect(before?.spans[0]?.attributes).toMatchObject({ 'error.type': 'DEADLINE_EXCEEDED' })
  })

  test('are within the worker’s span even if the clocks differ, and a denial has no signature', () => {
    const trace = begin()
    const stages = trace.enterPool()
    stages.dispatchedMs = 4
    stages.answeredMs = 8
    stages.worker = { evaluatingMs: 1, signingMs: 5, decidedMs: 0, recordingMs: 7, recordedMs: 99 }
    after(10, () => trace.end(200))
    expect(shape().slice(3)).toEqual([
      'worker < POST /v2/attestation 4-8',
      'evaluate < worker 4-5',
      'record < worker 7-8',
    ])
  })

  test('are limited in number', () => {
    const trace = begin()
    trace.enter('facts')
    for (let question = 0; question < 1_000; question++) trace.asks('read', 'base')(true)
    trace.enterPool().dispatchedMs = 1
    trace.end(200)
    expect(finished[0]?.spans.length).toBeLessThan(135)

    const batch = begin()
    const traceOf = batch.elements(1_000)
    for (let index = 0; index < 1_000; index++) {
      const element = traceOf(index)
      for (let question = 0; question < 1_000; question++) element?.asks('read', 'base')(true)
      element?.end(200)
    }
    batch.end(200)
    expect(finished[1]?.spans.length).toBeLessThan(135)
  })

  test('of a batch belong to at most eight elements, spread over the batch', () => {
    const trace = begin()
    after(1, () => trace.enter('front'))
    const release = trace.hold()
    let traceOf: ReturnType<typeof trace.elements> = () => null
    after(1, () => {
      traceOf = trace.elements(24)
    })
    const elements = Array.from({ length: 24 }, (_, index) => traceOf(index))
    expect(elements.flatMap((element, index) => (element === null ? [] : [index]))).toEqual([
      0, 3, 6, 9, 12, 15, 18, 21,
    ])
    const [first] = elements
    after(1, () => first?.enter('policy'))
    first?.decides('base', 'rev_7')
    after(1, () => {
      const stages = first?.enterPool()
      if (stages !== undefined) stages.dispatchedMs = 4
    })
    after(1, () => first?.verdict(true))
    first?.end(200)
    elements[3]?.error('OVERLOADED')
    elements[3]?.end(503)
    // The trace ends with the last line of the response.
    trace.end(200)
    expect(finished).toHaveLength(0)
    after(1, release)
    release()
    expect(finished).toHaveLength(1)
    expect(shape().filter((line) => !line.startsWith('front < element 2-') && !line.startsWith('element'))).toEqual([
      'POST /v2/attestation <  0-6',
      'key < POST /v2/attestation 0-1',
      'front < POST /v2/attestation 1-2',
      'policy < element 3-4',
      'queue < element 4-4',
      'worker < element 4-5',
    ])
    const ofElements = (finished[0]?.spans ?? []).filter(({ name }) => name === 'element')
    expect(ofElements.map(({ startMs, endMs }) => [startMs, endMs])).toEqual([[2, 5], [2, 5], ...Array(6).fill([2, 6])])
    expect(ofElements[0]?.attributes).toEqual({
      'countersign.batch.index': 0,
      'countersign.chain': 'base',
      'countersign.policy.revision': 'rev_7',
      'countersign.verdict': 'compliant',
      'http.response.status_code': 200,
    })
    expect(ofElements[1]?.attributes).toEqual({
      'countersign.batch.index': 3,
      'error.type': 'OVERLOADED',
      'http.response.status_code': 503,
    })
    expect(ofElements[2]?.attributes).toEqual({ 'countersign.batch.index': 6 })
    expect(finished[0]?.spans[0]?.attributes).toMatchObject({ 'countersign.batch.elements': 24 })
  })
})

describe('sampling', () => {
  const tracerWith = (sample: number, drawn: number, room = true) =>
    createTracer({
      sample,
      hasRoom: () => room,
      onEnd: (trace) => finished.push(trace),
      monotonicMs: clock.monotonicMs,
      unixMs: () => 0,
      random: () => drawn,
    })
  const parent = (sampled: boolean) => ({ traceId: TRACE_ID, parentId: PARENT_ID, sampled })

  test.each([
    [0.25, 0.24, true],
    [0.25, 0.25, false],
    [0, 0, false],
    [1, 0.999_999, true],
  ])('with a share of %p and a random number of %p is %p', (share, drawn, isTraced) => {
    expect(tracerWith(share, drawn).begin(null, 'GET', '/x', 0) !== null).toBe(isTraced)
  })

  test('follows the sampling of the caller', () => {
    expect(tracerWith(1, 0).begin(parent(false), 'GET', '/x', 0)).toBeNull()
    tracerWith(0, 0.5).begin(parent(true), 'GET', '/x', 0)?.end(200)
    expect(finished[0]).toMatchObject({ traceId: TRACE_ID, parentId: PARENT_ID })
  })

  test('gives each new trace a unique id', () => {
    for (let n = 0; n < 2; n++) tracerWith(1, 0).begin(null, 'GET', '/x', 0)?.end(200)
    const [one, other] = finished
    expect(one?.traceId).toMatch(/^[0-9a-f]{32}$/)
    expect(one?.traceId).not.toBe(other?.traceId ?? '')
    expect(one?.parentId).toBeNull()
  })

  test('is off while the buffer of the exporter is full', () => {
    expect(tracerWith(1, 0, false).begin(parent(true), 'GET', '/x', 0)).toBeNull()
  })
})

// The open and closed load loops, on a simulated clock.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Connection, createClosedLoop, createOpenLoop } from '../../bench/load/loops.ts'
import { createRecorder } from '../../bench/load/recorder.ts'
import type { ResponseView } from '../../bench/load/response-parser.ts'
import { createSchedule } from '../../bench/load/schedule.ts'

const view = (status = 200, closing = false): ResponseView => {
  const bytes = new Uint8Array(0)
  return { status, bytes, bodyStart: 0, bodyEnd: 0, closing }
}

const REQUESTS = [0, 1, 2].map((byte) => new Uint8Array([byte]))

const createConnections = (count: number) => {
  const sent: { readonly connection: number; readonly request: number }[] = []
  const connections = Array.from(
    { length: count },
    (_, id): Connection => ({ id, send: (request) => void sent.push({ connection: id, request: request[0]! }) }),
  )
  return { sent, connections }
}

interface OpenLoopOptions {
  readonly connections: number
  readonly rate: number
  readonly endMs: number
  readonly queueLimit?: number
  readonly beganMs?: number
}

const openLoop = (options: OpenLoopOptions) => {
  const { sent, connections } = createConnections(options.connections)
  const recorder = createRecorder('due')
  const inspected: number[] = []
  const loop = createOpenLoop({
    connections: options.connections,
    requests: REQUESTS,
    recorder,
    inspect: (index) => inspected.push(index) > 0,
    schedule: createSchedule(options.rate, 0, options.endMs),
    queueLimit: options.queueLimit ?? 1_000,
    beganMs: options.beganMs ?? 0,
  })
  recorder.open(0)
  for (const connection of connections) loop.ready(connection, 0)
  return { sent, connections, recorder, loop, inspected }
}

describe('schedule', () => {
  test('one request is due immediately, and then one per interval until the end', () => {
    const schedule = createSchedule(1_000, 100, 110)
    const times = [99, 100, 100.5, 101, 109.9, 110, 5_000]
    expect(times.map((timeMs) => schedule.dueBy(timeMs))).toEqual([0, 1, 1, 2, 10, 10, 10])
    expect(schedule.dueMs(3)).toBe(103)
  })

  test('dueBy counts the requests due at or before a time', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50_000 }), fc.integer({ min: 0, max: 2_000 }), (rate, index) => {
        const schedule = createSchedule(rate, 7, 1e9)
        expect(schedule.dueBy(schedule.dueMs(index))).toBe(index + 1)
        expect(schedule.dueBy(schedule.dueMs(index) - 0.4 / rate)).toBe(index)
      }),
    )
  })

  test('refuses a rate of 0', () => {
    expect(() => createSchedule(0, 0, 1)).toThrow(RangeError)
  })
})

describe('open loop', () => {
  test('sends the due requests over the connections in turn', () => {
    const { sent, loop } = openLoop({ connections: 2, rate: 1_000, endMs: 100 })
    loop.tick(0)
    loop.tick(0.9)
    loop.tick(1)
    expect(sent).toEqual([
      { connection: 0, request: 0 },
      { connection: 1, request: 1 },
    ])
  })

  test('a late tick sends all missed requests, and its delay is reported separately', () => {
    const { loop, connections, recorder, sent } = openLoop({ connections: 4, rate: 1_000, endMs: 4 })
    loop.tick(10)
    expect(sent).toHaveLength(4)
    for (const connection of connections) loop.answered(connection, 11, view())
    recorder.close(1_000)
    const { latencyMs, generatorDelayMs, statuses } = recorder.report()
    expect(statuses).toEqual({ '200': 4 })
    expect(latencyMs.max).toBeCloseTo(1, 1)
    expect(generatorDelayMs.p50).toBeCloseTo(8, 1)
    expect(generatorDelayMs.max).toBeCloseTo(10, 1)
  })

  test('requests due before the start count their wait, but not as a delay of the generator', () => {
    const { loop, connections, recorder, sent } = openLoop({ connections: 4, rate: 1_000, endMs: 4, beganMs: 2 })
    loop.tick(10)
    expect(sent).toHaveLength(4)
    for (const connection of connections) loop.answered(connection, 11, view())
    recorder.close(1_000)
    const { latencyMs, generatorDelayMs } = recorder.report()
    expect(latencyMs.max).toBeCloseTo(11, 0)
    expect(latencyMs.p50).toBeLessThan(11)
    expect(generatorDelayMs.count).toBe(4)
    expect(generatorDelayMs.max).toBeCloseTo(8, 1)
    expect(generatorDelayMs.p50).toBeCloseTo(0, 1)
  })

  test('the wait for a connection is part of the latency', () => {
    const { loop, connections, recorder, sent } = openLoop({ connections: 1, rate: 1_000, endMs: 3 })
    const [only] = connections
    for (const timeMs of [0, 1, 2]) loop.tick(timeMs)
    expect(sent).toHaveLength(1)
    // The server stalls until 500 ms. A closed loop would report one slow response of three.
    for (const timeMs of [500, 501, 502]) loop.answered(only!, timeMs, view())
    recorder.close(1_000)
    const { latencyMs } = recorder.report()
    expect(sent).toHaveLength(3)
    expect(latencyMs.count).toBe(3)
    expect(latencyMs.p50).toBeCloseTo(500, 0)
    expect(latencyMs.mean).toBeCloseTo(500, 0)
  })

  test('requests beyond the queue limit count as not sent', () => {
    const { loop, recorder } = openLoop({ connections: 1, rate: 1_000, endMs: 10, queueLimit: 2 })
    loop.tick(9)
    recorder.close(1_000)
    expect(recorder.report().failures).toEqual({ 'not-sent': 7 })
    expect(loop.outstanding()).toBe(3)
  })

  test('requests without a response count with their waiting time', () => {
    const { loop, recorder } = openLoop({ connections: 1, rate: 1_000, endMs: 2 })
    loop.tick(1)
    recorder.close(2)
    loop.stop()
    loop.abandon(2_000)
    const { failures, latencyMs } = recorder.report()
    expect(failures).toEqual({ timeout: 2 })
    expect(latencyMs.max).toBeCloseTo(2_000, -1)
    expect(loop.outstanding()).toBe(0)
  })

  test('a lost connection fails its request, and does not send further requests until it is reopened', () => {
    const { loop, connections, recorder, sent } = openLoop({ connections: 2, rate: 1_000, endMs: 100 })
    loop.tick(0)
    loop.lost(connections[0]!, 0.5, 'connection-closed')
    loop.lost(connections[1]!, 0.5, 'connection-closed')
    loop.tick(1)
    expect(sent).toHaveLength(1)
    loop.ready(connections[1]!, 5)
    expect(sent).toEqual([
      { connection: 0, request: 0 },
      { connection: 1, request: 1 },
    ])
    recorder.close(1_000)
    expect(recorder.report().failures).toEqual({ 'connection-closed': 1 })
  })

  test('a closing connection does not send further requests', () => {
    const { loop, connections, sent } = openLoop({ connections: 1, rate: 1_000, endMs: 100 })
    loop.tick(0)
    loop.answered(connections[0]!, 1, view(200, true))
    loop.tick(5)
    expect(sent).toHaveLength(1)
  })

  test('every due request is answered, failed or outstanding after any sequence of events', () => {
    const event = fc.record({ kind: fc.constantFrom('answer', 'lose', 'return', 'time'), which: fc.nat(2) })
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const { loop, connections, recorder } = openLoop({ connections: 3, rate: 1_000, endMs: 1e6, queueLimit: 5 })
        const gone = new Set<number>()
        let nowMs = 0
        for (const { kind, which } of events) {
          const connection = connections[which]!
          if (kind === 'time') nowMs += 1.5
          if (kind === 'answer' && !gone.has(which)) loop.answered(connection, nowMs, view())
          if (kind === 'lose' && !gone.has(which)) {
            gone.add(which)
            loop.lost(connection, nowMs, 'connection-closed')
          }
          if (kind === 'return' && gone.delete(which)) loop.ready(connection, nowMs)
          loop.tick(nowMs)
        }
        const due = createSchedule(1_000, 0, 1e6).dueBy(nowMs)
        const left = loop.outstanding()
        recorder.close(nowMs + 1)
        const { statuses, failures, outcomes } = recorder.report()
        const settled = [...Object.values(statuses), ...Object.values(failures)].reduce((sum, count) => sum + count, 0)
        expect(settled + left).toBe(events.length === 0 ? 0 : due)
        expect(Object.values(outcomes).reduce((sum, count) => sum + count, 0)).toBe(settled)
      }),
    )
  })
})

describe('closed loop', () => {
  test('a connection sends only after a response', () => {
    const { sent, connections } = createConnections(2)
    const recorder = createRecorder('answer')
    const inspected: number[] = []
    const inspect = (index: number) => inspected.push(index) > 0
    const loop = createClosedLoop({ connections: 2, requests: REQUESTS, recorder, inspect })
    for (const connection of connections) loop.ready(connection, 0)
    recorder.open(1)
    loop.answered(connections[0]!, 3, view())
    loop.answered(connections[0]!, 4, view(503))
    expect(sent.map(({ connection }) => connection)).toEqual([0, 1, 0, 0])
    recorder.close(10)
    loop.stop()
    loop.answered(connections[1]!, 11, view())
    loop.answered(connections[0]!, 12, view())
    expect(sent).toHaveLength(4)
    const report = recorder.report()
    expect(report.statuses).toEqual({ '200': 1, '503': 1 })
    expect(recorder.completions()).toBe(4)
    expect([report.latencyMs.count, report.refusalLatencyMs.count]).toEqual([1, 1])
    expect(inspected).toEqual([0, 2])
  })

  test('responses before the window do not count', () => {
    const { connections } = createConnections(1)
    const recorder = createRecorder('answer')
    const loop = createClosedLoop({ connections: 1, requests: REQUESTS, recorder, inspect: () => true })
    loop.ready(connections[0]!, 0)
    loop.answered(connections[0]!, 1, view())
    recorder.open(2)
    recorder.close(3)
    expect(recorder.report().statuses).toEqual({})
  })

  test('a lost connection counts once and restarts', () => {
    const { connections, sent } = createConnections(1)
    const recorder = createRecorder('answer')
    const loop = createClosedLoop({ connections: 1, requests: REQUESTS, recorder, inspect: () => true })
    recorder.open(0)
    loop.ready(connections[0]!, 0)
    loop.lost(connections[0]!, 1, 'malformed')
    loop.lost(connections[0]!, 2, 'connection-closed')
    loop.ready(connections[0]!, 3)
    recorder.close(10)
    expect(recorder.report().failures).toEqual({ malformed: 1 })
    expect(sent).toHaveLength(2)
  })
})

// The two loops that send requests, closed and open. Both keep at most one request in flight per connection. They use
// no sockets or clocks: each event comes with its time, so that tests can choose the times.
import type { FailureKind } from './plan.ts'
import type { Recorder } from './recorder.ts'
import { asItIs } from './requests.ts'
import type { ResponseView } from './response-parser.ts'
import type { Schedule } from './schedule.ts'

/** A connection without a request in flight, as the loops see it. `id` is its index, from 0 to connections - 1. */
export interface Connection {
  readonly id: number
  send(request: Uint8Array): void
}

export interface LoadLoop {
  /** Called when a connection opens, or reopens after a failure. */
  ready(connection: Connection, nowMs: number): void
  answered(connection: Connection, nowMs: number, response: ResponseView): void
  /** Called when a connection is lost, with or without a request in flight. It becomes ready again without a call. */
  lost(connection: Connection, nowMs: number, kind: FailureKind): void
  /** Sends due requests. */
  tick(nowMs: number): void
  /** Creates no further requests. Requests that are due are still sent. */
  stop(): void
  /** Returns the number of sent or due requests without an answer. */
  outstanding(): number
  /** Abandons all outstanding requests. */
  abandon(nowMs: number): void
}

export interface LoopDependencies {
  readonly connections: number
  readonly requests: readonly Uint8Array[]
  /** Returns the request to send; defaults to the request itself. */
  readonly stamp?: (request: Uint8Array) => Uint8Array
  readonly recorder: Recorder
  /** Called for each counted answer while its bytes are valid. Returns whether a 200 is the requested answer. */
  readonly inspect: (requestIndex: number, response: ResponseView) => boolean
}

const IDLE = -1

/** A first-in, first-out queue that frees its memory as it empties. */
const createQueue = <T>() => {
  let items: T[] = []
  let head = 0
  return {
    size: () => items.length - head,
    push(item: T): void {
      items.push(item)
    },
    shift(): T | undefined {
      if (head === items.length) return undefined
      const item = items[head++]
      if (head > 1024 && head * 2 > items.length) {
        items = items.slice(head)
        head = 0
      }
      return item
    },
    remove(unwanted: (item: T) => boolean): void {
      items = items.slice(head).filter((item) => !unwanted(item))
      head = 0
    },
  }
}

/** Requests in flight by connection, and the index of the next request. */
const createFlights = ({ connections, requests, stamp = asItIs, recorder, inspect }: LoopDependencies) => {
  const dueMs = new Float64Array(connections)
  const takenUpMs = new Float64Array(connections)
  const requestIndex = new Int32Array(connections).fill(IDLE)
  let next = 0
  let inFlight = 0

  return {
    send(connection: Connection, due: number, takenUp: number): void {
      const index = next
      next = next + 1 === requests.length ? 0 : next + 1
      dueMs[connection.id] = due
      takenUpMs[connection.id] = takenUp
      requestIndex[connection.id] = index
      inFlight++
      connection.send(stamp(requests[index]!))
    },
    land(connection: Connection, nowMs: number, response: ResponseView): void {
      const index = requestIndex[connection.id]!
      if (index === IDLE) return
      requestIndex[connection.id] = IDLE
      inFlight--
      const { id } = connection
      const counts = recorder.answered(dueMs[id]!, nowMs, response.status, takenUpMs[id])
      if (counts && !inspect(index, response)) recorder.wrong(nowMs, takenUpMs[id]!)
    },
    fail(id: number, nowMs: number, kind: FailureKind): void {
      if (requestIndex[id] === IDLE) return
      requestIndex[id] = IDLE
      inFlight--
      recorder.failed(dueMs[id]!, nowMs, kind, takenUpMs[id])
    },
    count: () => inFlight,
  }
}

/** Each connection sends its next request as soon as the last one is answered. */
export const createClosedLoop = (dependencies: LoopDependencies): LoadLoop => {
  const flights = createFlights(dependencies)
  let stopped = false
  return {
    ready(connection, nowMs) {
      if (!stopped) flights.send(connection, nowMs, nowMs)
    },
    answered(connection, nowMs, response) {
      flights.land(connection, nowMs, response)
      if (!stopped && !response.closing) flights.send(connection, nowMs, nowMs)
    },
    lost(connection, nowMs, kind) {
      flights.fail(connection.id, nowMs, kind)
    },
    tick() {
      // Only answers drive a closed loop.
    },
    stop() {
      stopped = true
    },
    outstanding: flights.count,
    abandon(nowMs) {
      for (let id = 0; id < dependencies.connections; id++) flights.fail(id, nowMs, 'timeout')
    },
  }
}

export interface OpenLoopDependencies extends LoopDependencies {
  readonly schedule: Schedule
  readonly queueLimit: number
  /** Requests due before this time are overdue: their latency counts from their due time. */
  readonly beganMs: number
}

/** A request that found no free connection. */
interface Waiting {
  readonly dueMs: number
  readonly takenUpMs: number
}

/**
 * Sends requests on a schedule. A request that finds no free connection waits, and the wait counts as latency. The
 * generator's own delay does not count; the recorder receives it separately.
 */
export const createOpenLoop = (dependencies: OpenLoopDependencies): LoadLoop => {
  const { schedule, recorder, queueLimit, beganMs } = dependencies
  const flights = createFlights(dependencies)
  // Connections take turns, so that each connection (and each process behind the port) gets its share.
  const idle = createQueue<Connection>()
  const waiting = createQueue<Waiting>()
  let taken = 0
  let stopped = false

  const free = (connection: Connection): void => {
    const next = waiting.shift()
    if (next === undefined) idle.push(connection)
    else flights.send(connection, next.dueMs, next.takenUpMs)
  }

  return {
    ready: free,
    answered(connection, nowMs, response) {
      flights.land(connection, nowMs, response)
      if (!response.closing) free(connection)
    },
    lost(connection, nowMs, kind) {
      flights.fail(connection.id, nowMs, kind)
      idle.remove(({ id }) => id === connection.id)
    },
    tick(nowMs) {
      if (stopped) return
      for (const due = schedule.dueBy(nowMs); taken < due; taken++) {
        const dueMs = schedule.dueMs(taken)
        const takenUpMs = dueMs < beganMs ? dueMs : nowMs
        recorder.takenUp(dueMs, takenUpMs)
        const connection = waiting.size() === 0 ? idle.shift() : undefined
        if (connection !== undefined) flights.send(connection, dueMs, takenUpMs)
        else if (waiting.size() < queueLimit) waiting.push({ dueMs, takenUpMs })
        else recorder.failed(dueMs, nowMs, 'not-sent')
      }
    },
    stop() {
      stopped = true
    },
    outstanding: () => flights.count() + waiting.size(),
    abandon(nowMs) {
      for (let id = 0; id < dependencies.connections; id++) flights.fail(id, nowMs, 'timeout')
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        recorder.failed(next.dueMs, nowMs, 'timeout', next.takenUpMs)
      }
    },
  }
}

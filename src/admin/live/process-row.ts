import { closed, nullable, oneOf, type Static, Type } from '../schema.ts'
import { type LivePoint, type LiveReading, livePoint } from './point.ts'
import type { ProcessesLook, ProcessLook } from './processes.ts'

export const PROCESS_ROW = closed({
  process: Type.Integer({
    description: 'Process number, starting at 0. Process 0 also serves the dashboard and the portal',
  }),
  pid: nullable(Type.Integer({ description: 'Operating system process ID' })),
  state: oneOf(
    ['starting', 'ready', 'silent', 'leaving', 'down'],
    '`silent`: not responding; restarted if this persists. `leaving`: completing its requests. `down`: exited; restarting',
  ),
  uptime_seconds: nullable(Type.Number()),
  figures: nullable(
    closed({
      workers: closed({
        live: Type.Integer(),
        busy: Type.Integer(),
        wanted: Type.Integer(),
        abandoned: Type.Integer(),
      }),
      queue: closed({ waiting: Type.Integer(), limit: Type.Integer(), in_flight: Type.Integer() }),
      decisions_per_second: Type.Number(),
      cpu_cores: Type.Number({ description: 'Average CPU cores in use between the last two measurements' }),
      event_loop_p99_ms: nullable(Type.Number()),
      memory_bytes: Type.Number(),
    }),
  ),
})

export type ProcessRow = Static<typeof PROCESS_ROW>

export type ProcessRates = ReadonlyMap<number, Pick<LivePoint, 'decisions' | 'cpu'>>

export const ratesBetween = (after: ProcessesLook, before: ProcessesLook): ProcessRates => {
  const earlier = new Map(before.processes.map(({ pid, reading }) => [pid, reading]))
  return new Map(
    after.processes.flatMap(({ pid, reading }) => {
      const previous = earlier.get(pid) ?? null
      return pid === null || reading === null || previous === null ? [] : [[pid, livePoint(reading, previous)] as const]
    }),
  )
}

const figuresOf = (reading: LiveReading, rates: Pick<LivePoint, 'decisions' | 'cpu'> | undefined) => {
  const { pool, eventLoop, memoryBytes } = reading
  const { decisions, cpu } = rates ?? { decisions: { compliant: 0, denied: 0 }, cpu: { cores: 0 } }
  return {
    workers: { live: pool.workers, busy: pool.busy, wanted: pool.wanted, abandoned: pool.abandoned },
    queue: { waiting: pool.queued, limit: pool.queueLimit, in_flight: pool.inFlight },
    decisions_per_second: decisions.compliant + decisions.denied,
    cpu_cores: cpu.cores,
    event_loop_p99_ms: eventLoop === null ? null : Number(eventLoop.p99Ms.toPrecision(4)),
    memory_bytes: memoryBytes,
  }
}

export const processRow = (
  { index, pid, state, startedAtMs, reading }: ProcessLook,
  rates: ProcessRates,
  nowMs: number,
): ProcessRow => ({
  process: index,
  pid,
  state: state === 'ready' && reading === null ? 'silent' : state,
  uptime_seconds: startedAtMs === null ? null : Math.max(0, Math.round((nowMs - startedAtMs) / 1000)),
  figures: reading === null ? null : figuresOf(reading, rates.get(pid ?? -1)),
})

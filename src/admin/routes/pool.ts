import { availableParallelism } from 'node:os'
import { FieldInvalidError } from '../../domain/errors.ts'
import { eventStreamResponse } from '../../server/event-stream.ts'
import { LIVE_EVENT, readChanges } from '../live/events.ts'
import { LIVE_POINT } from '../live/point.ts'
import { PROCESS_ROW } from '../live/process-row.ts'
import { type ProcessesLook, signersOf } from '../live/processes.ts'
import { DEPLOYMENT, declareRoutes } from '../route.ts'
import { closed, named, nullable, oneOf, Type } from '../schema.ts'
import type { Services } from '../services.ts'

const pool = declareRoutes('Workers')
const live = declareRoutes('Live')

const WORKERS_MAX = 64
const PROCESSES_MAX = 64
const WINDOW_SECONDS = { '15m': 900, '24h': 86_400 } as const

const POOL = named(
  'Pool',
  closed({
    processes: closed({
      ready: Type.Integer({ description: 'Number of processes that respond' }),
      wanted: Type.Integer({ description: 'Requested number of processes; `ready` reaches it within seconds' }),
      max: Type.Integer({
        description: 'Maximum number of processes; 1 if processes can’t share a port on this system',
      }),
      each: Type.Array(named('Process', PROCESS_ROW)),
    }),
    workers: closed({
      live: Type.Integer({ description: 'Live workers across all processes' }),
      busy: Type.Integer({ description: 'Workers with a job, across all processes' }),
      wanted: Type.Integer({ description: 'Requested workers across all processes; `live` reaches it within seconds' }),
      abandoned: Type.Integer({
        description: 'Abandoned threads, which native code keeps alive, across all processes',
      }),
      each: Type.Integer({ description: 'Requested workers per process; 0 if the main thread signs' }),
    }),
    queue: closed(
      { waiting: Type.Integer(), limit: Type.Integer(), in_flight: Type.Integer() },
      'Queued and running jobs, across all processes',
    ),
    mean_service_ms: Type.Number({ description: 'Average processing time of a worker per job' }),
    predicted_wait_ms: nullable(
      Type.Number({
        description:
          'Predicted wait for a new job, in the process with the longest wait; null if a process has no worker',
      }),
    ),
    restarts: closed(
      { crash: Type.Integer(), hang: Type.Integer(), start: Type.Integer() },
      'Worker restarts by cause, across all processes',
    ),
    signer: Type.String(),
    cores: Type.Integer({ description: 'CPU cores available to the processes' }),
  }),
)

const signsInPlace = ({ workers }: { readonly workers: number }): boolean => workers === 0

const showPool = (look: ProcessesLook, { live: watch, signer }: Services) => {
  const pools = look.processes.flatMap(({ reading }) => (reading === null ? [] : [reading.pool]))
  const sum = (read: (stats: (typeof pools)[number]) => number): number =>
    pools.reduce((total, stats) => total + read(stats), 0)
  const predictedWaitMs = Math.max(0, ...pools.map((stats) => stats.predictedWaitMs))
  return {
    processes: {
      ready: look.processes.filter(({ state, reading }) => state === 'ready' && reading !== null).length,
      wanted: look.target.processes,
      max: look.processesMax,
      each: watch.rows(look),
    },
    workers: {
      live: sum((stats) => stats.workers),
      busy: sum((stats) => stats.busy),
      wanted: signersOf(look.target.workers) * look.target.processes,
      abandoned: sum((stats) => stats.abandoned),
      each: look.target.workers,
    },
    queue: {
      waiting: sum((stats) => stats.queued),
      limit: sum((stats) => stats.queueLimit),
      in_flight: sum((stats) => stats.inFlight),
    },
    mean_service_ms: pools.length === 0 ? 0 : sum((stats) => stats.meanServiceMs) / pools.length,
    predicted_wait_ms: Number.isFinite(predictedWaitMs) ? predictedWaitMs : null,
    restarts: {
      crash: sum(({ restarts }) => restarts.crash),
      hang: sum(({ restarts }) => restarts.hang),
      start: sum(({ restarts }) => restarts.start),
    },
    signer,
    cores: availableParallelism(),
  }
}

export const POOL_ROUTES = [
  pool('readPool', 'GET', '/pool', {
    access: DEPLOYMENT,
    summary: 'Show the processes, their signing workers and queues',
    description: 'Returns totals and the values of each process. Totals exclude processes that do not respond.',
    answer: POOL,
    handle: async ({ services }) => showPool(await services.processes.look(), services),
  }),
  pool('resizePool', 'PATCH', '/pool', {
    access: DEPLOYMENT,
    alone: 'upkeep',
    summary: 'Change the number of processes, or of signing workers per process',
    description:
      'New processes start immediately; removed processes complete their requests first. A client that is connecting to a removed ' +
      'process may have to reconnect. At the next startup, the settings `processes` and `workers` apply again. Multiple processes ' +
      'require Linux. Changing `workers` from or to 0 (the main thread signs) requires a restart.',
    body: closed({
      processes: Type.Optional(Type.Integer({ minimum: 1, maximum: PROCESSES_MAX })),
      workers: Type.Optional(Type.Integer({ minimum: 0, maximum: WORKERS_MAX, description: 'Workers per process' })),
    }),
    answer: POOL,
    handle: async ({ services, body, write }) => {
      const { target, processesMax } = await services.processes.look()
      const wanted = { processes: body.processes ?? target.processes, workers: body.workers ?? target.workers }
      if (wanted.processes > processesMax) {
        throw new FieldInvalidError(
          'processes',
          `must be at most ${processesMax}, because processes can share a port only on Linux`,
        )
      }
      if (signsInPlace(target) !== signsInPlace(wanted)) {
        throw new FieldInvalidError(
          'workers',
          'can be changed from or to 0 only in the settings, and then requires a restart',
        )
      }
      await write(async (_tables, note) =>
        note({
          action: 'pool.resize',
          subject: 'pool',
          organizationId: null,
          detail: {
            ...(wanted.processes === target.processes ? {} : { processes: [target.processes, wanted.processes] }),
            ...(body.workers === undefined ? {} : { workers: [target.workers, wanted.workers] }),
          },
        }),
      )
      return showPool(await services.processes.resize(wanted), services)
    },
  }),

  live('readLive', 'GET', '/live', {
    access: DEPLOYMENT,
    command: false,
    summary: 'Show the service’s recent metrics',
    description:
      'Returns the last 15 minutes by second, or the last day by minute, oldest first, across all processes. There is no data from before the start of the process that collects it.',
    query: Type.Object({
      window: Type.Optional(oneOf(['15m', '24h'], 'Length of the period. Defaults to 15 minutes')),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_440, description: 'Return only the newest points' })),
    }),
    answer: closed({ points: Type.Array(named('LivePoint', LIVE_POINT)) }),
    handle: async ({ services, query: { window = '15m', limit = Number.POSITIVE_INFINITY } }) => ({
      points: services.live.monitor.points(window).slice(-limit),
    }),
  }),
  live('listLiveEvents', 'GET', '/live/events', {
    access: DEPLOYMENT,
    command: false,
    summary: 'List recent events: process starts, resizes and policy activations',
    description: 'Oldest first. There is no data from before the start of the process that collects it.',
    query: Type.Object({
      window: Type.Optional(oneOf(['15m', '24h'], 'Length of the period. Defaults to 15 minutes')),
    }),
    answer: closed({ events: Type.Array(LIVE_EVENT) }),
    handle: async ({ services: { clock, live: watch, store }, query: { window = '15m' } }) => {
      const sinceSeconds = clock.unixSeconds() - WINDOW_SECONDS[window]
      const events = [...watch.starts.since(sinceSeconds * 1000), ...(await readChanges(store, sinceSeconds))]
      return { events: events.sort((left, right) => left.at - right.at) }
    },
  }),
  live('followLive', 'GET', '/live/stream', {
    access: DEPLOYMENT,
    summary: 'Stream the service’s metrics, second by second',
    description:
      'Server-sent events: each `data` is a LivePoint with the additional member `processes`, a list of Process. The newest point is sent immediately.',
    streams: true,
    media: ['text/event-stream'],
    handle: async ({ services, requestId, stillAllowed }) =>
      eventStreamResponse(services.liveStreams.open(stillAllowed), requestId, null),
  }),
]

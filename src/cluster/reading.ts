// Figures of one process for the live view.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { LiveReading } from '../admin/live/point.ts'
import { DECISION_PATHS } from '../attestation/paths.ts'
import { memoryUse } from '../lib/memory-use.ts'
import type { Clock } from '../lib/time.ts'
import type { Pool } from '../pool/pool.ts'
import type { Deadlines } from '../server/deadline.ts'
import type { Metrics } from '../telemetry/metrics.ts'

export interface ProcessReadingDependencies {
  readonly pool: Pick<Pool, 'stats'>
  readonly metrics: Pick<Metrics, 'totals' | 'durations'>
  readonly deadlines: Pick<Deadlines, 'active'>
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly streams: () => number
}

const EVENT_LOOP_RESOLUTION_MS = 20
/** Minimum interval covered by the event loop figures, however often they are read. */
const EVENT_LOOP_INTERVAL_MS = 900
const NANOSECONDS_PER_MS = 1e6
const MICROSECONDS_PER_SECOND = 1e6

export const createProcessReading = (dependencies: ProcessReadingDependencies) => {
  const { pool, metrics, deadlines, clock, streams } = dependencies
  const delay = monitorEventLoopDelay({ resolution: EVENT_LOOP_RESOLUTION_MS })
  delay.enable()
  let figures: LiveReading['eventLoop'] = null
  let sinceMs = clock.monotonicMs()
  const eventLoop = (): LiveReading['eventLoop'] => {
    if (clock.monotonicMs() - sinceMs < EVENT_LOOP_INTERVAL_MS) return figures
    sinceMs = clock.monotonicMs()
    // Null, because zeros would look like measured values.
    figures =
      delay.count === 0
        ? null
        : {
            p50Ms: delay.percentile(50) / NANOSECONDS_PER_MS,
            p99Ms: delay.percentile(99) / NANOSECONDS_PER_MS,
            maxMs: delay.max / NANOSECONDS_PER_MS,
          }
    delay.reset()
    return figures
  }
  return {
    read: (): LiveReading => {
      const { user, system } = process.cpuUsage()
      return {
        atMs: Date.now(),
        monotonicMs: clock.monotonicMs(),
        totals: metrics.totals(),
        latency: metrics.durations(DECISION_PATHS),
        pool: pool.stats(),
        cpuSeconds: (user + system) / MICROSECONDS_PER_SECOND,
        eventLoop: eventLoop(),
        memoryBytes: memoryUse().rss,
        activeRequests: deadlines.active(),
        streams: streams(),
      }
    },
    stop: () => {
      delay.disable()
    },
  }
}

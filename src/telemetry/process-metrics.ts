// Metrics of this process. prom-client's default metrics report a lag of 0 after startup, and their names don't follow
// OpenTelemetry.
import { readdirSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { memoryUse } from '../lib/memory-use.ts'
import type { Exposition } from './exposition.ts'
import { METRICS } from './metric-table.ts'

const RESOLUTION_MS = 20
const NANOSECONDS = 1e9
const MICROSECONDS = 1e6

const countDescriptors = (): number | null => {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return null
  }
}

export const addProcessMetrics = (exposition: Exposition): (() => void) => {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  const one = (value: number) => [{ labels: {}, value }]

  exposition.add(METRICS.eventLoopDelay, () => {
    if (delay.count === 0) return []
    const statistics = { mean: delay.mean, p50: delay.percentile(50), p99: delay.percentile(99), max: delay.max }
    delay.reset()
    return Object.entries(statistics).map(([statistic, value]) => ({
      labels: { statistic },
      value: value / NANOSECONDS,
    }))
  })
  exposition.add(METRICS.cpuTime, () => {
    const { user, system } = process.cpuUsage()
    return [
      { labels: { cpu_mode: 'user' }, value: user / MICROSECONDS },
      { labels: { cpu_mode: 'system' }, value: system / MICROSECONDS },
    ]
  })
  exposition.add(METRICS.memory, () => one(memoryUse().rss))
  exposition.add(METRICS.heap, () => one(memoryUse().heapUsed))
  exposition.add(METRICS.descriptors, () => {
    const count = countDescriptors()
    return count === null ? [] : one(count)
  })
  exposition.add(METRICS.uptime, () => one(process.uptime()))
  return () => {
    delay.disable()
  }
}

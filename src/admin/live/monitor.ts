// Keeps the last fifteen minutes per second and the last day per minute.
import { type LivePoint, type LiveReading, livePoint } from './point.ts'
import type { ProcessRow } from './process-row.ts'

const SECONDS_KEPT = 900
const MINUTES_KEPT = 1_440
const SECONDS_PER_MINUTE = 60

export type LiveSecond = LivePoint & { readonly processes: readonly ProcessRow[] }

const createRing = <Item>(capacity: number) => {
  const items: Item[] = []
  let next = 0
  return {
    add: (item: Item): void => {
      items[next] = item
      next = (next + 1) % capacity
    },
    read: (): Item[] => (items.length < capacity ? [...items] : [...items.slice(next), ...items.slice(0, next)]),
  }
}

/** Returns the median of the medians per second, and the largest p99 and maximum. */
const minuteEventLoop = (points: readonly LivePoint[]): LivePoint['event_loop_ms'] => {
  const measured = points.flatMap(({ event_loop_ms: figures }) => (figures === null ? [] : [figures]))
  if (measured.length === 0) return null
  const medians = measured.map(({ p50 }) => p50).sort((left, right) => left - right)
  return {
    p50: medians[medians.length >> 1] ?? 0,
    p99: Math.max(...measured.map(({ p99 }) => p99)),
    max: Math.max(...measured.map(({ max }) => max)),
  }
}

export const createLiveMonitor = () => {
  const seconds = createRing<LivePoint>(SECONDS_KEPT)
  const minutes = createRing<LivePoint>(MINUTES_KEPT)
  const listeners = new Set<(second: LiveSecond) => void>()
  let previous: LiveReading | null = null
  let minuteStart: LiveReading | null = null
  let ofMinute: LivePoint[] = []
  let newest: LiveSecond | null = null

  const closeMinute = (reading: LiveReading): void => {
    if (minuteStart !== null)
      minutes.add({ ...livePoint(reading, minuteStart), event_loop_ms: minuteEventLoop(ofMinute) })
    minuteStart = reading
    ofMinute = []
  }

  return {
    /** The caller must not change the reading afterwards. Call every second. */
    take: (reading: LiveReading, processes: readonly ProcessRow[]) => {
      if (previous === null) {
        previous = reading
        minuteStart = reading
        return
      }
      const point = livePoint(reading, previous)
      previous = reading
      newest = { ...point, processes }
      seconds.add(point)
      ofMinute.push(point)
      if (ofMinute.length === SECONDS_PER_MINUTE) closeMinute(reading)
      for (const listener of listeners) listener(newest)
    },
    points: (window: '15m' | '24h'): readonly LivePoint[] => (window === '15m' ? seconds.read() : minutes.read()),
    /** Returns the last second; null before the second reading. */
    newest: (): LiveSecond | null => newest,
    subscribe: (listener: (second: LiveSecond) => void): (() => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

export type LiveMonitor = ReturnType<typeof createLiveMonitor>

// A watcher of the live page that loses its rights is disconnected within 15 seconds.
import { QueueFullError } from '../../domain/errors.ts'
import { createEventStream, type EventStream, type StreamEvent } from '../../server/event-stream.ts'
import type { LiveMonitor, LiveSecond } from './monitor.ts'

const STREAMS_MAX = 100
const CHECK_EVERY = 15

interface Watcher {
  readonly stream: EventStream
  readonly stillAllowed: () => Promise<boolean>
  seconds: number
}

export const createLiveStreams = (monitor: LiveMonitor) => {
  const watchers = new Set<Watcher>()
  let sequence = 0

  const eventOf = (point: LiveSecond): StreamEvent => {
    sequence += 1
    return { sequence, data: JSON.stringify(point) }
  }

  const check = async (watcher: Watcher): Promise<void> => {
    const allowed = await watcher.stillAllowed().catch(() => false)
    if (allowed && watcher.stream.keepAlive()) return
    watchers.delete(watcher)
    watcher.stream.cut()
  }

  const unsubscribe = monitor.subscribe((point) => {
    if (watchers.size === 0) return
    const event = eventOf(point)
    for (const watcher of watchers) {
      watcher.stream.send(event)
      watcher.seconds += 1
      if (watcher.seconds % CHECK_EVERY === 0) void check(watcher)
    }
  })

  return {
    /** @throws QueueFullError if there are too many watchers */
    open: (stillAllowed: () => Promise<boolean>): EventStream => {
      if (watchers.size >= STREAMS_MAX) throw new QueueFullError()
      const watcher: Watcher = {
        stream: createEventStream(() => watchers.delete(watcher)),
        stillAllowed,
        seconds: 0,
      }
      watchers.add(watcher)
      const newest = monitor.newest()
      if (newest !== null) watcher.stream.begin({ sequence, data: JSON.stringify(newest) })
      else watcher.stream.begin({ sequence, data: 'null' })
      return watcher.stream
    },
    size: (): number => watchers.size,
    close: () => {
      unsubscribe()
      for (const { stream } of watchers) stream.end()
      watchers.clear()
    },
  }
}

export type LiveStreams = ReturnType<typeof createLiveStreams>

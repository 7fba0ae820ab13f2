// Keeps file descriptors free for the store, the decision log and workers if strangers open many connections (threats
// row 20). First the listener with the most connections stops accepting, then all listeners.
import { countOpenFiles, openFilesLimit } from '../lib/open-files.ts'
import { createThrottle } from '../lib/throttle.ts'
import { systemClock, type Timers } from '../lib/time.ts'
import type { Logger } from '../telemetry/log.ts'
import { openListeners } from './listener.ts'
import { findListeningSockets, type ListeningSocket } from './listening-sockets.ts'

const CHECK_MS = 50
/** A flood opens thousands of connections between two checks. */
const RESERVED_MAX = 16_384
const RESERVED_SHARE = 0.5
/** Free descriptors relative to the reserve. */
const PAUSE_ALL_BELOW = 0.5
const RESUME_ABOVE = 1.25
/** With a lower limit, a flood can take the whole reserve between two checks. */
const LIMIT_LOW = 8_192
const LOG_QUIET_MS = 60_000

const startLimit = (limit: number, log: Pick<Logger, 'warn'>, after: Timers['after']): (() => void) => {
  const { sockets, countByPort } = findListeningSockets(limit)
  const reserve = Math.min(limit * RESERVED_SHARE, RESERVED_MAX)
  const paused = new Set<ListeningSocket>()
  const throttle = createThrottle({ monotonicMs: systemClock.monotonicMs, quietMs: LOG_QUIET_MS })

  const pause = (chosen: readonly ListeningSocket[], openFiles: number): void => {
    for (const socket of chosen) {
      const { port } = socket
      socket.pause()
      paused.add(socket)
      if (throttle(String(port)) === null) continue
      log.warn('too many connections: the listener accepts none until others close', { port, openFiles, limit })
    }
  }
  const resume = (): void => {
    for (const socket of paused) socket.resume()
    paused.clear()
  }
  const largest = (): readonly ListeningSocket[] => {
    const counts = countByPort()
    const most = Math.max(...sockets.map(({ port }) => counts.get(port) ?? 0))
    return sockets.filter(({ port }) => counts.get(port) === most)
  }
  const check = (): void => {
    // On older systems, the number is unknown if no descriptor is free.
    const openFiles = countOpenFiles() ?? limit
    const free = limit - openFiles
    if (free < reserve * PAUSE_ALL_BELOW) {
      const others = sockets.filter((socket) => !paused.has(socket))
      pause(others, openFiles)
    } else if (free < reserve && paused.size === 0) pause(largest(), openFiles)
    else if (free > reserve * RESUME_ABOVE) resume()
    const ports = new Set([...paused].map(({ port }) => port))
    for (const listener of openListeners) if (ports.has(listener.port ?? -1)) listener.closeIdleConnections()
    cancel = after(CHECK_MS, check)
  }
  // Fails now, and not in a flood, on a system without socket filters.
  for (const socket of sockets) {
    socket.pause()
    socket.resume()
  }
  if (limit < LIMIT_LOW) {
    log.warn('the limit of open files is low: raise it (ulimit -n)', { limit, recommended: LIMIT_LOW })
  }
  let cancel = after(CHECK_MS, check)
  return () => {
    cancel()
    resume()
  }
}

/** Call after the listeners have started. Does nothing outside Linux. Returns a function that ends the limit. */
export const limitConnections = (log: Pick<Logger, 'warn'>, after: Timers['after']): (() => void) => {
  const limit = openFilesLimit()
  if (limit === null) return () => undefined
  try {
    return startLimit(limit, log, after)
  } catch (error) {
    log.warn('connections are not limited on this system: limit them at the proxy', { error })
    return () => undefined
  }
}

// Detects workers that have jobs but whose heartbeat stands still. If the main thread itself was blocked, the heartbeat
// proves nothing, so a check that runs late only records the current value.
import type { Clock, Timers } from '../lib/time.ts'
import type { PoolLimits } from './limits.ts'
import { LATCH_COMMITTING } from './protocol.ts'
import type { WorkerHandle } from './worker-handle.ts'

export interface HangMonitor {
  start(): void
  stop(): void
}

export interface HangMonitorOptions {
  readonly handles: readonly WorkerHandle[]
  readonly clock: Clock
  readonly timers: Timers
  readonly limits: PoolLimits
  readonly onHang: (handle: WorkerHandle) => void
}

export const createHangMonitor = (options: HangMonitorOptions): HangMonitor => {
  const { clock, timers, limits } = options
  const lookEveryMs = Math.max(10, limits.hangMs / 4)
  const heartbeats = new WeakMap<WorkerHandle, number>()
  let lookedMs = 0
  let cancel: (() => void) | null = null

  const isHung = (handle: WorkerHandle, nowMs: number): boolean => {
    if (handle.inFlight.size === 0 || (handle.state !== 'live' && handle.state !== 'draining')) return false
    const heartbeat = handle.heartbeat()
    if (heartbeats.get(handle) !== heartbeat) {
      heartbeats.set(handle, heartbeat)
      handle.lastProgressMs = nowMs
      return false
    }
    const allowedMs = handle.latch() === LATCH_COMMITTING ? limits.commitStallMs : limits.hangMs
    return nowMs - handle.lastProgressMs >= allowedMs
  }

  const look = (): void => {
    const nowMs = clock.monotonicMs()
    const stalled = nowMs - lookedMs > lookEveryMs * 2
    lookedMs = nowMs
    cancel = timers.after(lookEveryMs, look)
    if (stalled) {
      for (const handle of options.handles) handle.lastProgressMs = nowMs
      return
    }
    const hung = options.handles.filter((handle) => isHung(handle, nowMs))
    for (const handle of hung) options.onHang(handle)
  }

  return {
    start: () => {
      if (cancel !== null) return
      lookedMs = clock.monotonicMs()
      cancel = timers.after(lookEveryMs, look)
    },
    stop: () => {
      cancel?.()
      cancel = null
    },
  }
}

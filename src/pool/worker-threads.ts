// The threads of workers: their slots, hang detection and termination.
import type { Clock, Timers } from '../lib/time.ts'
import type { PoolLimits } from './pool-options.ts'
import { LATCH_COMMITTING } from './protocol.ts'
import type { WorkerHandle } from './worker-handle.ts'

export interface Slot {
  readonly number: number
  handle: WorkerHandle | null
  retiring: boolean
  failures: number
  /** Cancels the delayed start, or the timeout of the current start. */
  cancelTimer: () => void
}

const nothing = (): void => undefined

/** @param firstNumber first slot number of this process; processes that share a log use different ranges */
export const createSlots = (firstNumber: number) => {
  const all = new Set<Slot>()
  const taken = new Set<number>()
  let generation = 0

  const add = (): Slot => {
    let number = firstNumber
    while (taken.has(number)) number += 1
    taken.add(number)
    const slot: Slot = { number, handle: null, retiring: false, failures: 0, cancelTimer: nothing }
    all.add(slot)
    return slot
  }

  return {
    all,
    add,
    remove: (slot: Slot) => {
      all.delete(slot)
      taken.delete(slot.number)
    },
    /** Retires the number of a stuck thread permanently and returns a new slot in its place. */
    abandon: (slot: Slot): Slot => {
      all.delete(slot)
      const successor = add()
      successor.retiring = slot.retiring
      successor.failures = slot.failures
      return successor
    },
    of: (handle: WorkerHandle): Slot | undefined => {
      for (const slot of all) if (slot.handle === handle) return slot
      return undefined
    },
    nextGeneration: (): number => generation++,
  }
}

export type Slots = ReturnType<typeof createSlots>

/** Returns the delay in milliseconds: 0 after the first failure in a row, then doubling. */
export const restartDelayMs = (failures: number, limits: PoolLimits): number =>
  failures <= 1 ? 0 : Math.min(limits.restartBackoffMs * 2 ** (failures - 2), limits.restartBackoffMaxMs)

export interface HangMonitorOptions {
  readonly handles: readonly WorkerHandle[]
  readonly clock: Clock
  readonly timers: Timers
  readonly limits: PoolLimits
  readonly onHang: (handle: WorkerHandle) => void
}

export const createHangMonitor = (options: HangMonitorOptions) => {
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

export const createThreadReaper = (timers: Timers, graceMs: number) => {
  const waiting = new Map<WorkerHandle, () => void>()
  let stuck = 0

  /** Terminates the thread and calls back once: true if it has ended, false if it is stuck. */
  const end = (handle: WorkerHandle, done: (gone: boolean) => void): void => {
    if (handle.threadGone) {
      done(true)
      return
    }
    const cancel = timers.after(graceMs, () => {
      stuck += 1
      // The map keeps the handle alive, and with it the shared memory that the thread uses.
      waiting.set(handle, () => {
        stuck -= 1
      })
      done(false)
    })
    waiting.set(handle, () => {
      cancel()
      done(true)
    })
    handle.terminate()
  }

  return {
    get stuck(): number {
      return stuck
    },
    end,
    /** Waits for the thread to end by itself. After `timeoutMs`, fences and terminates it as in `end`. */
    await: (handle: WorkerHandle, timeoutMs: number, done: (gone: boolean) => void) => {
      const cancel = timers.after(timeoutMs, () => {
        handle.fence()
        end(handle, done)
      })
      waiting.set(handle, () => {
        cancel()
        done(true)
      })
    },
    /** Call when the thread has ended. Returns false if nothing was waiting for its end. */
    gone: (handle: WorkerHandle): boolean => {
      const callback = waiting.get(handle)
      waiting.delete(handle)
      callback?.()
      return callback !== undefined
    },
  }
}

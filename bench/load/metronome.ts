// Wakes this thread when requests are due. Polling would be as precise, but would use a core that the measured server
// needs. A timer of the event loop is up to a millisecond late.
import { join } from 'node:path'

/** Words of the shared memory. */
export const STOPPED = 0
export const BEATS = 1

export interface MetronomePlan {
  readonly shared: SharedArrayBuffer
  /** Unix milliseconds with a fraction, because the clocks of two threads start at different times. */
  readonly startEpochMs: number
  readonly intervalMs: number
}

/** Shorter intervals cost more than they gain. At higher rates, each beat sends several requests. */
const INTERVAL_MIN_MS = 0.25

/**
 * Calls back at each beat from `startMs` on, and at least once per interval, until the returned function is called.
 * @param startMs by this thread's `performance.now()`
 */
export const startMetronome = (startMs: number, intervalMs: number, onBeat: () => void): (() => void) => {
  const words = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT))
  const worker = new Worker(join(import.meta.dir, 'metronome.worker.ts'))
  const plan: MetronomePlan = {
    shared: words.buffer as SharedArrayBuffer,
    startEpochMs: performance.timeOrigin + startMs,
    intervalMs: Math.max(INTERVAL_MIN_MS, intervalMs),
  }
  worker.postMessage(plan)
  let running = true
  const listen = (): void => {
    if (!running) return
    const seen = Atomics.load(words, BEATS)
    onBeat()
    const waiting = Atomics.waitAsync(words, BEATS, seen)
    if (waiting.async) void waiting.value.then(listen)
    else setImmediate(listen)
  }
  listen()
  return () => {
    running = false
    Atomics.store(words, STOPPED, 1)
    Atomics.notify(words, STOPPED)
  }
}

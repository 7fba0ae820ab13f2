// Terminates threads and reports when they have ended. A JavaScript loop ends in milliseconds. Native code can't be
// interrupted: a thread that is stuck in it is counted until it ends by itself.
import type { Timers } from '../lib/time.ts'
import type { WorkerHandle } from './worker-handle.ts'

export interface ThreadReaper {
  /** Threads that were terminated and are still running. */
  readonly stuck: number
  /** Terminates the thread and calls back once: true when it has ended, false when it is stuck. */
  end(handle: WorkerHandle, done: (gone: boolean) => void): void
  /** Calls back when the thread ends by itself; after `timeoutMs` it is fenced and terminated as above. */
  await(handle: WorkerHandle, timeoutMs: number, done: (gone: boolean) => void): void
  /** Call when the thread has ended. Returns false when nobody was waiting for that. */
  gone(handle: WorkerHandle): boolean
}

export const createThreadReaper = (timers: Timers, graceMs: number): ThreadReaper => {
  const waiting = new Map<WorkerHandle, () => void>()
  let stuck = 0

  const end = (handle: WorkerHandle, done: (gone: boolean) => void): void => {
    if (handle.threadGone) {
      done(true)
      return
    }
    const cancel = timers.after(graceMs, () => {
      stuck += 1
      // The map keeps the handle alive, and with it the shared memory that the thread still uses.
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
    get stuck() {
      return stuck
    },
    end,
    await: (handle, timeoutMs, done) => {
      const cancel = timers.after(timeoutMs, () => {
        handle.fence()
        end(handle, done)
      })
      waiting.set(handle, () => {
        cancel()
        done(true)
      })
    },
    gone: (handle) => {
      const callback = waiting.get(handle)
      waiting.delete(handle)
      callback?.()
      return callback !== undefined
    },
  }
}

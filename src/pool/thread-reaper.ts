// Ends threads and tells when they are gone. A JavaScript loop ends in milliseconds; native code can't be interrupted, so
// such a thread is left alone and counted until it ends by itself.
import type { Timers } from './timers.ts'
import type { WorkerHandle } from './worker-handle.ts'

export interface ThreadReaper {
  /** Threads that were terminated and still run. */
  readonly stuck: number
  /** Terminates and calls back once: true when the thread is gone, false when it is stuck. */
  end(handle: WorkerHandle, done: (gone: boolean) => void): void
  /** Calls back when the thread ends by itself; after `timeoutMs` it is fenced and ended as above. */
  await(handle: WorkerHandle, timeoutMs: number, done: (gone: boolean) => void): void
  /** The thread ended. False: nobody was waiting for that. */
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
      // The map keeps the handle, and with it the shared memory that the thread still sees.
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

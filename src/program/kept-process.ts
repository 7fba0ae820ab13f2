// Keeps a helper process running: starts it, and restarts it when it ends, with increasing delays until it works.
import { errorClassOf } from '../lib/named-error.ts'
import type { Timers } from '../lib/time.ts'

export interface KeptProcessOptions<Child> {
  /** Starts the process once. An error counts as an ended process. */
  readonly start: (onExit: () => void) => Child | Promise<Child>
  readonly after: Timers['after']
  readonly firstRestartMs: number
  readonly longestRestartMs: number
  readonly onLost: (errorClass: string) => void
}

export interface KeptProcess<Child> {
  /** @returns null while no process runs */
  running(): Child | null
  /** Call when the process works. If it ends later, the next start uses the shortest delay. */
  works(): void
  /** Prevents further starts. The caller ends the running process. */
  close(): void
}

export const keepProcess = <Child extends { kill(): void }>(options: KeptProcessOptions<Child>): KeptProcess<Child> => {
  const { start, after, firstRestartMs, longestRestartMs, onLost } = options
  let running: Child | null = null
  let restartMs = firstRestartMs
  let cancelRestart: (() => void) | null = null
  let closed = false

  const lost = (errorClass: string): void => {
    running = null
    if (closed) return
    onLost(errorClass)
    cancelRestart = after(restartMs, begin)
    restartMs = Math.min(restartMs * 2, longestRestartMs)
  }
  // Memory or process limits are exhausted, or the store is unavailable. Thrown in a timer, the error would end this
  // process.
  const notStarted = (error: unknown): void => lost(errorClassOf(error))
  const begin = (): void => {
    // A process may end before its promise resolves.
    let ended = false
    const take = (child: Child): void => {
      if (!ended) running = child
      if (closed) child.kill()
    }
    try {
      const child = start(() => {
        ended = true
        lost('ProcessEnded')
      })
      if (child instanceof Promise) child.then(take, notStarted)
      else take(child)
    } catch (error) {
      notStarted(error)
    }
  }

  begin()
  return {
    running: () => running,
    works: () => {
      restartMs = firstRestartMs
    },
    close: () => {
      closed = true
      cancelRestart?.()
    },
  }
}

// What all processes that work beside the service share: they give way to signing, and the service ends them.
import { constants, setPriority } from 'node:os'

/** The priority of a process whose answers somebody waits for: above other background work, below signing. */
export const ASKED_PRIORITY = 10

/** Lowers the process's priority and ignores a terminal's signals. Call it before anything else. */
export const stayInBackground = (priority: number = constants.priority.PRIORITY_LOW): void => {
  // A terminal sends its signal to the whole process group, but the service decides when this process ends.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined)
  try {
    setPriority(priority)
  } catch {
    // Some systems do not allow it. The process then runs at its usual priority.
  }
}

/**
 * On Linux, lets this process run only when no other thread wants the processor. With the lowest priority alone, it
 * keeps a processor for milliseconds, to the end of its time slice, while a signing thread waits. Without `chrt`
 * (util-linux or busybox), or in a container that forbids it, only the priority applies. Source: sched(7), SCHED_IDLE.
 */
export const runWhenIdle = (): void => {
  if (process.platform !== 'linux') return
  try {
    Bun.spawnSync(['chrt', '-a', '-i', '-p', '0', String(process.pid)], { stdio: ['ignore', 'ignore', 'ignore'] })
  } catch {
    // This system has no `chrt`.
  }
}

export interface Passes<Order> {
  /**
   * Calls `pass` again and again, each time after the milliseconds that the last call resolved with. After the order
   * `finish` it calls `pass` once more and resolves.
   */
  run(pass: () => Promise<number>): Promise<void>
  /** The newest order other than `finish`. */
  readonly newest: Exclude<Order, 'finish'> | null
}

/** Listens to the service's orders. Call it before the first await: an order without a listener is lost. */
export const listenForOrders = <Order extends string>(): Passes<Order> => {
  let newest: Order | null = null
  let finishing = false
  let wake = (): void => undefined
  process.on('message', (order: unknown) => {
    // Orders that are not strings are handled by the process's own listener.
    if (typeof order !== 'string') return
    if (order !== 'finish') newest = order as Order
    else {
      finishing = true
      wake()
    }
  })
  process.on('disconnect', () => process.exit(0))
  const pause = (durationMs: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, durationMs)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  return {
    get newest() {
      return newest as Exclude<Order, 'finish'> | null
    },
    run: async (pass) => {
      for (;;) {
        const isLast = finishing
        const pauseMs = await pass()
        if (isLast) return
        if (!finishing) await pause(pauseMs)
      }
    },
  }
}

// What processes that work beside the service have in common: signing goes before them, and the service ends them.
import { constants, setPriority } from 'node:os'

/** Before other work in the background, behind signing: someone waits for it. */
export const ASKED_PRIORITY = 10

/** To be called before anything else is done. */
export const stayInBackground = (priority: number = constants.priority.PRIORITY_LOW): void => {
  // A terminal's signal goes to the whole group; when to end is the service's to say.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined)
  try {
    setPriority(priority)
  } catch {
    // Not everywhere allowed, and then not needed badly enough to fail.
  }
}

/**
 * On Linux, as well: runs only where no other thread wants the processor. The lowest priority alone keeps a processor to
 * the end of its slice, milliseconds, while a thread that signs waits for it. Where util-linux or busybox has no `chrt`,
 * or the container forbids it, the priority has to do. Source: sched(7), SCHED_IDLE.
 */
export const runWhenIdle = (): void => {
  if (process.platform !== 'linux') return
  try {
    Bun.spawnSync(['chrt', '-a', '-i', '-p', '0', String(process.pid)], { stdio: ['ignore', 'ignore', 'ignore'] })
  } catch {
    // There is no such command.
  }
}

export interface Passes<Order> {
  /** Calls `pass` again and again. It resolves to the milliseconds until the next one. Ends after a pass that saw `finish`. */
  run(pass: () => Promise<number>): Promise<void>
  /** The newest order other than `finish`. */
  readonly newest: Exclude<Order, 'finish'> | null
}

/** Listens to the service's orders. To be called before anything is awaited: an order that no one listens to is lost. */
export const listenForOrders = <Order extends string>(): Passes<Order> => {
  let newest: Order | null = null
  let finishing = false
  let wake = (): void => undefined
  process.on('message', (order: unknown) => {
    // What is no word is for the process's own listener.
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

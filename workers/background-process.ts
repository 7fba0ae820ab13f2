import { constants, setPriority } from 'node:os'

/** Priority of a process that answers interactive requests: above other background work, below signing. */
export const ASKED_PRIORITY = 10

/** Lowers the process's priority and ignores signals to the process group. Call it first. */
export const stayInBackground = (priority: number = constants.priority.PRIORITY_LOW): void => {
  // Terminals and process managers signal the whole group, but the service decides when this process ends.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
  try {
    setPriority(priority)
  } catch {
    // Some systems do not allow this. The process then runs at its normal priority.
  }
}

/** SCHED_IDLE (sched(7)): even at the lowest priority, a process keeps the processor until its time slice ends. */
export const runWhenIdle = (): void => {
  if (process.platform !== 'linux') return
  try {
    Bun.spawnSync(['chrt', '-a', '-i', '-p', '0', String(process.pid)], { stdio: ['ignore', 'ignore', 'ignore'] })
  } catch {
    // `chrt` is not installed.
  }
}

export interface Passes<Order> {
  /** Calls `pass` repeatedly, after the milliseconds that it returned. The order `finish` causes one last call. */
  run(pass: () => Promise<number>): Promise<void>
  readonly newest: Exclude<Order, 'finish'> | null
}

/** Call it before the first await: an order without a listener is lost. */
export const listenForOrders = <Order extends string>(): Passes<Order> => {
  let newest: Order | null = null
  let finishing = false
  let wake = (): void => undefined
  process.on('message', (order: unknown) => {
    // Orders that are not strings have their own listener.
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

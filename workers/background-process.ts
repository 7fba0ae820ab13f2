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

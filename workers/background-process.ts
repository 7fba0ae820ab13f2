// What processes that work beside the service have in common: signing goes before them, and the service ends them.
import { constants, setPriority } from 'node:os'

/** To be called before anything else is done. */
export const stayInBackground = (): void => {
  // A terminal's signal goes to the whole group; when to end is the service's to say.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined)
  try {
    setPriority(constants.priority.PRIORITY_LOW)
  } catch {
    // Not everywhere allowed, and then not needed badly enough to fail.
  }
}

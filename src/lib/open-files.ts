// Open file descriptors of this process: files, connections and pipes of all threads (Linux).
import { readdirSync, readFileSync, statSync } from 'node:fs'

const FOLDER = '/proc/self/fd'

/** Null if the number is unknown: not on Linux, or before Linux 6.2 if no descriptor is free. */
export const countOpenFiles = (): number | null => {
  try {
    // The size is the number of descriptors (Linux 6.2). Reading it needs no free descriptor.
    return statSync(FOLDER).size || readdirSync(FOLDER).length
  } catch {
    // The figure is for monitoring. Without it, the service works.
    return null
  }
}

/** Maximum open descriptors of this process; null if unknown. */
export const openFilesLimit = (): number | null => {
  if (process.platform !== 'linux') return null
  const limit = Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1])
  return Number.isNaN(limit) ? null : limit
}

let last: Pick<NodeJS.MemoryUsage, 'rss' | 'heapUsed'> = { rss: 0, heapUsed: 0 }

/**
 * Returns the used bytes, or the previous reading if the process has no free file descriptor, which a reading needs.
 */
export const memoryUse = (): typeof last => {
  try {
    last = process.memoryUsage()
  } catch {
    // Bun throws an error without a code. A missing figure must not end the process.
  }
  return last
}

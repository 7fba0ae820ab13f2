// Writes log lines to standard error so that neither a reader that has ended nor one that stalls can harm the service:
// a broken pipe is counted and does not end the process, and the lines waiting in memory are limited.

/** Maximum number of characters waiting in memory while the reader stalls. */
const PENDING_MAX = 1_048_576

/**
 * The part of a Node stream that is used. Bun's `writableLength` stays 0, so the waiting characters are counted here.
 */
export interface LineStream {
  /** False when the line waits in memory. */
  write(line: string): boolean
  on(event: 'error' | 'drain', listener: () => void): unknown
}

/** @returns a function that returns false when it did not accept the line */
export const createLineWriter = (stream: LineStream = process.stderr): ((line: string) => boolean) => {
  let broken = false
  let pending = 0
  // Without a listener, EPIPE would be an uncaught error.
  stream.on('error', () => {
    broken = true
  })
  stream.on('drain', () => {
    pending = 0
  })
  return (line) => {
    if (broken || pending > PENDING_MAX) return false
    if (!stream.write(line)) pending += line.length
    return true
  }
}

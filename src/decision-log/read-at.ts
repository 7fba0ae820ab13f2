import { readSync } from 'node:fs'

/** Bytes of an open file from a position on; fewer than asked for where the file ends. */
export const readAt = (descriptor: number, position: number, length: number): Buffer => {
  const buffer = Buffer.allocUnsafe(length)
  return buffer.subarray(0, readSync(descriptor, buffer, 0, length, position))
}

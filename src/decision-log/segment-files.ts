// File operations for writing a segment, so that tests can make each of them fail.
import {
  closeSync,
  constants,
  fdatasyncSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'

/** Every operation throws system errors unchanged (an Error with `code`, for example ENOSPC). */
export interface SegmentFiles {
  /** Creates the directory and its parents with mode 0700, and flushes each new directory entry. */
  makeDirectory(path: string): void
  /** Creates a file for appending, with mode 0600, and returns its descriptor. Throws EEXIST if the name exists. */
  create(path: string): number
  /** Returns the number of bytes written, which may be smaller than `length`. */
  write(descriptor: number, bytes: Uint8Array, offset: number, length: number): number
  truncate(descriptor: number, length: number): void
  syncData(descriptor: number): void
  close(descriptor: number): void
  remove(path: string): void
  /** Returns the size in bytes; null if the file doesn't exist. */
  size(path: string): number | null
  syncPath(path: string): void
}

const syncPath = (path: string): void => {
  const descriptor = openSync(path, constants.O_RDONLY)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

export const systemSegmentFiles: SegmentFiles = {
  makeDirectory: (path) => {
    const firstMade = mkdirSync(path, { recursive: true, mode: 0o700 })
    if (firstMade === undefined) return
    // A new directory is an entry of its parent, so flush each parent up to the first that already existed.
    for (let made = path; ; made = dirname(made)) {
      syncPath(dirname(made))
      if (made === firstMade || made === dirname(made)) return
    }
  },
  create: (path) =>
    openSync(
      path,
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_APPEND | constants.O_NOFOLLOW,
      0o600,
    ),
  write: writeSync,
  truncate: ftruncateSync,
  syncData: fdatasyncSync,
  close: closeSync,
  remove: unlinkSync,
  size: (path) => statSync(path, { throwIfNoEntry: false })?.size ?? null,
  syncPath,
}

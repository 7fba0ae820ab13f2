// The file operations that writing a segment needs, as a small interface so that tests can make each of them fail.
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

/** Every operation throws what the system reports (an Error with `code`, for example ENOSPC). */
export interface SegmentFiles {
  /** Makes the directory and its parents with mode 0700, and has the disk know each one that was made. */
  makeDirectory(path: string): void
  /** Makes a file for appending, mode 0600; EEXIST when the name is taken. Returns its descriptor. */
  create(path: string): number
  /** Appends bytes `offset` to `offset + length`; returns how many were written, which may be fewer. */
  write(descriptor: number, bytes: Uint8Array, offset: number, length: number): number
  truncate(descriptor: number, length: number): void
  syncData(descriptor: number): void
  close(descriptor: number): void
  remove(path: string): void
  /** Bytes; null when there is no such file. */
  size(path: string): number | null
  /** Flushes a file or a directory by its path. */
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
    // A new directory is an entry of its parent: flush each parent from the innermost to the first that existed.
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
  write: (descriptor, bytes, offset, length) => writeSync(descriptor, bytes, offset, length),
  truncate: (descriptor, length) => ftruncateSync(descriptor, length),
  syncData: (descriptor) => fdatasyncSync(descriptor),
  close: (descriptor) => closeSync(descriptor),
  remove: (path) => unlinkSync(path),
  size: (path) => statSync(path, { throwIfNoEntry: false })?.size ?? null,
  syncPath,
}

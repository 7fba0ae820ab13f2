import { dlopen, type FFIFunction } from 'bun:ffi'
import { readFileSync } from 'node:fs'

/** Absolute path of the C library (GNU or musl): for a bare name, Bun also searches the working directory. */
const libraryPath = (): string | null =>
  /\s(\/\S+\/(?:libc\.so\.6|ld-musl-[^/\s]+\.so\.1))$/m.exec(readFileSync('/proc/self/maps', 'utf8'))?.[1] ?? null

/** Functions of the C library that Bun does not offer. Linux only. @throws Error if there is no such library */
export const openCLibrary = <Functions extends Record<string, FFIFunction>>(functions: Functions) => {
  const path = libraryPath()
  if (path === null) throw new Error('the C library was not found')
  return dlopen(path, functions).symbols
}

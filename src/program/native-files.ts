// Libraries that the system loads from disk, for the single-file executable. They are in a folder next to the
// executable (same name with the suffix `.native`). Otherwise, they are unpacked into a private folder in the temporary
// directory.
import { existsSync, lstatSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { BUILT } from './built.ts'

/** A library cannot be unpacked to a safe folder. */
class NativeFileError extends Error {
  override readonly name = 'NativeFileError'
}

const contentSize = (path: string): number => Bun.file(path).size
const isThere = (path: string, content: string): boolean =>
  existsSync(path) && statSync(path).size === contentSize(content)

/** @throws NativeFileError if another user owns or can change the folder, and could replace a library */
const claimFolder = (natives: Readonly<Record<string, string>>): string => {
  const user = process.getuid?.()
  const version = Bun.hash(JSON.stringify(natives)).toString(36)
  const folder = join(tmpdir(), `countersign-${user ?? 'user'}-${version}`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const found = lstatSync(folder)
  const isOwn = user === undefined || (found.uid === user && (found.mode & 0o022) === 0)
  if (!isOwn || !found.isDirectory()) {
    throw new NativeFileError(
      `${folder} is not a folder that only this user can change: remove it, or set TMPDIR to another folder`,
    )
  }
  return folder
}

const unpack = (path: string, content: string): void => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // Another process may unpack at the same time. The rename makes each file appear complete.
  const partial = `${path}.${process.pid}`
  writeFileSync(partial, readFileSync(content), { mode: 0o700 })
  renameSync(partial, path)
}

let folder: string | undefined

const prepare = (natives: Readonly<Record<string, string>>): string => {
  const all = Object.entries(natives)
  const beside = `${process.execPath}.native`
  if (all.every(([name, content]) => isThere(join(beside, name), content))) return beside
  const own = claimFolder(natives)
  for (const [name, content] of all) if (!isThere(join(own, name), content)) unpack(join(own, name), content)
  return own
}

/**
 * @param name name with which the library was built into the program
 * @returns the path from which the system can load the library; null if the program runs from source or doesn't contain
 * it
 * @throws NativeFileError or a file system error
 */
export const nativeFile = (name: string): string | null => {
  if (BUILT === null || !Object.hasOwn(BUILT.natives, name)) return null
  folder ??= prepare(BUILT.natives)
  return join(folder, name)
}

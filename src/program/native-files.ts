// Libraries that the system loads from a disk, for the one-file program: they are beside it in a folder named like it with
// `.native` at the end, or else written into a folder of this user alone among the temporary files.
import { existsSync, lstatSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { BUILT } from './built.ts'

/** A library can't be written where the system would load it from. */
class NativeFileError extends Error {
  override readonly name = 'NativeFileError'
}

const contentSize = (path: string): number => Bun.file(path).size
const isThere = (path: string, content: string): boolean =>
  existsSync(path) && statSync(path).size === contentSize(content)

/** @throws NativeFileError when the folder belongs to somebody else, who could put another library there */
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
  // Another process may do the same at this moment: each file appears whole.
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
 * @param name as the program was built with it
 * @returns the path from which the system can load it; null where the program runs from its source, or has no such library
 * @throws NativeFileError, or what the file system says
 */
export const nativeFile = (name: string): string | null => {
  if (BUILT === null || !Object.hasOwn(BUILT.natives, name)) return null
  folder ??= prepare(BUILT.natives)
  return join(folder, name)
}

// Secret files of the deployment: 32 random bytes in hex, readable only by their owner.
import { randomBytes, randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { SecretSource } from '../config/setting.ts'
import { SettingInvalidError } from '../config/settings.ts'
import { errorCodeOf, isMissingFile, unreadableText } from '../lib/named-error.ts'

/** Atomic: if several processes start at once, all read the key of the first process. */
export const makeKeyFile = (path: string): void => {
  const temporary = `${path}.${randomUUID()}.tmp`
  const descriptor = openSync(temporary, 'wx', 0o600)
  try {
    writeSync(descriptor, `${randomBytes(32).toString('hex')}\n`)
    fsyncSync(descriptor)
    linkSync(temporary, path)
  } catch (error) {
    if (errorCodeOf(error) !== 'EEXIST') throw error
  } finally {
    closeSync(descriptor)
    rmSync(temporary, { force: true })
  }
}

/** Makes new names survive a power failure. */
export const syncFolder = (path: string): void => {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Codes for a mounted secret, or a folder that this user can't change. */
const UNCHANGEABLE: ReadonlySet<unknown> = new Set(['EROFS', 'EACCES', 'EPERM', 'EBUSY', 'EXDEV'])

/** Gives the file another name, and returns this name. Never overwrites an earlier secret. */
const keepPrevious = (path: string): string => {
  for (let number = 1; ; number++) {
    const kept = `${path}.previous-${number}`
    try {
      linkSync(path, kept)
      return kept
    } catch (error) {
      if (errorCodeOf(error) !== 'EEXIST') throw error
    }
  }
}

/**
 * Atomically replaces the old file, and returns the name under which it is kept for earlier backups. Returns null if
 * the file can't be replaced.
 */
export const takePlace = (next: string, path: string): string | null => {
  let kept: string | null = null
  try {
    kept = keepPrevious(path)
    renameSync(next, path)
  } catch (error) {
    if (!UNCHANGEABLE.has(errorCodeOf(error))) throw error
    if (kept !== null) rmSync(kept)
    return null
  }
  syncFolder(dirname(path))
  return kept
}

/** Ignores one trailing line break. */
const parseKey = (text: string, where: string): Uint8Array => {
  const digits = text.replace(/\r?\n$/, '')
  if (!/^[0-9a-fA-F]{64}$/.test(digits)) throw new SettingInvalidError(`${where} must contain 64 hex digits`)
  return Uint8Array.fromHex(digits)
}

/**
 * Returns null if the file doesn't exist. @param what name in errors: `the evidence key`. @throws SettingInvalidError
 */
const readKeyFileIfThere = (path: string, what: string): Uint8Array | null => {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (isMissingFile(error)) return null
    throw new SettingInvalidError(`${what} ${unreadableText(error)}: ${path}`)
  }
  return parseKey(text, path)
}

/** @param what name in errors. @throws SettingInvalidError if the key is missing, unreadable or malformed */
export const readKeyFile = (path: string, what: string): Uint8Array => {
  const key = readKeyFileIfThere(path, what)
  if (key === null) throw new SettingInvalidError(`${what} cannot be read (ENOENT): ${path}`)
  return key
}

export const nextKeyPath = (path: string): string => `${path}.next`

/**
 * Returns the keys, newest first; two during a rotation. @throws SettingInvalidError if a key is unreadable or
 * malformed
 */
export const readKeysInUse = (path: string, what: string): readonly [Uint8Array, ...Uint8Array[]] => {
  // Read first, because the end of a rotation renames this file to `path`.
  const newer = readKeyFileIfThere(nextKeyPath(path), what)
  const current = readKeyFile(path, what)
  return newer === null ? [current] : [newer, current]
}

/** @throws SettingInvalidError if the key is unreadable or malformed */
export const readKey = (source: SecretSource, what: string): Uint8Array =>
  source.source === 'file' ? readKeyFile(source.path, what) : parseKey(process.env[source.name] ?? '', source.name)

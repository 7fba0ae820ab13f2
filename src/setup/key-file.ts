// The files that hold a secret of the deployment: 32 random bytes as hex, readable by their owner only.
import { randomBytes, randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { SecretSource } from '../config/setting.ts'
import { SettingInvalidError } from '../config/settings.ts'
import { errorCodeOf, isMissingFile } from '../lib/named-error.ts'

/** There whole or not at all; of several that start together, also on other machines, one makes it and all read it. */
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

/** Makes the names in a folder outlast a power cut. */
export const syncFolder = (path: string): void => {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Puts a new secret's file in the place of the old one's, for good.
 * @returns false where that can't be: a mounted secret is not the service's to write.
 */
export const takePlace = (next: string, path: string): boolean => {
  try {
    renameSync(next, path)
  } catch (error) {
    const { code } = error as { code?: unknown }
    if (code === 'EROFS' || code === 'EACCES' || code === 'EPERM' || code === 'EBUSY') return false
    throw error
  }
  syncFolder(dirname(path))
  return true
}

/** 32 bytes as hex; one line break at the end is not part of it. */
const parseKey = (text: string, where: string): Uint8Array => {
  const digits = text.replace(/\r?\n$/, '')
  if (!/^[0-9a-fA-F]{64}$/.test(digits)) throw new SettingInvalidError(`${where} must hold 64 hex digits`)
  return Uint8Array.fromHex(digits)
}

/** @param what `the evidence key`. @returns null where there is no such file. @throws SettingInvalidError */
const readKeyFileIfThere = (path: string, what: string): Uint8Array | null => {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (isMissingFile(error)) return null
    throw new SettingInvalidError(`${what} can't be read: ${path}`)
  }
  return parseKey(text, path)
}

/** @param what `the evidence key`. @throws SettingInvalidError when it can't be read or is none */
export const readKeyFile = (path: string, what: string): Uint8Array => {
  const key = readKeyFileIfThere(path, what)
  if (key === null) throw new SettingInvalidError(`${what} can't be read: ${path}`)
  return key
}

/** Where the next key is during a rotation. */
export const nextKeyPath = (path: string): string => `${path}.next`

/**
 * The keys in use now, the newest first: two during a rotation.
 * @throws SettingInvalidError when a key can't be read or is none
 */
export const readKeysInUse = (path: string, what: string): readonly [Uint8Array, ...Uint8Array[]] => {
  // Before the other: at its end a rotation puts this one in that one's place.
  const newer = readKeyFileIfThere(nextKeyPath(path), what)
  const current = readKeyFile(path, what)
  return newer === null ? [current] : [newer, current]
}

/** Of a setting. @throws SettingInvalidError when it can't be read or is none */
export const readKey = (source: SecretSource, what: string): Uint8Array =>
  source.source === 'file' ? readKeyFile(source.path, what) : parseKey(process.env[source.name] ?? '', source.name)

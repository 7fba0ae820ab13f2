// The key that seals the secrets of one-time codes: a file beside the database, made by the first start. Without it those
// accounts need a recovery link; everything else goes on.
import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import type { DataFolder } from './data-folder.ts'
import { SettingInvalidError } from './settings.ts'

/** 32 bytes. @throws SettingInvalidError when the file holds something else */
export const prepareAccountKey = (folder: DataFolder): Uint8Array => {
  if (!existsSync(folder.accountKey)) {
    const descriptor = openSync(folder.accountKey, 'wx', 0o600)
    writeSync(descriptor, `${randomBytes(32).toString('hex')}\n`)
    fsyncSync(descriptor)
    closeSync(descriptor)
  }
  const text = readFileSync(folder.accountKey, 'utf8').trim()
  if (!/^[0-9a-f]{64}$/.test(text)) throw new SettingInvalidError(`${folder.accountKey} must hold 64 hex digits`)
  return Uint8Array.fromHex(text)
}

// The passphrase of the attester keystores: from the environment, from a file, or made by the first start.
import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import type { Config } from './config.ts'
import type { DataFolder } from './data-folder.ts'
import type { PassphraseSource } from './pool/protocol.ts'
import { SettingInvalidError } from './settings.ts'

export interface Passphrase {
  readonly source: PassphraseSource
  /** `light` where the passphrase has 256 random bits and needs no stretching. */
  readonly workFactor: 'standard' | 'light'
}

/** Where workers and commands read the passphrase. Makes the data folder's own file when nothing else is configured. */
export const preparePassphrase = (config: Pick<Config, 'passphrase'>, folder: DataFolder): Passphrase => {
  if (config.passphrase !== null) return { source: config.passphrase, workFactor: 'standard' }
  if (!existsSync(folder.passphrase)) {
    const descriptor = openSync(folder.passphrase, 'wx', 0o600)
    writeSync(descriptor, `${randomBytes(32).toString('hex')}\n`)
    fsyncSync(descriptor)
    closeSync(descriptor)
  }
  return { source: { source: 'file', path: folder.passphrase }, workFactor: 'light' }
}

/** @throws SettingInvalidError naming the place, never the value. */
export const readPassphrase = (source: PassphraseSource): string => {
  if (source.source === 'environment') {
    const value = process.env[source.name]
    if (value === undefined || value === '') throw new SettingInvalidError(`${source.name} is empty`)
    return value
  }
  try {
    const value = readFileSync(source.path, 'utf8').replace(/\r?\n$/, '')
    if (value !== '') return value
  } catch {
    throw new SettingInvalidError(`the passphrase file can't be read: ${source.path}`)
  }
  throw new SettingInvalidError(`the passphrase file is empty: ${source.path}`)
}

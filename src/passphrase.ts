// Where the passphrase of the attester keystores comes from: the environment, a file, or the first start, which makes it.
import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, writeSync } from 'node:fs'
import type { Config } from './config.ts'
import type { DataFolder } from './data-folder.ts'
import type { PassphraseSource } from './signing/passphrase.ts'

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

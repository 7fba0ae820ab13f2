// Where the passphrase of the attester keystores comes from: the environment, a file, or the first start, which makes it.
import { existsSync } from 'node:fs'
import type { Config } from '../config/config.ts'
import { SettingInvalidError } from '../config/settings.ts'
import type { PassphraseSource } from '../signing/passphrase.ts'
import type { DataFolder } from './data-folder.ts'
import { makeKeyFile } from './key-file.ts'

export interface Passphrase {
  readonly source: PassphraseSource
  /** `light` where the passphrase has 256 random bits and needs no stretching. */
  readonly workFactor: 'standard' | 'light'
}

/**
 * Where workers and commands read the passphrase. Only the first start makes one: later on it would open nothing.
 * @throws SettingInvalidError when it is missing.
 */
export const locatePassphrase = (
  config: Pick<Config, 'passphrase'>,
  folder: DataFolder,
  firstStart: boolean,
): Passphrase => {
  if (config.passphrase !== null) return { source: config.passphrase, workFactor: 'standard' }
  if (!existsSync(folder.passphrase)) {
    if (!firstStart) {
      throw new SettingInvalidError(
        `the passphrase file is missing: ${folder.passphrase} (or set COUNTERSIGN_PASSPHRASE_FILE)`,
      )
    }
    makeKeyFile(folder.passphrase)
  }
  return { source: { source: 'file', path: folder.passphrase }, workFactor: 'light' }
}

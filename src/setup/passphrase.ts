// Source of the passphrase of the attester keystores: the environment, a file, or the first start, which creates it.
import { existsSync } from 'node:fs'
import type { Config } from '../config/config.ts'
import { SettingInvalidError } from '../config/settings.ts'
import type { PassphraseSource } from '../signing/passphrase.ts'
import type { DataFolder } from './data-folder.ts'
import { makeKeyFile } from './key-file.ts'

export interface Passphrase {
  readonly source: PassphraseSource
  /** `light` if the passphrase has 256 random bits and needs no key stretching. */
  readonly workFactor: 'standard' | 'light'
}

/**
 * Returns the source of the passphrase for workers and commands. Only the first start creates one: a later passphrase
 * could not decrypt existing keystores.
 * @throws SettingInvalidError if it is missing
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

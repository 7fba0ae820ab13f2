// Passphrase of the attester keystores: from the environment, from a file, or generated at first startup.
import { existsSync } from 'node:fs'
import type { Config } from '../config/config.ts'
import { SettingInvalidError } from '../config/settings.ts'
import type { PassphraseSource } from '../signing/passphrase.ts'
import type { DataFolder } from './data-folder.ts'
import { makeKeyFile } from './key-file.ts'

export interface Passphrase {
  readonly source: PassphraseSource
  /** `light`: the passphrase has 256 random bits and needs no key stretching. */
  readonly workFactor: 'standard' | 'light'
}

/**
 * Creates a passphrase only at first startup, because a later passphrase could not decrypt existing keystores. @throws
 * SettingInvalidError
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

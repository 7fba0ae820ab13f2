// Changes the passphrase of all keystores while the service runs. Until the end, the next passphrase is in FILE.next,
// and readers try both. Keystores are replaced atomically, and an interrupted rotation continues.
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Config } from '../config/config.ts'
import { SettingInvalidError } from '../config/settings.ts'
import { relockKeystore } from '../signing/attester-files.ts'
import { nextPassphrasePath, readPassphraseFile } from '../signing/passphrase.ts'
import type { DataFolder } from './data-folder.ts'
import { makeKeyFile, syncFolder, takePlace } from './key-file.ts'
import { locatePassphrase } from './passphrase.ts'

export interface PassphraseRotation {
  readonly keystores: number
  readonly file: string
  /** False if the old file could not be replaced; the operator must then replace it. */
  readonly inPlace: boolean
  /** File with the secret of earlier backups; null if this command did not replace it. */
  readonly previous: string | null
}

/** Includes retired keystores, so that a leaked passphrase decrypts nothing. */
const keystoresIn = (directory: string): readonly string[] =>
  readdirSync(directory)
    .filter((name) => !name.startsWith('.') && /\.(json|pem)$/.test(name))
    .map((name) => join(directory, name))

/**
 * @param progress called for each re-encrypted keystore
 * @throws SettingInvalidError if the passphrase is in an environment variable, which a running service can't read again
 * @throws KeystoreLockedError, KeystoreInvalidError, AttesterMismatchError for a file that isn't a keystore of this
 * deployment; the old passphrase then stays in use
 */
export const rotatePassphrase = async (input: {
  readonly config: Pick<Config, 'passphrase'>
  readonly folder: DataFolder
  readonly progress?: (path: string) => void
}): Promise<PassphraseRotation> => {
  const { config, folder, progress = () => undefined } = input
  const { source, workFactor } = locatePassphrase(config, folder, false)
  if (source.source === 'environment') {
    throw new SettingInvalidError(
      `${source.name} can't be changed while the service runs: put the passphrase into a file, set ${source.name}_FILE and restart`,
    )
  }
  const { path } = source
  const next = nextPassphrasePath(path)
  if (!existsSync(next)) {
    makeKeyFile(next)
    // The passphrase must be on disk before the first keystore is encrypted with it.
    syncFolder(dirname(next))
  }
  const [oldPassphrase, passphrase] = [await readPassphraseFile(path), await readPassphraseFile(next)]
  const relockAll = async (): Promise<number> => {
    let count = 0
    for (const keystore of keystoresIn(folder.keystores)) {
      if (!(await relockKeystore(keystore, oldPassphrase, { passphrase, workFactor }))) continue
      count += 1
      progress(keystore)
    }
    return count
  }
  let keystores = 0
  // Meanwhile, a keystore may be created with the old passphrase.
  for (let count = await relockAll(); count > 0; count = await relockAll()) keystores += count
  const previous = takePlace(next, path)
  const inPlace = previous !== null
  keystores += await relockAll()
  return { keystores, file: inPlace ? path : next, inPlace, previous }
}

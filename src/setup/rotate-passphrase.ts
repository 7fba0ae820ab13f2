// Changes the passphrase of all keystores while the service runs. The next passphrase is in FILE.next while both are
// needed; readers of a keystore try both. Each keystore is replaced atomically. After an interruption, the next call
// continues.
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
  /** Number of keystores that this call re-encrypted. */
  readonly keystores: number
  /** Path of the file with the passphrase of all keystores. */
  readonly file: string
  /** False if the new file could not replace the old file. The operator must then replace it. */
  readonly inPlace: boolean
}

/** Includes retired keystores, so that a leaked passphrase decrypts nothing. */
const keystoresIn = (directory: string): readonly string[] =>
  readdirSync(directory)
    .filter((name) => !name.startsWith('.') && /\.(json|pem)$/.test(name))
    .map((name) => join(directory, name))

/**
 * @param progress called for each re-encrypted keystore
 * @throws SettingInvalidError if the passphrase is in an environment variable, which a running service doesn't read
 * again
 * @throws KeystoreLockedError, KeystoreInvalidError or AttesterMismatchError if a file in the folder isn't a keystore
 * of this deployment. The old passphrase then stays in use.
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
    // Flush the passphrase to disk before the first keystore is encrypted with it.
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
  const inPlace = takePlace(next, path)
  keystores += await relockAll()
  return { keystores, file: inPlace ? path : next, inPlace }
}

// Another passphrase for all keystores, while the service runs. The next one lies beside the one in use, in FILE.next, for as
// long as both are needed; whoever opens a keystore meanwhile tries both. Each keystore is replaced whole. May be interrupted
// at any point: called again, it goes on.
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
  /** Locked anew by this call. */
  readonly keystores: number
  /** File with the passphrase that opens all keystores. */
  readonly file: string
  /** False where it could not be put in the old one's place: then that is the operator's to do. */
  readonly inPlace: boolean
}

/** Retired ones too: a passphrase that was given away opens nothing any more. */
const keystoresIn = (directory: string): readonly string[] =>
  readdirSync(directory)
    .filter((name) => !name.startsWith('.') && /\.(json|pem)$/.test(name))
    .map((name) => join(directory, name))

/**
 * @param progress told of each keystore that was locked anew.
 * @throws SettingInvalidError when the passphrase is in a variable, which a running service does not read again;
 * KeystoreLockedError, KeystoreInvalidError or AttesterMismatchError for a file in the folder that is no keystore of this deployment: the old
 * passphrase stays.
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
    // On the disk before the first keystore is locked with it.
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
  // One may be made by the old passphrase meanwhile.
  for (let count = await relockAll(); count > 0; count = await relockAll()) keystores += count
  const inPlace = takePlace(next, path)
  keystores += await relockAll()
  return { keystores, file: inPlace ? path : next, inPlace }
}

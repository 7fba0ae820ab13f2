// The key that seals the secrets of one-time codes: a file beside the database, made by the deployment's first start, and
// the same on all its nodes. Without it those accounts need a recovery link; everything else goes on.
import { existsSync, readFileSync } from 'node:fs'
import { keyFingerprint } from '../identity/evidence/organization-keys.ts'
import { SettingInvalidError } from '../settings.ts'
import type { Store } from '../store/store.ts'
import type { DataFolder } from './data-folder.ts'
import { makeKeyFile } from './key-file.ts'

/** Name of the deployment's value that says that a key was made, and which. */
const CLAIM = 'account_key_fingerprint'

/** 32 bytes. @throws SettingInvalidError when the file holds something else, or is missing where another node has it */
export const prepareAccountKey = async (
  folder: Pick<DataFolder, 'accountKey'>,
  deployment: Pick<Store['deployment'], 'read' | 'setOnce'>,
): Promise<Uint8Array> => {
  const { accountKey } = folder
  if (!existsSync(accountKey)) {
    // One of its own would open nothing that another node has sealed.
    if ((await deployment.read(CLAIM)) !== null) {
      throw new SettingInvalidError(
        `the account key is missing: copy ${accountKey} from another node; if it is lost, put 64 random hex digits there`,
      )
    }
    makeKeyFile(accountKey)
  }
  const text = readFileSync(accountKey, 'utf8').trim()
  if (!/^[0-9a-f]{64}$/.test(text)) throw new SettingInvalidError(`${accountKey} must hold 64 hex digits`)
  const key = Uint8Array.fromHex(text)
  await deployment.setOnce(CLAIM, keyFingerprint(key))
  return key
}

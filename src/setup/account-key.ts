// The key that seals the secrets of one-time codes: from the environment, a file, or the deployment's first start, which
// makes it; the same on all its nodes. Without it those accounts need a recovery link; everything else goes on.
import { existsSync } from 'node:fs'
import type { Config } from '../config.ts'
import { keyFingerprint } from '../identity/evidence/organization-keys.ts'
import { SettingInvalidError } from '../settings.ts'
import type { Store } from '../store/store.ts'
import type { DataFolder } from './data-folder.ts'
import { makeKeyFile, readKey, readKeyFile } from './key-file.ts'

/** Name of the deployment's value that says that a key was made, and which. */
const CLAIM = 'account_key_fingerprint'

const WHAT = 'the account key'

/** @throws SettingInvalidError when it can't be read or is none, or is missing where another node has it */
const loadKey = async (
  accountKey: Config['accountKey'],
  path: string,
  deployment: Pick<Store['deployment'], 'read'>,
): Promise<Uint8Array> => {
  if (accountKey !== null) return readKey(accountKey, WHAT)
  if (!existsSync(path)) {
    // One of its own would open nothing that another node has sealed.
    if ((await deployment.read(CLAIM)) !== null) {
      throw new SettingInvalidError(
        `${WHAT} is missing: copy ${path} from another node; if it is lost, put 64 random hex digits there`,
      )
    }
    makeKeyFile(path)
  }
  return readKeyFile(path, WHAT)
}

/** 32 bytes. @throws SettingInvalidError */
export const prepareAccountKey = async (
  { accountKey }: Pick<Config, 'accountKey'>,
  folder: Pick<DataFolder, 'accountKey'>,
  deployment: Pick<Store['deployment'], 'read' | 'setOnce'>,
): Promise<Uint8Array> => {
  const key = await loadKey(accountKey, folder.accountKey, deployment)
  await deployment.setOnce(CLAIM, keyFingerprint(key))
  return key
}

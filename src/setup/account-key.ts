// The key that seals the secrets of one-time codes: from the environment, a file, or the deployment's first start, which
// makes it; the same on all its nodes. Without it those accounts need a recovery link; everything else goes on.
import { existsSync } from 'node:fs'
import type { Config } from '../config/config.ts'
import { SettingInvalidError } from '../config/settings.ts'
import { keyFingerprint } from '../identity/evidence/organization-keys.ts'
import type { Store } from '../store/store.ts'
import type { DataFolder } from './data-folder.ts'
import { makeKeyFile, readKey, readKeyFile, readKeysInUse } from './key-file.ts'

/** Name of the deployment's value that says that a key was made, and which. */
export const ACCOUNT_KEY_CLAIM = 'account_key_fingerprint'

export const ACCOUNT_KEY = 'the account key'

/** @throws SettingInvalidError when it can't be read or is none, or is missing where another node has it */
const loadKey = async (
  accountKey: Config['accountKey'],
  path: string,
  deployment: Pick<Store['deployment'], 'read'>,
): Promise<Uint8Array> => {
  if (accountKey !== null) return readKey(accountKey, ACCOUNT_KEY)
  if (!existsSync(path)) {
    // One of its own would open nothing that another node has sealed.
    if ((await deployment.read(ACCOUNT_KEY_CLAIM)) !== null) {
      throw new SettingInvalidError(
        `${ACCOUNT_KEY} is missing: copy ${path} from another node; if it is lost, put 64 random hex digits there`,
      )
    }
    makeKeyFile(path)
  }
  return readKeyFile(path, ACCOUNT_KEY)
}

/** Null where the key is in a variable. */
export const accountKeyPath = (
  { accountKey }: Pick<Config, 'accountKey'>,
  folder: Pick<DataFolder, 'accountKey'>,
): string | null => {
  if (accountKey === null) return folder.accountKey
  return accountKey.source === 'file' ? accountKey.path : null
}

/**
 * What secrets are sealed with now, the newest first: two during a rotation. Read anew each time, so that a running service
 * follows one: it happens once for a sign-in with a code.
 * @throws SettingInvalidError
 */
export const readAccountKeys = (
  config: Pick<Config, 'accountKey'>,
  folder: Pick<DataFolder, 'accountKey'>,
): readonly [Uint8Array, ...Uint8Array[]] => {
  const { accountKey } = config
  if (accountKey?.source === 'environment') return [readKey(accountKey, ACCOUNT_KEY)]
  return readKeysInUse(accountKey?.path ?? folder.accountKey, ACCOUNT_KEY)
}

/** 32 bytes. @throws SettingInvalidError */
export const prepareAccountKey = async (
  { accountKey }: Pick<Config, 'accountKey'>,
  folder: Pick<DataFolder, 'accountKey'>,
  deployment: Pick<Store['deployment'], 'read' | 'setOnce'>,
): Promise<Uint8Array> => {
  const key = await loadKey(accountKey, folder.accountKey, deployment)
  await deployment.setOnce(ACCOUNT_KEY_CLAIM, keyFingerprint(key))
  return key
}

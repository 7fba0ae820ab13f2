// The key that encrypts the secrets of one-time codes, the same on all nodes. It comes from the environment, a file, or
// the deployment's first start, which creates it. Without it, affected accounts need a recovery link.
import { existsSync } from 'node:fs'
import type { Config } from '../config/config.ts'
import { SettingInvalidError } from '../config/settings.ts'
import { keyFingerprint } from '../identity/evidence/organization-keys.ts'
import type { Store } from '../store/store.ts'
import type { DataFolder } from './data-folder.ts'
import { makeKeyFile, readKey, readKeyFile, readKeysInUse } from './key-file.ts'

/** Deployment value with the fingerprint of the key. Its presence shows that a key was created. */
export const ACCOUNT_KEY_CLAIM = 'account_key_fingerprint'

export const ACCOUNT_KEY = 'the account key'

/** @throws SettingInvalidError if the key is unreadable or malformed, or is missing although another node has it */
const loadKey = async (
  accountKey: Config['accountKey'],
  path: string,
  deployment: Pick<Store['deployment'], 'read'>,
): Promise<Uint8Array> => {
  if (accountKey !== null) return readKey(accountKey, ACCOUNT_KEY)
  if (!existsSync(path)) {
    // A new key could not decrypt secrets from other nodes.
    if ((await deployment.read(ACCOUNT_KEY_CLAIM)) !== null) {
      throw new SettingInvalidError(
        `${ACCOUNT_KEY} is missing: copy ${path} from another node; if the key is lost, create the file with 64 random hex digits`,
      )
    }
    makeKeyFile(path)
  }
  return readKeyFile(path, ACCOUNT_KEY)
}

/** Returns null if the key is in an environment variable. */
export const accountKeyPath = (
  { accountKey }: Pick<Config, 'accountKey'>,
  folder: Pick<DataFolder, 'accountKey'>,
): string | null => {
  if (accountKey === null) return folder.accountKey
  return accountKey.source === 'file' ? accountKey.path : null
}

/**
 * Returns the current keys, newest first: two during a rotation. The files are read at each call, once per sign-in with
 * a code, so that a running service follows a rotation.
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

/** @returns 32 bytes. @throws SettingInvalidError */
export const prepareAccountKey = async (
  { accountKey }: Pick<Config, 'accountKey'>,
  folder: Pick<DataFolder, 'accountKey'>,
  deployment: Pick<Store['deployment'], 'read' | 'setOnce'>,
): Promise<Uint8Array> => {
  const key = await loadKey(accountKey, folder.accountKey, deployment)
  await deployment.setOnce(ACCOUNT_KEY_CLAIM, keyFingerprint(key))
  return key
}

// The key for the secrets of one-time codes, the same on all nodes: from the environment, from a file, or generated at
// first startup.
import { existsSync } from 'node:fs'
import type { Config } from '../config/config.ts'
import { SettingInvalidError } from '../config/settings.ts'
import { keyFingerprint } from '../identity/evidence/organization-keys.ts'
import type { Store } from '../store/store.ts'
import type { DataFolder } from './data-folder.ts'
import { makeKeyFile, readKey, readKeyFile, readKeysInUse } from './key-file.ts'

/** Deployment value: fingerprint of the key, present once a key is in use. */
export const ACCOUNT_KEY_CLAIM = 'account_key_fingerprint'

export const ACCOUNT_KEY = 'the account key'

/** @throws SettingInvalidError if the key is unreadable or malformed, or only another node has it */
const loadKey = async (
  accountKey: Config['accountKey'],
  path: string,
  deployment: Pick<Store['deployment'], 'read'>,
): Promise<Uint8Array> => {
  if (accountKey !== null) return readKey(accountKey, ACCOUNT_KEY)
  if (!existsSync(path)) {
    // A new key could not decrypt the secrets of other nodes.
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
 * Returns the keys, newest first; two during a rotation. Read at each call, because they may rotate. @throws
 * SettingInvalidError
 */
export const readAccountKeys = (
  config: Pick<Config, 'accountKey'>,
  folder: Pick<DataFolder, 'accountKey'>,
): readonly [Uint8Array, ...Uint8Array[]] => {
  const { accountKey } = config
  if (accountKey?.source === 'environment') return [readKey(accountKey, ACCOUNT_KEY)]
  return readKeysInUse(accountKey?.path ?? folder.accountKey, ACCOUNT_KEY)
}

/** Returns the key of 32 bytes. @throws SettingInvalidError */
export const prepareAccountKey = async (
  { accountKey }: Pick<Config, 'accountKey'>,
  folder: Pick<DataFolder, 'accountKey'>,
  deployment: Pick<Store['deployment'], 'read' | 'setOnce'>,
): Promise<Uint8Array> => {
  const key = await loadKey(accountKey, folder.accountKey, deployment)
  await deployment.setOnce(ACCOUNT_KEY_CLAIM, keyFingerprint(key))
  return key
}

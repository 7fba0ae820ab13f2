// Rotates the key that encrypts the secrets of one-time codes, without a restart. Until the end, the next key is in
// FILE.next; the service decrypts with both keys and encrypts with the next key.
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { createSecretBox, SealBrokenError, type SecretBox } from '../admin/accounts/secret-box.ts'
import { totpContext } from '../admin/accounts/sign-in.ts'
import type { Config } from '../config/config.ts'
import { SettingInvalidError } from '../config/settings.ts'
import { keyFingerprint } from '../identity/evidence/organization-keys.ts'
import type { Store } from '../store/store.ts'
import { ACCOUNT_KEY, ACCOUNT_KEY_CLAIM, accountKeyPath } from './account-key.ts'
import type { DataFolder } from './data-folder.ts'
import { makeKeyFile, nextKeyPath, readKeyFile, syncFolder, takePlace } from './key-file.ts'

export interface AccountKeyRotation {
  readonly secrets: number
  /** Secrets that neither key decrypts; their accounts already needed a recovery link. */
  readonly unreadable: number
  readonly file: string
  /** False if the old file could not be replaced; the operator must then replace it. */
  readonly inPlace: boolean
  /** File with the secret of earlier backups; null if this command did not replace it. */
  readonly previous: string | null
}

/**
 * Continues after an interruption. Secrets that change during a pass are left to the next pass.
 * @throws SettingInvalidError if the key is in an environment variable, which a running service can't read again
 */
export const rotateAccountKey = async (input: {
  readonly config: Pick<Config, 'accountKey'>
  readonly folder: Pick<DataFolder, 'accountKey'>
  readonly store: Pick<Store, 'users' | 'deployment'>
}): Promise<AccountKeyRotation> => {
  const { config, folder, store } = input
  const path = accountKeyPath(config, folder)
  if (path === null) {
    const name = 'COUNTERSIGN_ACCOUNT_KEY'
    throw new SettingInvalidError(
      `${name} can't be changed while the service runs: put the key into a file, set ${name}_FILE and restart`,
    )
  }
  const next = nextKeyPath(path)
  const oldKey = readKeyFile(path, ACCOUNT_KEY)
  if (!existsSync(next)) {
    makeKeyFile(next)
    // The key must be on disk before the first secret is encrypted with it.
    syncFolder(dirname(next))
  }
  const newKey = readKeyFile(next, ACCOUNT_KEY)
  const [oldBox, newBox] = [createSecretBox(oldKey), createSecretBox(newKey)]
  const opens = (box: SecretBox, sealed: Uint8Array, userId: string): Uint8Array | null => {
    try {
      return box.open(sealed, totpContext(userId))
    } catch (error) {
      if (error instanceof SealBrokenError) return null
      throw error
    }
  }
  const pass = async (): Promise<{ readonly resealed: number; readonly unreadable: number }> => {
    let [resealed, unreadable] = [0, 0]
    for (const { userId, sealed } of await store.users.listTotpSecrets()) {
      if (opens(newBox, sealed, userId) !== null) continue
      const secret = opens(oldBox, sealed, userId)
      if (secret === null) unreadable += 1
      else {
        await store.users.exchangeTotpSecret(userId, sealed, newBox.seal(secret, totpContext(userId)))
        resealed += 1
      }
    }
    return { resealed, unreadable }
  }
  let secrets = 0
  let last = await pass()
  // Meanwhile, the service may have used the old key.
  for (; last.resealed > 0; last = await pass()) secrets += last.resealed
  const previous = takePlace(next, path)
  const inPlace = previous !== null
  last = await pass()
  await store.deployment.replace(ACCOUNT_KEY_CLAIM, keyFingerprint(newKey))
  return {
    secrets: secrets + last.resealed,
    unreadable: last.unreadable,
    file: inPlace ? path : next,
    inPlace,
    previous,
  }
}

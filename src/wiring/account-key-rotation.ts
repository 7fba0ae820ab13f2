// Another key for the secrets of one-time codes, while the service runs. The next one lies beside the one in use, in FILE.next,
// for as long as both are needed; the service opens by either meanwhile and seals with the next.
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { createSecretBox, SealBrokenError, type SecretBox } from '../admin/accounts/secret-box.ts'
import { totpContext } from '../admin/accounts/sign-in.ts'
import type { Config } from '../config/config.ts'
import { SettingInvalidError } from '../config/settings.ts'
import { keyFingerprint } from '../identity/evidence/organization-keys.ts'
import { ACCOUNT_KEY, ACCOUNT_KEY_CLAIM, accountKeyPath } from '../setup/account-key.ts'
import type { DataFolder } from '../setup/data-folder.ts'
import { makeKeyFile, nextKeyPath, readKeyFile, syncFolder, takePlace } from '../setup/key-file.ts'
import type { Store } from '../store/store.ts'

export interface AccountKeyRotation {
  /** Secrets of one-time codes that were sealed anew by this call. */
  readonly secrets: number
  /** Secrets that neither key opens: those accounts need a recovery link, as before. */
  readonly unreadable: number
  /** The file with the key that opens all others. */
  readonly file: string
  /** False where it could not be put in the old one's place: then that is the operator's to do. */
  readonly inPlace: boolean
}

/**
 * Seals all secrets of one-time codes with another key while the service runs. May be interrupted at any point: called again,
 * it goes on. A secret that changes meanwhile is left to its next turn.
 * @throws SettingInvalidError when the key is in a variable, which a running service does not read again.
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
    // On the disk before the first secret is sealed with it.
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
  // The service may have sealed one with the old key meanwhile.
  for (; last.resealed > 0; last = await pass()) secrets += last.resealed
  const inPlace = takePlace(next, path)
  last = await pass()
  await store.deployment.replace(ACCOUNT_KEY_CLAIM, keyFingerprint(newKey))
  return { secrets: secrets + last.resealed, unreadable: last.unreadable, file: inPlace ? path : next, inPlace }
}

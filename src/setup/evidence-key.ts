// The deployment's key for evidence and webhook secrets: from the environment, from a file, or generated at first
// startup. A wrong or missing key aborts startup. During a rotation, FILE.next has the next key: either key decrypts,
// and the next key wraps.
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Config } from '../config/config.ts'
import { SettingInvalidError } from '../config/settings.ts'
import {
  createOrganizationKeys,
  type DeploymentKeys,
  keyFingerprint,
  type OrganizationKeys,
} from '../identity/evidence/organization-keys.ts'
import { type KeyRotation, rotateDeploymentKey } from '../identity/evidence/rotate-key.ts'
import { EVIDENCE_KEY_CLAIM } from '../store/organizations/organization-keys.ts'
import type { Store } from '../store/store.ts'
import type { DataFolder } from './data-folder.ts'
import { makeKeyFile, nextKeyPath, readKey, readKeyFile, readKeysInUse, syncFolder, takePlace } from './key-file.ts'

const WHAT = 'the evidence key'

type KeyFolder = Pick<DataFolder, 'evidenceKey'>
type KeyStore = Pick<Store, 'organizationKeys' | 'deployment'>

/** @throws SettingInvalidError if a key is unreadable or malformed, or is missing although data needs it */
const keysOf = ({ evidenceKey }: Pick<Config, 'evidenceKey'>, folder: KeyFolder, inUse: boolean): DeploymentKeys => {
  if (evidenceKey?.source === 'environment') return () => [readKey(evidenceKey, WHAT)]
  const path = evidenceKey?.path ?? folder.evidenceKey
  if (evidenceKey === null && !existsSync(path)) {
    if (inUse) throw new SettingInvalidError(`${WHAT} is missing: restore it to ${path}`)
    makeKeyFile(path)
  }
  return () => readKeysInUse(path, WHAT)
}

/** Returns the keys, newest first; empty if there is no key. @throws SettingInvalidError */
export const findEvidenceKeys = (
  { evidenceKey }: Pick<Config, 'evidenceKey'>,
  folder: KeyFolder,
): readonly Uint8Array[] =>
  evidenceKey === null && !existsSync(folder.evidenceKey) ? [] : keysOf({ evidenceKey }, folder, true)()

/** Fingerprints of the keys of existing and new data; empty before first startup. */
const neededKeys = async (store: KeyStore): Promise<readonly string[]> => {
  const claimed = await store.deployment.read(EVIDENCE_KEY_CLAIM)
  return [...(await store.organizationKeys.wrappers()), ...(claimed === null ? [] : [claimed])]
}

/** @throws SettingInvalidError if a key is malformed, missing, or not the key of the stored data */
export const prepareOrganizationKeys = async (
  config: Pick<Config, 'evidenceKey'>,
  folder: KeyFolder,
  store: KeyStore,
): Promise<OrganizationKeys> => {
  const needed = await neededKeys(store)
  const deploymentKeys = keysOf(config, folder, needed.length > 0)
  const [newest, ...others] = deploymentKeys().map(keyFingerprint) as [string, ...string[]]
  const requireAll = (fingerprints: readonly string[]): void => {
    if (fingerprints.every((fingerprint) => fingerprint === newest || others.includes(fingerprint))) return
    throw new SettingInvalidError(
      'the evidence key does not match this deployment’s key: all nodes need the same key, and during a rotation also the next key',
    )
  }
  requireAll(needed)
  // Claimed before anything is encrypted: if several nodes start at once, the first sets the key and the others fail.
  if (!(await store.deployment.setOnce(EVIDENCE_KEY_CLAIM, newest))) requireAll(await neededKeys(store))
  return createOrganizationKeys({ store: store.organizationKeys, deploymentKeys })
}

export interface EvidenceKeyRotation extends KeyRotation {
  /** File with the key that decrypts all data. */
  readonly file: string
  /** False if the old file could not be replaced; the operator must then replace it. */
  readonly inPlace: boolean
  /** File with the secret of earlier backups; null if this command did not replace it. */
  readonly previous: string | null
}

/**
 * Rewraps all organization keys while the service runs. Continues after an interruption.
 * @throws SettingInvalidError if the key is in an environment variable, which a running service can't read again, or
 * neither key decrypts an organization's key
 */
export const rotateEvidenceKey = async (input: {
  readonly config: Pick<Config, 'evidenceKey'>
  readonly folder: KeyFolder
  readonly store: KeyStore
  readonly wait: (milliseconds: number) => Promise<void>
}): Promise<EvidenceKeyRotation> => {
  const { config, folder, store, wait } = input
  const { evidenceKey } = config
  if (evidenceKey?.source === 'environment') {
    const { name } = evidenceKey
    throw new SettingInvalidError(
      `${name} can't be changed while the service runs: put the key into a file, set ${name}_FILE and restart`,
    )
  }
  // Fails like startup if this isn't the deployment's key.
  await prepareOrganizationKeys(config, folder, store)
  const path = evidenceKey?.path ?? folder.evidenceKey
  const next = nextKeyPath(path)
  if (!existsSync(next)) {
    makeKeyFile(next)
    // The key must be on disk before it wraps the first organization key.
    syncFolder(dirname(next))
  }
  const [oldKey, newKey] = [readKeyFile(path, WHAT), readKeyFile(next, WHAT)]
  if (keyFingerprint(oldKey) === keyFingerprint(newKey)) {
    throw new SettingInvalidError(`${next} contains the current key: replace its content with a new key`)
  }
  // From here on, no new organization's key is wrapped with the old key.
  await store.deployment.replace(EVIDENCE_KEY_CLAIM, keyFingerprint(newKey))
  const rotated = await rotateDeploymentKey({ store: store.organizationKeys, oldKey, newKey, wait })
  // Another rotation may have finished first, and a third started, whose next key must not replace this one.
  const [current, following] = [readKeyFile(path, WHAT), existsSync(next) ? readKeyFile(next, WHAT) : null]
  if (keyFingerprint(current) === keyFingerprint(newKey))
    return { ...rotated, file: path, inPlace: true, previous: null }
  if (following === null || keyFingerprint(following) !== keyFingerprint(newKey)) {
    throw new SettingInvalidError(`${next} no longer contains the new wrapping key: restore that key`)
  }
  const previous = takePlace(next, path)
  const inPlace = previous !== null
  return { ...rotated, file: inPlace ? path : next, inPlace, previous }
}

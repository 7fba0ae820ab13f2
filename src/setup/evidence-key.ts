// Where the deployment's key for evidence and webhook secrets comes from: the environment, a file, or the first start,
// which makes it. What is encrypted can't be read with another one, so a wrong or lost key stops the start. During a rotation
// the next key lies beside it, in FILE.next: a running service opens by either and wraps by the next.
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

/** @throws SettingInvalidError when a key can't be read, is none, or is missing where something is encrypted */
const keysOf = ({ evidenceKey }: Pick<Config, 'evidenceKey'>, folder: KeyFolder, inUse: boolean): DeploymentKeys => {
  if (evidenceKey?.source === 'environment') return () => [readKey(evidenceKey, WHAT)]
  const path = evidenceKey?.path ?? folder.evidenceKey
  if (evidenceKey === null && !existsSync(path)) {
    if (inUse) throw new SettingInvalidError(`${WHAT} is gone: put it back at ${path}`)
    makeKeyFile(path)
  }
  return () => readKeysInUse(path, WHAT)
}

/** The keys in use, the newest first; none if neither a setting nor the folder has one. @throws SettingInvalidError */
export const findEvidenceKeys = (
  { evidenceKey }: Pick<Config, 'evidenceKey'>,
  folder: KeyFolder,
): readonly Uint8Array[] =>
  evidenceKey === null && !existsSync(folder.evidenceKey) ? [] : keysOf({ evidenceKey }, folder, true)()

/** Of the keys that what is stored was encrypted with, and of the one for what comes; none before the first start. */
const neededKeys = async (store: KeyStore): Promise<readonly string[]> => {
  const claimed = await store.deployment.read(EVIDENCE_KEY_CLAIM)
  return [...(await store.organizationKeys.wrappers()), ...(claimed === null ? [] : [claimed])]
}

/** @throws SettingInvalidError when the key is malformed, missing, or not the one that what is stored was encrypted with. */
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
      'the evidence key is not the one that this deployment encrypts its evidence with: all nodes need the same, and ' +
        'while it is rotated the next one beside it',
    )
  }
  requireAll(needed)
  // Claimed before anything is encrypted: of nodes that start together, one has the key and the others are told.
  if (!(await store.deployment.setOnce(EVIDENCE_KEY_CLAIM, newest))) requireAll(await neededKeys(store))
  return createOrganizationKeys({ store: store.organizationKeys, deploymentKeys })
}

export interface EvidenceKeyRotation extends KeyRotation {
  /** The file with the key that opens everything. */
  readonly file: string
  /** False where it could not be put in the old one's place: then that is the operator's to do. */
  readonly inPlace: boolean
}

/**
 * Wraps everything by another key while the service runs. The next key is made where it is missing. May be interrupted at any
 * point: called again, it goes on.
 * @throws SettingInvalidError when the key is in a variable, which a running service does not read again, or when neither key
 * is the one that something was encrypted with
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
  // Opens nothing yet; refuses as a start does where this is not the deployment's key.
  await prepareOrganizationKeys(config, folder, store)
  const path = evidenceKey?.path ?? folder.evidenceKey
  const next = nextKeyPath(path)
  if (!existsSync(next)) {
    makeKeyFile(next)
    // On the disk before the first thing is wrapped by it.
    syncFolder(dirname(next))
  }
  const [oldKey, newKey] = [readKeyFile(path, WHAT), readKeyFile(next, WHAT)]
  if (keyFingerprint(oldKey) === keyFingerprint(newKey)) {
    throw new SettingInvalidError(`${next} holds the key that is in use`)
  }
  // From here on no new organization's key is wrapped by the old one.
  await store.deployment.replace(EVIDENCE_KEY_CLAIM, keyFingerprint(newKey))
  const rotated = await rotateDeploymentKey({ store: store.organizationKeys, oldKey, newKey, wait })
  // Another run may have ended first, and yet another begun: its next key must not take the place of this one's.
  const [current, following] = [readKeyFile(path, WHAT), existsSync(next) ? readKeyFile(next, WHAT) : null]
  if (keyFingerprint(current) === keyFingerprint(newKey)) return { ...rotated, file: path, inPlace: true }
  if (following === null || keyFingerprint(following) !== keyFingerprint(newKey)) {
    throw new SettingInvalidError(
      `${next} is not the key any more that everything is wrapped by now: put that one back`,
    )
  }
  const inPlace = takePlace(next, path)
  return { ...rotated, file: inPlace ? path : next, inPlace }
}

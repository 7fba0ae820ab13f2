// Where the deployment's key for evidence and webhook secrets comes from: the environment, a file, or the first start,
// which makes it. What is encrypted can't be read with another one, so a wrong or lost key stops the start.
import { existsSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Config } from '../config/config.ts'
import { SettingInvalidError } from '../config/settings.ts'
import {
  createOrganizationKeys,
  keyFingerprint,
  type OrganizationKeys,
} from '../identity/evidence/organization-keys.ts'
import { type KeyRotation, rotateDeploymentKey } from '../identity/evidence/rotate-key.ts'
import type { Store } from '../store/store.ts'
import type { DataFolder } from './data-folder.ts'
import { makeKeyFile, readKey, readKeyFile, syncFolder } from './key-file.ts'

const WHAT = 'the evidence key'

/** Of a rotation that is under way, until it takes the place of the one in use. */
const nextKeyPath = (folder: DataFolder): string => `${folder.evidenceKey}.next`

const loadKey = (config: Pick<Config, 'evidenceKey'>, folder: DataFolder, inUse: boolean): Uint8Array => {
  const { evidenceKey } = config
  if (evidenceKey !== null) return readKey(evidenceKey, WHAT)
  const path = folder.evidenceKey
  if (!existsSync(path)) {
    if (inUse) throw new SettingInvalidError(`${WHAT} is gone: put it back at ${path}`)
    makeKeyFile(path)
  }
  return readKeyFile(path, WHAT)
}

/** Name of the deployment's value that says which key it has while nothing is encrypted yet. */
const CLAIM = 'evidence_key_fingerprint'

/** Of the keys that what is stored was encrypted with, or else that a node has claimed; none before the first start. */
const knownFingerprints = async (store: Pick<Store, 'organizationKeys' | 'deployment'>): Promise<string[]> => {
  const wrappers = await store.organizationKeys.wrappers()
  if (wrappers.length > 0) return [...wrappers]
  const claimed = await store.deployment.read(CLAIM)
  return claimed === null ? [] : [claimed]
}

/** @throws SettingInvalidError when the key is malformed, missing, or not the one that what is stored was encrypted with. */
export const prepareOrganizationKeys = async (
  config: Pick<Config, 'evidenceKey'>,
  folder: DataFolder,
  store: Pick<Store, 'organizationKeys' | 'deployment'>,
): Promise<OrganizationKeys> => {
  const known = await knownFingerprints(store)
  const deploymentKey = loadKey(config, folder, known.length > 0)
  const fingerprint = keyFingerprint(deploymentKey)
  // Claimed before anything is encrypted: of nodes that start together, one has the key and the others are told.
  if (known.length === 0 && !(await store.deployment.setOnce(CLAIM, fingerprint))) {
    known.push(...(await knownFingerprints(store)))
  }
  if (known.some((wrapper) => wrapper !== fingerprint)) {
    if (existsSync(nextKeyPath(folder))) {
      throw new SettingInvalidError('the evidence key was being rotated: run `countersign evidence rotate-key` again')
    }
    throw new SettingInvalidError(
      'the evidence key is not the one that this deployment encrypts its evidence with: all nodes need the same',
    )
  }
  return createOrganizationKeys({ store: store.organizationKeys, deploymentKey })
}

export interface EvidenceKeyRotation extends KeyRotation {
  /** Where the key is that opens everything from now on. */
  readonly keyFile: string
  /** The setting still names the old key: it has to name the new file before the next start. */
  readonly settingToChange: string | null
}

/**
 * Wraps everything by another key, which is made where it does not exist. Nothing else may use the store meanwhile. May be
 * interrupted at any point: called again, it goes on.
 * @param newKeyFile null: beside the key in the data folder, in whose place it is put at the end.
 * @throws SettingInvalidError
 */
export const rotateEvidenceKey = async (input: {
  readonly config: Pick<Config, 'evidenceKey'>
  readonly folder: DataFolder
  readonly store: Pick<Store, 'organizationKeys' | 'deployment'>
  readonly newKeyFile: string | null
  readonly progress?: (done: KeyRotation) => void
}): Promise<EvidenceKeyRotation> => {
  const { config, folder, store, progress } = input
  const { evidenceKey } = config
  if (evidenceKey !== null && input.newKeyFile === null) {
    throw new SettingInvalidError('say with --to where the new key is, or shall be made')
  }
  if (evidenceKey === null && input.newKeyFile !== null) {
    throw new SettingInvalidError('the key is in the data folder and stays there: leave out --to')
  }
  const wrappers = await store.organizationKeys.wrappers()
  const oldKey = loadKey(config, folder, wrappers.length > 0)
  const path = input.newKeyFile ?? nextKeyPath(folder)
  if (!existsSync(path)) {
    makeKeyFile(path)
    // On the disk before the first thing is wrapped by it.
    syncFolder(dirname(path))
  }
  const newKey = readKeyFile(path, WHAT)
  const known = [oldKey, newKey].map(keyFingerprint)
  if (known[0] === known[1]) throw new SettingInvalidError(`${path} holds the key that is in use`)
  if (wrappers.some((wrapper) => !known.includes(wrapper))) {
    throw new SettingInvalidError('neither the evidence key nor the new one is what this deployment encrypted with')
  }
  const rotated = await rotateDeploymentKey({
    store: store.organizationKeys,
    oldKey,
    newKey,
    ...(progress === undefined ? {} : { progress }),
  })
  await store.deployment.replace(CLAIM, keyFingerprint(newKey))
  if (evidenceKey !== null) {
    const settingToChange = evidenceKey.source === 'environment' ? evidenceKey.name : 'COUNTERSIGN_EVIDENCE_KEY_FILE'
    return { ...rotated, keyFile: path, settingToChange }
  }
  renameSync(path, folder.evidenceKey)
  syncFolder(dirname(folder.evidenceKey))
  return { ...rotated, keyFile: folder.evidenceKey, settingToChange: null }
}

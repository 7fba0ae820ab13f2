// Where the deployment's key for evidence and webhook secrets comes from: the environment, a file, or the first start,
// which makes it. What is encrypted can't be read with another one, so a wrong or lost key stops the start.
import { randomBytes, randomUUID } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import type { Config } from './config.ts'
import type { DataFolder } from './data-folder.ts'
import { createOrganizationKeys, keyFingerprint, type OrganizationKeys } from './identity/evidence/organization-keys.ts'
import { SettingInvalidError } from './settings.ts'
import type { Store } from './store/store.ts'

/** 32 bytes as hex; one line break at the end is not part of it. */
const parseKey = (text: string, where: string): Uint8Array => {
  const digits = text.replace(/\r?\n$/, '')
  if (!/^[0-9a-fA-F]{64}$/.test(digits)) throw new SettingInvalidError(`${where} must hold 64 hex digits`)
  return Uint8Array.fromHex(digits)
}

const readKeyFile = (path: string): Uint8Array => {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    throw new SettingInvalidError(`the evidence key can't be read: ${path}`)
  }
  return parseKey(text, path)
}

/** There whole or not at all; of two that start together one makes it, and both read it. */
const makeKeyFile = (path: string): void => {
  const temporary = `${path}.${randomUUID()}.tmp`
  const descriptor = openSync(temporary, 'wx', 0o600)
  try {
    writeSync(descriptor, `${randomBytes(32).toString('hex')}\n`)
    fsyncSync(descriptor)
    linkSync(temporary, path)
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code !== 'EEXIST') throw error
  } finally {
    closeSync(descriptor)
    rmSync(temporary, { force: true })
  }
}

const loadKey = (config: Pick<Config, 'evidenceKey'>, folder: DataFolder, inUse: boolean): Uint8Array => {
  const { evidenceKey } = config
  if (evidenceKey?.source === 'environment') return parseKey(process.env[evidenceKey.name] ?? '', evidenceKey.name)
  const path = evidenceKey?.path ?? folder.evidenceKey
  if (evidenceKey === null && !existsSync(path)) {
    if (inUse) throw new SettingInvalidError(`the evidence key is gone: put it back at ${path}`)
    makeKeyFile(path)
  }
  return readKeyFile(path)
}

/** @throws SettingInvalidError when the key is malformed, missing, or not the one that what is stored was encrypted with. */
export const prepareOrganizationKeys = async (
  config: Pick<Config, 'evidenceKey'>,
  folder: DataFolder,
  store: Pick<Store, 'organizationKeys'>,
): Promise<OrganizationKeys> => {
  const wrappers = await store.organizationKeys.wrappers()
  const deploymentKey = loadKey(config, folder, wrappers.length > 0)
  const fingerprint = keyFingerprint(deploymentKey)
  if (wrappers.some((wrapper) => wrapper !== fingerprint)) {
    throw new SettingInvalidError('the evidence key is not the one that this deployment encrypted its evidence with')
  }
  return createOrganizationKeys({ store: store.organizationKeys, deploymentKey })
}

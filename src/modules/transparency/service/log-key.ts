// The key that signs heads: a keystore next to the attester keystores, with the same passphrase.
import { rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import bs58 from 'bs58'
import type { DataFolder } from '../../../setup/data-folder.ts'
import { createAttesterKeystore } from '../../../signing/attester-files.ts'
import type { Store } from '../../../store/store.ts'
import { encodeVerifierKey, parseVerifierKey, type VerifierKey, verifierKeyOf } from '../tree/note.ts'

/** Deployment value: verifier key, and file name of the keystore. */
const LOG_KEY = 'decision_log_key'
/** Secret from which the salts of leaves are derived. */
const SALT_KEY = 'decision_log_salt_key'

export interface LogKey {
  readonly key: VerifierKey
  readonly keystorePath: string
  /** 32 bytes. Required to verify the leaf of a line. */
  readonly saltKey: Uint8Array
}

const readValue = (value: string, folder: Pick<DataFolder, 'keystores'>): Omit<LogKey, 'saltKey'> => {
  const { key, keystore } = JSON.parse(value) as { key: string; keystore: string }
  return { key: parseVerifierKey(key), keystorePath: join(folder.keystores, keystore) }
}

export const readLogKey = async (
  deployment: Pick<Store['deployment'], 'read' | 'setOnce' | 'ensureSecret'>,
  folder: Pick<DataFolder, 'keystores'>,
): Promise<LogKey | null> => {
  const value = await deployment.read(LOG_KEY)
  return value === null ? null : { ...readValue(value, folder), saltKey: await deployment.ensureSecret(SALT_KEY) }
}

/** A name identifies one tree and one key. */
const logNameOf = (deploymentId: string): string => `countersign/${deploymentId}`

interface LogKeyInput {
  readonly store: Pick<Store, 'deployment' | 'deploymentId'>
  readonly folder: Pick<DataFolder, 'keystores'>
  readonly passphrase: string
  readonly workFactor: 'standard' | 'light'
}

/** Returns the new keystore, and the deployment value that names it. */
const makeValue = async (input: LogKeyInput, name: string): Promise<{ value: string; path: string }> => {
  const { folder, passphrase, workFactor } = input
  const made = await createAttesterKeystore({ kind: 'ed25519', directory: folder.keystores, passphrase, workFactor })
  const key = verifierKeyOf(name, 'ed25519', bs58.decode(made.address))
  return { value: JSON.stringify({ key: encodeVerifierKey(key), keystore: basename(made.path) }), path: made.path }
}

const requireLogKey = async ({ store, folder }: LogKeyInput): Promise<LogKey> => {
  const kept = await readLogKey(store.deployment, folder)
  if (kept === null) throw new Error('the log key is missing from the store')
  return kept
}

/** If several nodes start at the same time, all use the key of the first node. */
export const prepareLogKey = async (input: LogKeyInput): Promise<LogKey> => {
  const { deployment, deploymentId } = input.store
  if ((await readLogKey(deployment, input.folder)) === null) {
    const { value, path } = await makeValue(input, logNameOf(deploymentId))
    if (!(await deployment.setOnce(LOG_KEY, value))) rmSync(path)
  }
  return requireLogKey(input)
}

/** Creates the key of a new tree; the second name ends in `/2`. No other process may run. */
export const renewLogKey = async (
  input: Omit<LogKeyInput, 'store'> & { readonly store: Pick<Store, 'deployment' | 'deploymentId'> },
): Promise<{ readonly before: string; readonly key: VerifierKey }> => {
  const before = (await prepareLogKey(input)).key.name
  const [, number = '1'] = /\/([0-9]+)$/.exec(before) ?? []
  const { value } = await makeValue(input, `${logNameOf(input.store.deploymentId)}/${Number(number) + 1}`)
  await input.store.deployment.replace(LOG_KEY, value)
  return { before, key: (await requireLogKey(input)).key }
}

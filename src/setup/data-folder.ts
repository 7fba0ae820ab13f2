// Paths inside the data folder, shared by the server and the commands.
import { accessSync, chmodSync, constants, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { SettingInvalidError } from '../config/settings.ts'
import { fileProblem } from '../lib/file-problem.ts'

export interface DataFolder {
  readonly root: string
  readonly database: string
  readonly keystores: string
  /** Created by the first start if no passphrase is configured. */
  readonly passphrase: string
  /** Created by the first start if no key is configured. */
  readonly evidenceKey: string
  /** Folder of the encrypted documents. */
  readonly evidence: string
  readonly decisions: string
  /** Search index of the decision log. It can be deleted and is then rebuilt. */
  readonly decisionIndex: string
  /** Merkle tree of the decision log, unless it is in PostgreSQL. It cannot be rebuilt. */
  readonly decisionTree: string
  /** Latest signed head of that tree, as a checkpoint that other tools can read. */
  readonly decisionTreeHead: string
  /** Latest signed head of the audit log. */
  readonly auditHead: string
  /** Key that encrypts the secrets of one-time codes. Created by the first start. */
  readonly accountKey: string
  /** Path prefix of the files that record login attempts at the hardware token. */
  readonly tokenLogin: string
  /** Lock file of the service that uses this folder. */
  readonly lock: string
  readonly quickstart: string
  /** Location of the store if it isn't `database`. See store-place.ts. */
  readonly storePlace: string
  /** Names of the modules that the last start left out. See left-out-modules.ts. */
  readonly leftOutModules: string
}

export const dataFolderAt = (root: string): DataFolder => ({
  root,
  database: join(root, 'countersign.db'),
  keystores: join(root, 'keystores'),
  passphrase: join(root, 'secrets', 'passphrase'),
  evidenceKey: join(root, 'secrets', 'evidence-key'),
  evidence: join(root, 'evidence'),
  decisions: join(root, 'decisions'),
  decisionIndex: join(root, 'decision-index.db'),
  decisionTree: join(root, 'decision-tree.db'),
  decisionTreeHead: join(root, 'decision-tree.checkpoint'),
  auditHead: join(root, 'audit.checkpoint'),
  accountKey: join(root, 'secrets', 'account-key'),
  tokenLogin: join(root, 'token-login'),
  lock: join(root, 'service.lock'),
  quickstart: join(root, 'quickstart.env'),
  storePlace: join(root, 'store-place'),
  leftOutModules: join(root, 'left-out-modules'),
})

const unusable = (folder: DataFolder, error: unknown): unknown => {
  const { code, path = folder.root } = (error ?? {}) as { code?: unknown; path?: string }
  if (typeof code !== 'string') return error
  const where = path === folder.root ? '' : ` (${path})`
  return new SettingInvalidError(
    `the data folder ${folder.root} cannot be used: ${fileProblem(error) ?? code}${where}; fix this, or set another --data-dir`,
  )
}

/**
 * Creates the folders with access for their owner only. @throws SettingInvalidError if they cannot be created or
 * written
 */
export const makeDataFolder = (folder: DataFolder): void => {
  const own = [folder.keystores, folder.evidence, folder.decisions, join(folder.root, 'secrets')]
  try {
    for (const path of [folder.root, ...own]) mkdirSync(path, { recursive: true, mode: 0o700 })
    // Changes only folders that this service created: the root may be a mount point or have a mode that its owner
    // chose.
    for (const path of own) chmodSync(path, 0o700)
    accessSync(folder.root, constants.W_OK | constants.X_OK)
  } catch (error) {
    throw unusable(folder, error)
  }
}

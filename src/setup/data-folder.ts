import { accessSync, chmodSync, constants, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { SettingInvalidError } from '../config/settings.ts'
import { fileProblem } from '../lib/file-problem.ts'

export interface DataFolder {
  readonly root: string
  readonly database: string
  readonly keystores: string
  /** Created at first startup unless a passphrase is configured. */
  readonly passphrase: string
  /** Created at first startup unless a key is configured. */
  readonly evidenceKey: string
  readonly evidence: string
  readonly decisions: string
  /** Search index of the decision log; rebuilt if deleted. */
  readonly decisionIndex: string
  /** Merkle tree of the decision log, unless it is in PostgreSQL. Can't be rebuilt. */
  readonly decisionTree: string
  /** Latest signed head of the tree, as a checkpoint for other tools. */
  readonly decisionTreeHead: string
  readonly auditHead: string
  /** Key for the secrets of one-time codes, created at first startup. */
  readonly accountKey: string
  /** Path prefix of files that record login attempts on the hardware token. */
  readonly tokenLogin: string
  readonly lock: string
  readonly quickstart: string
  /** Location of the store, if not `database` (store-location.ts). */
  readonly storePlace: string
  /** File with the names of left-out modules (left-out-modules.ts). */
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
 * Creates the folders, which only the owner can access. @throws SettingInvalidError if they can't be created or written
 */
export const makeDataFolder = (folder: DataFolder): void => {
  const own = [folder.keystores, folder.evidence, folder.decisions, join(folder.root, 'secrets')]
  try {
    for (const path of [folder.root, ...own]) mkdirSync(path, { recursive: true, mode: 0o700 })
    // Changes only the service's own folders: the root may be a mount point, or have a mode that its owner chose.
    for (const path of own) chmodSync(path, 0o700)
    accessSync(folder.root, constants.W_OK | constants.X_OK)
  } catch (error) {
    throw unusable(folder, error)
  }
}

// Where everything lives inside the data folder. One place, so that the server and the commands agree.
import { accessSync, chmodSync, constants, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { SettingInvalidError } from '../config/settings.ts'
import { fileProblem } from '../store/sqlite/file-problem.ts'

export interface DataFolder {
  readonly root: string
  readonly database: string
  readonly keystores: string
  /** Made by the first start when no passphrase is configured. */
  readonly passphrase: string
  /** Made by the first start when none is configured. */
  readonly evidenceKey: string
  /** Encrypted documents. */
  readonly evidence: string
  readonly decisions: string
  /** The search index of the decision log: can be deleted and is built again. */
  readonly decisionIndex: string
  /** The Merkle tree over the decision log, where it is not in PostgreSQL. It can't be made again. */
  readonly decisionTree: string
  /** The newest signed head of that tree, a checkpoint that other tools read. */
  readonly decisionTreeHead: string
  /** The newest signed head of the audit log. */
  readonly auditHead: string
  /** Seals the secrets of one-time codes. Made by the first start. */
  readonly accountKey: string
  /** With an ending each: what is remembered of logins to the hardware token. */
  readonly tokenLogin: string
  /** Held by the service that runs on this folder. */
  readonly lock: string
  readonly quickstart: string
  /** Where the store is, when it is not `database`; see store-place.ts. */
  readonly storePlace: string
  /** Names of the modules that the service was started without; see left-out-modules.ts. */
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
    `the data folder ${folder.root} can't be used: ${fileProblem(error) ?? code}${where}; change that, or set another --data-dir`,
  )
}

/** Makes the folders for their owner only. @throws SettingInvalidError when they can't be made, or not be written. */
export const makeDataFolder = (folder: DataFolder): void => {
  const own = [folder.keystores, folder.evidence, folder.decisions, join(folder.root, 'secrets')]
  try {
    for (const path of [folder.root, ...own]) mkdirSync(path, { recursive: true, mode: 0o700 })
    // Only what this service made: the root may be a mount point or a folder with a mode of its owner's choice.
    for (const path of own) chmodSync(path, 0o700)
    accessSync(folder.root, constants.W_OK | constants.X_OK)
  } catch (error) {
    throw unusable(folder, error)
  }
}
